/**
 * The client's side of ACP for a project's engine: what its updates and requests are answered with.
 * It is there before the engine is.
 */
import type { ContentBlock, SessionNotification } from "../deps/acp_sdk.ts";
import { dirname } from "node:path";
import type { FileRules, UserConfig } from "../protocol/config.ts";
import { ours, UsageMeta } from "../protocol/extensions.ts";
import type { Given } from "../protocol/given.ts";
import type { ModeAccess } from "../protocol/modes.ts";
import { SCREEN_REQUESTS, type ScreenResult } from "../protocol/screen_requests.ts";
import type { Shown } from "../protocol/surroundings.ts";
import { trace } from "../protocol/trace.ts";
import type { Update } from "../protocol/ui.ts";
import type { Merge } from "../protocol/worktrees.ts";
import { filledIn, promptCall } from "../shared/user_files/prompt_file.ts";
import { fileRules, hiddenFiles } from "../policy/rules.ts";
import { defined } from "../shared/records.ts";
import { screenUpdates, shownFiles, toolUpdate } from "./screen/updates.ts";
import { type WorktreeOptions, Worktrees } from "./branches/worktrees.ts";
import { ApprovalLog } from "./gate/approval_log.ts";
import type { EditorQuestions } from "./screen/editor_questions.ts";
import type { EngineEvents } from "./agents/engine.ts";
import type { Gate, GateContext } from "./gate/gate.ts";
import { Increments, Ledger } from "./gate/ledger.ts";
import { makeLink } from "./system/links.ts";
import { hookFolders } from "./git/hooks.ts";
import { LspStarts } from "./gate/lsp_start.ts";
import { lookups } from "./system/lookups.ts";
import { engineTrace } from "./system/trace_file.ts";
import { Modes } from "./modes.ts";
import type { Questions } from "./gate/questions.ts";
import { rememberForAll } from "./own_rules.ts";
import { RuleBook } from "./gate/rule_book.ts";
import { givenBlocks, promptBlock } from "./project/given.ts";
import type { DescribedPlace } from "./project/described_files.ts";
import { fileProblems } from "./project/file_problems.ts";
import { type PromptFiles, promptFiles } from "./project/prompt_files.ts";
import { search } from "./project/search.ts";
import { fileNames, shownIn, surroundings } from "./project/surroundings.ts";
import { CommandSandbox } from "./commands/sandbox.ts";
import { Terminals } from "./commands/terminals.ts";
import { oneLine, plainAnswer, visible } from "./screen/visible.ts";

export interface EngineClientPorts {
  push(update: Update): void;
  /** The chat that an engine's session belongs to; undefined once it is gone. */
  ownerOf(sessionId: string): number | undefined;
  /** The same; undefined too as long as the engine is busy with a turn that was stopped. */
  chatOf(sessionId: string): number | undefined;
  /** The engine says that a session is in this mode. */
  narrow(chat: number, mode: string): void;
  /** What the mode of a chat's turn may change, by what the user has chosen. */
  accessOf(chat: number): ModeAccess;
  readonly gate: Gate;
  readonly editor: EditorQuestions;
  readonly questions: Questions;
}

/** Chats are numbered from 1; this one has no rules of its own. */
const NO_CHAT = 0;

/** Milliseconds for a look at what is staged. */
const LONGEST_LOOK_MS = 10_000;

/** Characters of a running command's output that the screen gets. */
const SHOWN_OUTPUT = 8_000;

export class EngineClient {
  readonly root: string;
  readonly rules: RuleBook;
  readonly log: ApprovalLog;
  readonly ledger: Ledger;
  readonly terminals: Terminals;
  readonly modes: Modes;
  readonly #ports: EngineClientPorts;
  /** Whether a sandbox holds commands. */
  readonly sandboxed: boolean;
  readonly #sandbox: CommandSandbox;
  readonly #roots: readonly string[];
  readonly #user: UserConfig;
  readonly #costs = new Increments();
  /** Lines about files that were told. */
  readonly #told = new Set<string>();
  /** Of the rules that were told, by their JSON. */
  readonly #versions = new Map<string, number>();
  readonly #lspStarts = new LspStarts();

