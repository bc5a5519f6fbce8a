/**
 * The attachments of a user's message, read through the workspace before the turn begins. Attachments that cannot be
 * read stay plain text, and a notice gives the reason.
 */
import { isInGit } from "../../../policy/file_access.ts";
import type { AttachmentMeta } from "../../../protocol/attachments.ts";
import { imageCarriers, isKnown } from "../../context/repeats.ts";
import { Share } from "../../context/folding/share.ts";
import {
  type FoundMention,
  type FoundPrompt,
  type Lines,
  mentionsIn,
  type PathMention,
  promptIn,
  toolMentions,
  toolSetMention,
  toolsNote,
} from "../../context/mentions.ts";
import { treeText } from "../../context/tree.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import type { MessageEntry } from "../../log/entries.ts";
import type { Part } from "../../log/events.ts";
import { fenced, splitLines } from "../../../shared/text/text.ts";
import type { ClientAbilities } from "../../ports/abilities.ts";
import { fileInfo, readImage } from "../../tools/files/disk.ts";
import { ImageRoom, LARGEST_IMAGE } from "../../tools/files/image_room.ts";
import { noText, shownPath } from "../../tools/files/text_file.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import { entriesOf } from "../../tools/list.ts";
import { filePlace } from "./file_place.ts";
import { pageText, type ReadPage, readPages } from "./pages.ts";
import { outlineOf, symbolBodies } from "./symbol_attachments.ts";
import type { RootedPath } from "../../../policy/roots.ts";

/** A part of a client's prompt; only our own client sends `meta`. */
export type PromptPart =
  | Extract<Part, { type: "text" | "unsupported" }>
  | (Extract<Part, { type: "file" | "link" }> & { readonly meta?: AttachmentMeta | undefined })
  | {
    readonly type: "image";
    readonly data: string;
    readonly name: string;
    readonly meta?: AttachmentMeta | undefined;
  };

export interface AttachmentPorts {
  readonly workspace: Workspace;
  readonly abilities: Partial<Pick<ClientAbilities, "search" | "languages" | "mcp" | "web">>;
  /** Addresses that the user attaches, and has let the client fetch. */
  readonly pages: readonly string[];
  /** The messages that the model sees. */
  readonly seen: readonly MessageEntry[];
  /** Enabled tools of the session; a mentioned tool is added. */
  readonly tools: { readonly names: readonly string[]; add(name: string): void };
  /** Whether the model can read more of a file. */
  readonly hasTools: boolean;
  /** The file that the user looks at, if its text or some of its lines are sent: its name. */
  readonly active?: { readonly path: string; readonly lines?: Lines | undefined } | undefined;
  /** Tokens of the model's window. */
  readonly window: number;
  /** Reads the current rules. @throws {Error} if they cannot be read */
  refreshRules(): Promise<void>;
  /** The newest other session, or the newest with this word in its title. */
  earlier?(word: string): EarlierSession | undefined;
}

export interface EarlierSession {
  readonly title: string;
  /** A summary of it. */
  readonly text: string;
}

export interface GatheredMessage {
  readonly parts: readonly Part[];
  /** For the user, one line each. */
  readonly problems: readonly string[];
  /** For the model, beside the message: the tools that the user mentioned. */
  readonly note?: string | undefined;
  /** The set of tools that the user limited the turn to. */
  readonly toolSet?: ReturnType<typeof toolSetMention>;
}

/** Time limit for one access to files or git, in milliseconds. */
const LONGEST_MS = 5_000;
/** Time limit for a server, which may have to start first. */
const LONGEST_MCP_MS = 30_000;
const MOST_FILES = 5_000;
const MOST_PROBLEMS = 5;
/** Mentions that are resolved in one message. */
const MOST_MENTIONS = 200;

/** Never rejects. */
export async function gatherMessage(
  prompt: readonly PromptPart[],
  ports: AttachmentPorts,
  signal: AbortSignal,
): Promise<GatheredMessage> {
  const { problems, ...rest } = await new MessageGatherer(prompt, ports, signal).run();
  if (signal.aborted) return { ...rest, problems: [] };
  const more = problems.length - MOST_PROBLEMS;
  const left = more > 0 ? [`${more} more are not handed over.`] : [];
  return { ...rest, problems: [...problems.slice(0, MOST_PROBLEMS), ...left] };
}

