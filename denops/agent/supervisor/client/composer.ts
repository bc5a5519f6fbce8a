/** Composes prompts from the user's text and Neovim's attachments. */
import type { ContentBlock } from "../../deps/acp_sdk.ts";
import type { Attachment } from "../../protocol/attachments.ts";
import { type ToolSet, toolSetIn } from "../../protocol/modes.ts";
import type { Shown } from "../../protocol/surroundings.ts";
import { messageOf } from "../../shared/errors.ts";
import { hashWords, mentionsSession } from "../../shared/text/message_words.ts";
import { filledIn, promptCall } from "../../shared/user_files/prompt_file.ts";
import { fileProblems } from "../project/file_problems.ts";
import { attachmentBlocks, promptBlock, skillBlock } from "../project/attachments.ts";
import { type PromptFiles, promptFiles } from "../project/prompt_files.ts";
import { search } from "../project/search.ts";
import { fileNames, shownIn } from "../project/surroundings.ts";
import { visible } from "../screen/visible.ts";
import type { ProjectSkills, Skill } from "../skills/skills.ts";
import type { ProjectPermissions } from "./permissions.ts";

/** Limit for reading the staged changes. */
const STAGED_MS = 10_000;

interface ComposedMessage {
  readonly blocks: readonly ContentBlock[];
  /** The set of tools that the user limits the turn to. */
  readonly toolSet: ToolSet | undefined;
  /** It attaches an earlier session, which the engine chooses. */
  readonly hasSession: boolean;
}

interface FilledPrompt {
  readonly name: string;
  readonly text: string;
}

interface ComposerPorts {
  readonly skills: ProjectSkills;
  /** Shows a line in a chat. */
  tell(chat: number, text: string): void;
  /** Whether the user approves a project's skill; undefined if the turn was stopped. */
  confirm(chat: number, skill: Skill): Promise<boolean | undefined>;
}

/** All methods throw if the rules cannot be read. */
export class Composer {
  readonly #permissions: ProjectPermissions;
  readonly #ports: ComposerPorts;
  /** Lines that a chat has already shown. */
  readonly #reported = new Set<string>();

  constructor(permissions: ProjectPermissions, ports: ComposerPorts) {
    this.#permissions = permissions;
    this.#ports = ports;
  }

  /** The prompt of a message: its text, its template or skill, and its attachments. @throws {Error} one line */
  async message(
    chat: number,
    text: string,
    attachments: readonly Attachment[],
  ): Promise<ComposedMessage> {
    const template = await this.#template(chat, text);
    const skill = template === undefined ? await this.#skill(chat, text) : undefined;
    const blocks = [
      { type: "text" as const, text },
      ...skill === undefined ? [] : [skillBlock(skill.name, skill.text)],
      ...template === undefined ? [] : [promptBlock(template.name, template.text)],
      ...attachments.length === 0 ? [] : attachmentBlocks(attachments, this.#permissions.search(chat)),
    ];
    const all = `${text}\n\n${template?.text ?? ""}`;
    return { blocks, toolSet: toolSetIn(hashWords(all)), hasSession: mentionsSession(all) };
  }

  /** The text of a side question. @param staged adds the staged changes @throws {Error} one line */
  async question(chat: number, text: string, staged: boolean): Promise<string> {
    const template = await this.#template(chat, text);
    const parts = [template?.text ?? text, ...staged ? [await this.#staged(chat)] : []];
    return parts.join("\n\n");
  }

  /** The part of the editor's windows that the engine can know. */
  editorView(chat: number, view: Shown): Shown {
    return shownIn(view, this.#permissions.search(chat));
  }

  /** Prompt templates, read again from their files. */
  async prompts(chat: number): Promise<PromptFiles> {
    return await promptFiles(this.#permissions.described(chat));
  }

  /** Unusable files of prompts and rules, each reported once. */
  async problems(chat: number): Promise<readonly string[]> {
    const problems = await fileProblems(this.#permissions.described(chat));
    return problems.filter((problem) => this.#isFirst(problem));
  }

  /** The project's files that agents may read without approval. */
  async fileNames(chat: number): Promise<readonly string[]> {
    return await fileNames(this.#permissions.search(chat));
  }

  /** The template that a message calls, with its arguments; undefined if it calls none. */
  async #template(chat: number, message: string): Promise<FilledPrompt | undefined> {
    const call = promptCall(message);
    if (call === undefined) return undefined;
    const { prompts, replaced } = await this.prompts(chat);
    const template = prompts.get(call.name);
    const file = replaced.get(call.name);
    const line = `The project's ${visible(file ?? "")} replaces /${call.name}.`;
    if (file !== undefined && this.#isFirst(`${chat} ${line}`)) this.#ports.tell(chat, line);
    return template && { name: call.name, text: filledIn(template, call.args) };
  }

  /** The skill that a message calls; undefined if it calls none. @throws {Error} one line, if it may not be used */
  async #skill(chat: number, message: string): Promise<FilledPrompt | undefined> {
    const { skills, confirm } = this.#ports;
    const { name } = promptCall(message) ?? {};
    if (name === undefined || !(await skills.list()).skills.some(({ file }) => file.name === name)) {
      return undefined;
    }
    try {
      return { name, text: await skills.text(name, (skill) => confirm(chat, skill), true) };
    } catch (error) {
      throw new Error(`Cannot send /${name}: ${messageOf(error)}. See :Agent skills.`);
    }
  }

  /** Staged changes and the latest commit titles. @throws {Error} one line */
  async #staged(chat: number): Promise<string> {
    const place = this.#permissions.search(chat);
    const request = { op: "changes", path: this.#permissions.root, staged: true } as const;
    const found = await search(request, place, AbortSignal.timeout(STAGED_MS));
    if (found.op === "changes" && found.text !== "") return found.text;
    throw new Error("Nothing is staged: choose changes with git add.");
  }

  #isFirst(line: string): boolean {
    const isFirst = !this.#reported.has(line);
    this.#reported.add(line);
    return isFirst;
  }
}