  private constructor(
    roots: readonly string[],
    rules: RuleBook,
    ledger: Ledger,
    held: { readonly sandbox: CommandSandbox; readonly sandboxed: boolean },
    user: UserConfig,
    ports: EngineClientPorts,
  ) {
    const [root = ""] = roots;
    this.root = root;
    this.rules = rules;
    this.ledger = ledger;
    this.log = new ApprovalLog(user.state_dir);
    this.#ports = ports;
    this.sandboxed = held.sandboxed;
    this.#sandbox = held.sandbox;
    this.#roots = roots;
    this.#user = user;
    this.modes = new Modes(user, () => ({ root, rules: this.fileRules(NO_CHAT) }));
    this.terminals = new Terminals(roots, lookups, {
      spend: (sessionId, input) => ports.gate.spend(sessionId, input),
      ask: async (sessionId, input) => {
        const chat = ports.chatOf(sessionId);
        if (chat === undefined) return undefined;
        return await ports.gate.command(sessionId, input, await this.#gateContext(chat));
      },
      specify: (input, sessionId, { isMasked }) =>
        this.#sandbox.specify(input, hiddenFiles(this.#rulesOf(sessionId)), isMasked),
      show: (sessionId, id, output) => {
        const chat = ports.chatOf(sessionId);
        if (chat === undefined) return;
        ports.push({
          type: "tool",
          chat,
          id,
          status: "in_progress",
          output: visible(output.slice(-SHOWN_OUTPUT)),
        });
      },
      running: (sessionId, count) => {
        const chat = ports.chatOf(sessionId);
        if (chat !== undefined) ports.push({ type: "running", chat, count });
      },
    });
  }

  static async open(
    roots: readonly string[],
    user: UserConfig,
    ports: EngineClientPorts,
  ): Promise<EngineClient> {
    const [root = ""] = roots;
    const rules = await RuleBook.open(user.state_dir, root, user.rules);
    const ledger = await Ledger.open(user.state_dir, root);
    const sandbox = new CommandSandbox(roots, user);
    const sandboxed = await sandbox.hold() !== "none";
    const safe_to_write = [...user.safe_to_write, ...await hookFolders(roots)];
    return new EngineClient(roots, rules, ledger, { sandbox, sandboxed }, { ...user, safe_to_write }, ports);
  }

  /** Finds out how commands can be run, and what they may not see, before the first one is. */
  async prepare(): Promise<void> {
    await this.#gateContext(NO_CHAT);
  }

  /** Which files an engine may read and write at this moment. @throws {Error} if the rules cannot be known */
  fileRules(chat: number): FileRules {
    return fileRules(this.#user, this.rules.rules(chat));
  }

  /** What of Neovim's files is to be told. @throws {Error} if the rules cannot be known */
  shown(chat: number, shown: Shown): Shown {
    return shownIn(shown, { roots: this.#roots, rules: this.fileRules(chat) });
  }

  /** What Neovim hands over with a message, as a prompt has it. @throws {Error} if the rules cannot be known */
  given(chat: number, given: readonly Given[]): readonly ContentBlock[] {
    return given.length === 0 ? [] : givenBlocks(given, { roots: this.#roots, rules: this.fileRules(chat) });
  }

  /** Prompt templates, as their files are now. @throws {Error} if the rules cannot be known */
  async prompts(chat: number): Promise<PromptFiles> {
    return await promptFiles(this.#described(chat));
  }

  /** What is wrong with prompts and files of rules and was not told before. @throws {Error} as above */
  async fileProblems(chat: number): Promise<readonly string[]> {
    const problems = (await fileProblems(this.#described(chat))).filter((one) => !this.#told.has(one));
    for (const problem of problems) this.#told.add(problem);
    return problems;
  }

  #described(chat: number): DescribedPlace {
    const { config_dir: configDir } = this.#user;
    return { root: this.root, configDir, rules: this.fileRules(chat) };
  }

  /** What a message asks for that calls a template; undefined: it calls none. @throws {Error} one line */
  async called(chat: number, message: string): Promise<{ name: string; text: string } | undefined> {
    const call = promptCall(message);
    if (call === undefined) return undefined;
    const { prompts, replaced } = await this.prompts(chat);
    const template = prompts.get(call.name);
    const file = replaced.get(call.name);
    if (file !== undefined) this.#tellOnce(chat, `The project's ${visible(file)} replaces /${call.name}.`);
    return template && { name: call.name, text: filledIn(template, call.args) };
  }

  #tellOnce(chat: number, text: string): void {
    const key = `${chat} ${text}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#ports.push({ type: "notice", chat, severity: "info", text });
  }

  /** What is staged, and what the latest commits are called. @throws {Error} one line */
  async staged(chat: number): Promise<string> {
    const place = { roots: this.#roots, rules: this.fileRules(chat), sandboxed: this.sandboxed };
    const request = { op: "changes", path: this.root, staged: true } as const;
    const found = await search(request, place, AbortSignal.timeout(LONGEST_LOOK_MS));
    if (found.op === "changes" && found.text !== "") return found.text;
    throw new Error("Nothing is staged: choose changes with git add.");
  }

  /** What is sent of a message: its words, what it calls, what goes along. @throws {Error} one line */
  async blocks(chat: number, text: string, given: readonly Given[]): Promise<readonly ContentBlock[]> {
    const called = await this.called(chat, text);
    const asked = called === undefined ? [] : [promptBlock(called.name, called.text)];
    return [{ type: "text", text }, ...asked, ...this.given(chat, given)];
  }

  /** Of the project's files that may be read unasked. @throws {Error} if the rules cannot be known */
  async fileNames(chat: number): Promise<readonly string[]> {
    return await fileNames({ roots: this.#roots, rules: this.fileRules(chat), sandboxed: this.sandboxed });
  }

  #rulesOf(sessionId: string): FileRules {
    return this.fileRules(this.#ports.ownerOf(sessionId) ?? NO_CHAT);
  }

  /** The same for the same rules: they are long, and asked for before each call. */
  #versionOf(rules: FileRules): number {
    const text = JSON.stringify(rules);
    const version = this.#versions.get(text) ?? this.#versions.size + 1;
    this.#versions.set(text, version);
    return version;
  }

  /**
   * @param held the operating system holds the engine
   * @param key of its provider. @throws {Error} one line
   */
  events(held: boolean, key: (refused: boolean) => Promise<ScreenResult<"provider_key">>): EngineEvents {
    const { push, editor, gate, questions, chatOf, ownerOf } = this.#ports;
    const withChat = (sessionId: string, tell: (chat: number) => void) => {
      const chat = chatOf(sessionId);
      if (chat !== undefined) tell(chat);
    };
    const takeSpans = engineTrace();
    const tell = ({ sessionId, update }: SessionNotification) => {
      // What a turn that was stopped has cost was spent all the same.
      if (ownerOf(sessionId) !== undefined && update.sessionUpdate === "usage_update" && update.cost) {
        const request = ours(UsageMeta, update._meta)?.cost;
        const cost = this.#costs.next(sessionId, update.cost.amount, request);
        this.ledger.add(new Date().toISOString().slice(0, 10), cost);
      }
      // In which mode it is the user says; the engine may do less.
      if (update.sessionUpdate === "current_mode_update") {
        return withChat(sessionId, (chat) => this.#ports.narrow(chat, update.currentModeId));
      }
      const since = trace?.now();
      withChat(sessionId, (chat) => screenUpdates(chat, update).forEach(push));
      trace?.span("update", since);
    };
    return {
      update(told) {
        if (ownerOf(told.sessionId) !== undefined) return tell(told);
        // What is told right behind the answer that begins a session may be here before that is known to a chat.
        setTimeout(() => {
          try {
            tell(told);
          } catch {
            // An update that cannot be shown ends nothing: in its handler it would be refused.
          }
        });
      },
      permission: async (request) => {
        const chat = chatOf(request.sessionId);
        if (chat === undefined) return { outcome: { outcome: "cancelled" } };
        // Agents may ask about a call that they never announced.
        push(toolUpdate(chat, request.toolCall));
        return await gate.permission(request, await this.#gateContext(chat));
      },
      question: async (request) => {
        const chat = "sessionId" in request ? chatOf(String(request.sessionId)) : undefined;
        return chat === undefined ? { action: "cancel" } : await questions.ask(request, chat);
      },
      terminals: this.terminals,
      listeners: {
        trace: (_, { spans }) => takeSpans(spans),
        file_modified: (sessionId, { toolCallId: _id, before, after, from, since, ...event }) => {
          // A file that was written is so, whatever became of the turn.
          const chat = ownerOf(sessionId);
          if (chat === undefined) return;
          const texts = {
            ...defined({ before, after, since }),
          };
          push({ type: "file_modified", chat, ...event, ...defined({ from }), ...texts });
        },
        // The answer is the screen's, whatever becomes of the turn.
        aside: (sessionId, { id, text }) => {
          const chat = ownerOf(sessionId);
          const request = Number(id);
          if (chat !== undefined && Number.isSafeInteger(request)) {
            push({ type: "aside_text", chat, request, text: plainAnswer(text) });
          }
        },
        retry: (sessionId, { attempt, tries, waitMs, reason }) =>
          withChat(sessionId, (chat) => {
            push({ type: "retry", chat, attempt, tries, wait_ms: waitMs, reason: oneLine(reason) });
          }),
        turn_files: (sessionId, { turn, files }) => {
          // Also of a turn that was stopped: what it has changed is changed.
          const chat = ownerOf(sessionId);
          if (chat !== undefined) {
            push({ type: "turn_files", chat, turn, files: shownFiles(files, this.#roots) });
          }
        },
      },
      answers: {
        make_link: async (sessionId, { path, target }) => {
          const agreed = this.terminals.keepsLink(sessionId, dirname(path), target);
          await makeLink(path, target, { roots: this.#roots, held, agreed });
          return {};
        },
        provider_key: (_, { refused }) => key(refused),
        unsaved_text: async (_, { path }) =>
          SCREEN_REQUESTS.unsaved_text.result.parse(
            await editor.ask({ method: "unsaved_text", params: { path } }),
          ),
        write_unsaved: async (sessionId, params) => {
          if (chatOf(sessionId) === undefined) throw new Error("the turn was stopped");
          return SCREEN_REQUESTS.write_unsaved.result.parse(
            await editor.ask({ method: "write_unsaved", params }),
          );
        },
        written_since: async (_, { paths, since }) => {
          const open = new Set(paths.filter((path) => editor.mayBeOpen(path)));
          if (open.size === 0) return { files: [] };
          // A command may have changed thousands of files; Neovim has written a few.
          const { files } = SCREEN_REQUESTS.written_since.result.parse(
            await editor.ask({ method: "written_since", params: { since } }),
          );
          return { files: files.filter(({ path }) => open.has(path)) };
        },
        lsp: async (sessionId, question) =>
          await this.#lspStarts.answer(sessionId, question, {
            option: this.#ports.accessOf(ownerOf(sessionId) ?? NO_CHAT) === "write"
              ? this.#user.lsp_start
              : "never",
            editor: (servers) =>
              editor.ask({
                method: "lsp",
                params: { roots: this.#roots, request: question.request, servers },
              }),
            ask: async (server) => {
              const chat = chatOf(sessionId);
              return chat === undefined
                ? undefined
                : await gate.startServer(server, await this.#gateContext(chat));
            },
          }),
        kept_changes: (sessionId, { terminalId, from }) =>
          Promise.resolve().then(() => this.terminals.rehearsal(sessionId, terminalId).kept(from)),
        kept_contents: (sessionId, { terminalId, from }) =>
          Promise.resolve().then(() => this.terminals.rehearsal(sessionId, terminalId).contents(from)),
        search: (sessionId, request, signal) => {
          const rules = this.#rulesOf(sessionId);
          return search(request, { roots: this.#roots, rules, sandboxed: this.sandboxed }, signal);
        },
        surroundings: (sessionId, wanted, signal) => {
          const { config_dir: configDir } = this.#user;
          const held = { roots: this.#roots, rules: this.#rulesOf(sessionId), sandboxed: this.sandboxed };
          return surroundings(wanted, { ...held, configDir }, signal);
        },
        before_call: (sessionId, { known }) =>
          Promise.resolve().then(() => {
            const rules = this.#rulesOf(sessionId);
            const version = this.#versionOf(rules);
            return { version, servers: editor.hasServers, ...(version === known ? {} : { rules }) };
          }),
      },
    };
  }

  /** Writes a line into the user's rules for all projects, if the user agrees. @returns what was done @throws {Error} one line */
  async remember(line: string, chat: number): Promise<string> {
    const { editor, gate, push } = this.#ports;
    const written = await rememberForAll(line, {
      configDir: this.#user.config_dir,
      ask: (change, context) => gate.ownWrite(change, context),
      isUnsaved: async (path) => {
        if (!editor.mayBeOpen(path)) return false;
        const answer = await editor.ask({ method: "unsaved_text", params: { path } });
        return SCREEN_REQUESTS.unsaved_text.result.parse(answer).text !== undefined;
      },
    }, await this.#gateContext(chat));
    if (written === undefined) return "Not remembered.";
    const { path, before, after } = written;
    if (editor.mayBeOpen(path)) {
      const kind = before === undefined ? "created" : "modified";
      push({
        type: "file_modified",
        chat,
        path,
        kind,
        ...defined({ before }),
        after,
      });
    }
    return `Remembered for all projects in ${path}.`;
  }

  /** Of the project, or of the one that this is a worktree of. @throws {Error} one line */
  async worktrees(): Promise<Worktrees> {
    return await Worktrees.of(this.branches);
  }

  /** What a worktree has that the project has not. @throws {Error} one line */
  async merge(chat: number, wanted: string): Promise<Merge> {
    return await (await this.worktrees()).merge(wanted, this.fileRules(chat));
  }

  get branches(): WorktreeOptions {
    return {
      roots: this.#roots,
      sandboxed: this.sandboxed,
      prefix: this.#user.git_branch,
      stateDir: this.#user.state_dir,
    };
  }

  async #gateContext(chat: number): Promise<GateContext> {
    const { root, rules, log } = this;
    const files = this.fileRules(chat);
    const [view, { works: rehearses }] = await Promise.all([
      this.sandboxed ? this.#sandbox.view(hiddenFiles(files)) : undefined,
      this.#sandbox.rehearses(),
    ]);
    return {
      ...{
        chat,
        mode: this.#ports.accessOf(chat),
        root,
        rules,
        log,
        commands: this.#user.commands,
        files,
        roots: this.#roots,
        view,
        rehearses,
      },
      ended: (sessionId, terminal) => this.terminals.endedCommand(sessionId, terminal),
    };
  }
}