/** Lines of a file that is too long. */
interface Excerpt {
  readonly text: string;
  readonly first: number;
  /** Numbers of lines: of the text, and of the file. */
  readonly lines: number;
  readonly of: number;
  readonly outline: string;
}

type Mcp = ClientAbilities["mcp"];

class MessageGatherer {
  readonly #prompt: readonly PromptPart[];
  readonly #ports: AttachmentPorts;
  readonly #signal: AbortSignal;
  readonly #images: ImageRoom;
  readonly #share: Share;
  readonly #attachments = new Map<string, Part>();
  readonly #problems: string[] = [];

  constructor(prompt: readonly PromptPart[], ports: AttachmentPorts, signal: AbortSignal) {
    this.#prompt = prompt;
    this.#ports = ports;
    this.#signal = signal;
    this.#images = new ImageRoom(true, imageCarriers(ports.seen));
    this.#share = new Share(ports.window);
  }

  async run(): Promise<GatheredMessage> {
    const words = this.#prompt.filter(isWord);
    const text = this.#prompt.flatMap((one) => isRequest(one) ? [one.text] : []).join("\n\n");
    const { tools } = this.#ports;
    const wanted = toolMentions(text, tools.names);
    for (const name of wanted) tools.add(name);
    const toolSet = toolSetMention(text);
    const rest = { problems: this.#problems, note: toolsNote(wanted, toolSet), toolSet };
    const servers = this.#ports.abilities.mcp?.servers.map(({ name }) => name) ?? [];
    const found = mentionsIn(text, servers).slice(0, MOST_MENTIONS);
    const prompt = promptIn(text, servers);
    const { active, pages } = this.#ports;
    const isPlain = found.length === 0 && pages.length === 0 && prompt === undefined &&
      words.length === this.#prompt.length &&
      active === undefined;
    if (isPlain || !await this.#knowsRules()) return { parts: words, ...rest };
    for (const one of this.#prompt) {
      const isMeant = !isWord(one) && one.meta?.mention === undefined;
      if (isMeant) await this.#try(undefined, () => this.#take(one, false));
    }
    if (prompt !== undefined) await this.#try(prompt, () => this.#serverPrompt(prompt));
    for (const one of found) await this.#try(one, () => this.#mentioned(one));
    for (const page of await readPages(pages, this.#ports.abilities.web, this.#signal)) this.#page(page);
    // The user did not ask for it, so problems are not reported.
    if (active !== undefined) await this.#activeFile(active).catch(() => {});
    return { parts: [...words, ...this.#attachments.values()], ...rest };
  }

  #inTime(): AbortSignal {
    return AbortSignal.any([this.#signal, AbortSignal.timeout(LONGEST_MS)]);
  }

  async #knowsRules(): Promise<boolean> {
    let isKnown = false;
    await this.#try(undefined, async () => {
      await this.#ports.refreshRules();
      isKnown = true;
    });
    return isKnown;
  }

  async #try(found: Pick<FoundMention, "text"> | undefined, take: () => Promise<void>): Promise<void> {
    try {
      await take();
    } catch (error) {
      const message = error instanceof ToolError ? error.summary : messageOf(error);
      const reason = message.replace(/^Cannot read .*?: |[.\s]+$/g, "");
      this.#problems.push(
        found === undefined ? `Not handed over: ${reason}.` : `${found.text} stays text: ${reason}.`,
      );
    }
  }

  async #mentioned({ mention }: FoundMention): Promise<void> {
    switch (mention.kind) {
      case "editor": {
        const own = this.#prompt.filter((one) => "meta" in one && one.meta?.mention === mention.name);
        if (own.length === 0) throw new ToolError("the editor has nothing of the kind");
        // Several ones get a line each.
        if (own.length === 1) return await this.#take(own[0], mention.name !== "buffers");
        for (const one of own) await this.#try(undefined, () => this.#take(one, mention.name !== "buffers"));
        return;
      }
      case "diff":
        return await this.#diff(mention.base, mention.isNext);
      case "session": {
        const session = this.#ports.earlier?.(mention.word);
        if (session === undefined) throw new ToolError("no such session is stored");
        const label = `session ${session.title}`;
        return void this.#give(
          label,
          `What the earlier session "${session.title}" has come to`,
          session.text,
          true,
        );
      }
      case "symbol":
        return await this.#symbol(mention.name);
      case "resource":
        return await this.#resource(mention.server, mention.uri);
      case "path":
        return await this.#path(mention.candidates, mention.isSure);
    }
  }

  /** Reads an attachment that the client sent. */
  async #take(one: PromptPart | undefined, isNamed: boolean): Promise<void> {
    switch (one?.type) {
      case "image":
        return this.#image(one.meta?.label ?? one.name, Uint8Array.fromBase64(one.data));
      case "file": {
        const { label, selected = false, output = false, prompt = false, skill = false } = one.meta ?? {};
        // Whole, as read_skill returns it. Words in it are no mentions.
        if (label !== undefined && skill) {
          return void this.#attachments.set(label, { type: "given", label, text: one.text });
        }
        if (label !== undefined && prompt) {
          const text = `What the user asks for with the message above:\n\n${one.text}`;
          return void this.#attachments.set(label, { type: "given", label, text });
        }
        if (label !== undefined) {
          const what = output
            ? `From the user's terminal: ${label}`
            : selected
            ? `User's selected code from ${label}`
            : label;
          return void this.#give(label, what, one.text, isNamed || selected);
        }
        this.#attachments.set(one.uri, { type: "file", uri: one.uri, text: one.text });
        const { path, lines } = filePlace(one.uri) ?? {};
        if (path === undefined) return;
        return await this.#ports.workspace.noteGiven(
          path,
          lines === undefined ? one.text : undefined,
          this.#signal,
        );
      }
      case "link": {
        const place = filePlace(one.uri);
        const found = place && await this.#ports.workspace.resolve(place.path).catch(() => undefined);
        if (place === undefined || found?.exists !== true) {
          return void this.#attachments.set(one.uri, { type: "link", uri: one.uri });
        }
        const path = await this.#ports.workspace.resolveReadable(place.path);
        return await this.#found(path, place.lines, isNamed, one.meta?.selected === true);
      }
      case "text":
      case "unsupported":
      case undefined:
    }
  }

  async #path(candidates: readonly PathMention[], isSure: boolean): Promise<void> {
    const { workspace } = this.#ports;
    let refused: unknown;
    for (const { path, lines } of candidates) {
      const found = await workspace.resolve(path).catch((error) => void (refused ??= error));
      // A word may happen to be the name of a folder.
      const isFolder = found?.exists === true && fileInfo(found.path)?.kind === "directory";
      if (found?.exists !== true || (isFolder && !path.includes("/"))) continue;
      return await this.#found(await workspace.resolveReadable(path), lines, true);
    }
    if (isSure) throw refused ?? new ToolError("the file does not exist");
  }

  async #found(
    path: RootedPath,
    lines: Lines | undefined,
    isNamed: boolean,
    isSelected = false,
  ): Promise<void> {
    const name = shownPath(path);
    if (isInGit(path)) throw new ToolError(`${name} is git's own file`);
    const info = this.#ports.workspace.info(path);
    if (info?.kind === "directory") return await this.#folder(path, name);
    const file = info?.kind === "other" ? undefined : await this.#text(path);
    if (file === undefined) {
      const image = info?.kind === "file" && readImage(path.path, LARGEST_IMAGE);
      if (image) return this.#image(name, image.bytes, image.size);
      throw new ToolError(`${name} is ${noText(info?.size)}`);
    }
    if (lines === undefined) return await this.#file(path, file, isNamed);
    const all = splitLines(file);
    const { first } = lines;
    const last = Math.min(lines.last, all.length);
    if (first > last) throw new ToolError(`${name} has no line ${first}`);
    const what = isSelected ? "User's selected code from" : "Contents of";
    const range = last > first ? `L${first}–${last}` : `L${first}`;
    const text = all.slice(first - 1, last).join("\n");
    const isWhole = this.#give(
      `${name} ${range}`,
      `${what} ${name}:L${first}-L${last}`,
      text,
      isNamed || isSelected,
    );
    if (isWhole) await this.#ports.workspace.noteGiven(path.path, undefined, this.#signal);
  }

  async #text(path: RootedPath): Promise<string | undefined> {
    return (await this.#ports.workspace.readIfText(path, this.#signal))?.text;
  }

  async #file(path: RootedPath, text: string, isNamed: boolean): Promise<void> {
    const share = this.#share;
    const { workspace } = this.#ports;
    const name = shownPath(path);
    if (share.takes(text, isNamed)) {
      this.#give(name, `Contents of ${name}`, text, isNamed);
      return await workspace.noteGiven(path.path, text, this.#signal);
    }
    const symbols = await outlineOf(path.path, this.#ports.abilities.languages, this.#signal);
    const outline = symbols === "" ? "" : `Outline of ${name}, by lines:\n${symbols}`;
    if (this.#attachments.has(name)) return;
    const begin = share.beginning(text, isNamed, outline.length);
    if (begin === undefined) throw noRoom();
    this.#excerpt(name, { ...begin, first: 1, of: splitLines(text).length, outline });
  }

  /** Lines that the user did not name. @throws {ToolError} if they do not fit */
  #lines(name: string, text: string, { first, last }: Lines): void {
    const all = splitLines(text);
    const wanted = all.slice(first - 1, last);
    const part = wanted.join("\n");
    const share = this.#share;
    const kept = share.takes(part, false)
      ? { text: share.take(part), lines: wanted.length }
      : share.beginning(part, false, 0);
    if (kept === undefined) throw noRoom();
    if (wanted.length > 0) this.#excerpt(name, { ...kept, first, of: all.length, outline: "" });
  }

  #excerpt(name: string, { text, first, lines, of, outline }: Excerpt): void {
    const rest = this.#ports.hasTools ? "is to be read where it is needed" : "is cut off";
    const last = first + lines - 1;
    const heading = `Lines ${first}-${last} of ${of} of ${name} (the rest ${rest}):`;
    const body = [...outline === "" ? [] : [outline], `${heading}\n${fenced(text)}`].join("\n\n");
    this.#attachments.set(name, { type: "given", label: `${name} L${first}–${last} of ${of}`, text: body });
  }

  /** Left out if it needs a permission, is attached already, or was sent earlier and is unchanged. */
  async #activeFile(active: NonNullable<AttachmentPorts["active"]>): Promise<void> {
    const { workspace, seen } = this.#ports;
    const path = await workspace.resolve(active.path);
    const text = workspace.mayShow(path) && !isInGit(path) ? await this.#text(path) : undefined;
    if (text === undefined || text === "") return;
    const known = new Set(this.#attachments.keys());
    const name = shownPath(path);
    if (active.lines === undefined) await this.#file(path, text, false);
    else if (!known.has(name)) this.#lines(name, text, active.lines);
    for (const [label, part] of this.#attachments) {
      if (!known.has(label) && isKnown(part, seen)) this.#attachments.delete(label);
    }
  }

  async #folder(path: RootedPath, name: string): Promise<void> {
    const { search } = this.#ports.abilities;
    const label = `${name === "." ? "" : name}/`;
    const found = await search?.files({ path: path.path, most: MOST_FILES }, this.#inTime());
    const listed = found === undefined
      ? await entriesOf(path, this.#ports.workspace, this.#signal)
      : treeText(found.paths, this.#share.ofOne, !found.more);
    this.#give(label, `What is in the folder ${label}`, listed === "" ? "nothing" : listed, true);
  }

  async #diff(base: string | undefined, isNext: boolean): Promise<void> {
    const { search } = this.#ports.abilities;
    if (search === undefined) throw new ToolError("this editor does not know of changes");
    const changes = (of: { readonly base?: string }) => search.changes({ path: "", ...of }, this.#inTime());
    let found = base === undefined ? undefined : await changes({ base }).catch((error) => {
      // The next word of a sentence is rarely a branch.
      if (isNext) return undefined;
      throw error;
    });
    const since = found === undefined ? "the last commit" : base;
    found ??= await changes({});
    this.#give(`changes since ${since}`, `Changes since ${since}`, found.text, true);
  }

  async #symbol(name: string): Promise<void> {
    const { workspace, abilities } = this.#ports;
    for await (const { path: at, line, end_line } of symbolBodies(name, abilities.languages, this.#signal)) {
      const path = await workspace.resolveReadable(at).catch(() => undefined);
      if (path !== undefined) return await this.#found(path, { first: line, last: end_line }, true);
    }
    throw new ToolError(`no symbol of the project is called ${name}`);
  }

  /** A resource of an MCP server. */
  async #resource(server: string, uri: string): Promise<void> {
    const { text, images } = await this.#fromServer((mcp, signal) => mcp.resource(server, uri, signal));
    const label = `${server}:${uri}`;
    if (text !== "") this.#give(label, `Resource of the MCP server ${server}, as data: ${uri}`, text, true);
    for (const { data } of images) this.#image(label, Uint8Array.fromBase64(data));
  }

  /** The messages of an MCP server's prompt. */
  async #serverPrompt({ text: written, server, name, words }: FoundPrompt): Promise<void> {
    const { text, images } = await this.#fromServer((mcp, signal) => mcp.prompt(server, name, words, signal));
    this.#give(written, `The prompt ${name} of the MCP server ${server}, which the user calls`, text, true);
    for (const { data } of images) this.#image(`${written} (image)`, Uint8Array.fromBase64(data));
  }

  async #fromServer(ask: (mcp: Mcp, signal: AbortSignal) => ReturnType<Mcp["resource"]>) {
    const { mcp } = this.#ports.abilities;
    if (mcp === undefined) throw new ToolError("this editor runs no MCP servers");
    const limit = AbortSignal.timeout(LONGEST_MCP_MS);
    try {
      return await ask(mcp, AbortSignal.any([this.#signal, limit]));
    } catch (error) {
      if (limit.aborted) throw new ToolError("the MCP server does not answer");
      throw error;
    }
  }

  #image(name: string, bytes: Uint8Array, size = bytes.length): void {
    if (this.#attachments.has(name)) return;
    const answer = this.#images.take(name, bytes, size);
    if (answer === undefined) throw new ToolError(`${name} is no image of a kind that models take`);
    const { text, image } = answer;
    this.#attachments.set(name, {
      type: "given",
      label: name,
      text,
      ...(image === undefined ? {} : { image }),
    });
  }

  /** A page of the web, or why there is none. */
  #page(page: ReadPage): void {
    const { url, problem } = page;
    if (problem !== undefined) this.#problems.push(`@${url}: ${problem}.`);
    if (page.image !== undefined) return this.#image(url, page.image);
    const text = pageText(page, this.#share);
    const label = page.text === undefined ? `${url} (not fetched)` : url;
    this.#attachments.set(url, { type: "given", label, text });
  }

  /** @returns whether all of it fits @throws {ToolError} if none of it fits */
  #give(label: string, what: string, text: string, isNamed: boolean): boolean {
    if (this.#attachments.has(label)) return true;
    const share = this.#share;
    const isWhole = share.takes(text, isNamed);
    const kept = isWhole ? share.take(text) : share.beginning(text, isNamed, 0)?.text;
    if (kept === undefined) throw noRoom();
    const note = isWhole ? "already provided, do not read again" : "its beginning; the rest did not fit";
    this.#attachments.set(label, { type: "given", label, text: `${what} (${note}):\n${fenced(kept)}` });
    return isWhole;
  }
}

function isWord(one: PromptPart): one is Extract<Part, { type: "text" | "unsupported" }> {
  return one.type === "text" || one.type === "unsupported";
}

/** The user's words, or the text of a prompt template that they call. */
function isRequest(one: PromptPart): one is Extract<PromptPart, { type: "text" | "file" }> {
  return one.type === "text" || (one.type === "file" && one.meta?.prompt === true);
}

function noRoom(): ToolError {
  return new ToolError("what is handed over has filled its share of the model's window");
}
