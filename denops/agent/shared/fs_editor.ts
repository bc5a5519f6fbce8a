/** Text of an ACP client's editor, by the protocol's fs methods. */
import { dirname } from "node:path";
import { type AgentContext, methods, RequestError } from "../deps/acp_sdk.ts";
import { conflictText, merge3 } from "./text/merge.ts";
import { type DecodedText, decodeText } from "./text/text.ts";

/** An editor that does not answer in time may have unsaved changes, so the call fails. */
const LONGEST_WAIT_MS = 5_000;
/** The editor may format the text, or ask the user first. */
const LONGEST_WRITE_MS = 60_000;
/** An editor may answer before it has the text. */
const LATE_MS = [100, 300, 600];

/** The client's editor for one session. */
interface FsEditorOptions {
  readonly client: AgentContext;
  readonly sessionId: string;
  /** The bytes of a file on the disk. @throws {Error} if it cannot be read */
  readFile(path: string): Uint8Array | Promise<Uint8Array>;
  /** Makes the folder of a new file; without it, new files in missing folders are not the editor's. */
  makeFolder?(folder: string): Promise<void>;
}

type FsWrite =
  | { readonly status: "not_open" }
  | { readonly status: "merged"; readonly before: string; readonly text: string; readonly saved: boolean }
  | { readonly status: "conflict"; readonly text: string };

/**
 * Any ACP editor that offers fs/read_text_file and fs/write_text_file. The model reads the editor's text, and
 * writes go through the editor, so that it need not detect them.
 */
export class FsEditor {
  readonly #options: FsEditorOptions;

  constructor(options: FsEditorOptions) {
    this.#options = options;
  }

  /** Undefined if the disk has the same text. */
  async unsavedText(path: string, signal: AbortSignal): Promise<string | undefined> {
    const disk = await this.#diskText(path);
    if (disk === "other") return undefined;
    const text = await this.#shownText(path, signal);
    return text === disk?.text ? undefined : text;
  }

  /** Nothing tells the editor that a file is moved or deleted, so it keeps unsaved text of the old path. */
  async mustBeSaved(path: string, signal: AbortSignal): Promise<boolean> {
    return await this.unsavedText(path, signal) !== undefined;
  }

  /** Merges `text`, made from `base`, into the editor's text. */
  async writeUnsaved(path: string, base: string, text: string, signal: AbortSignal): Promise<FsWrite> {
    const disk = await this.#diskText(path);
    if (disk === "other") return { status: "not_open" };
    const current = await this.#shownText(path, signal) ?? "";
    const merged = merge3(base, current, text);
    if (!merged.ok) {
      return { status: "conflict", text: conflictText(merged.conflicts, "in the editor", "this edit") };
    }
    // The protocol transfers only text; write the file directly to keep another encoding.
    const isPlain = disk === undefined || (disk.encoding === "utf-8" && !disk.bom);
    if (!isPlain && disk.text === current) return { status: "not_open" };
    const { makeFolder } = this.#options;
    // By the protocol a client creates the file; it does not mention folders.
    await makeFolder?.(dirname(path));
    if (!await isThere(dirname(path))) return { status: "not_open" };
    await this.#send(path, merged.text, signal);
    const written = await this.#written(path, current, merged.text, signal);
    return { status: "merged", before: current, ...written };
  }

  async #send(path: string, content: string, signal: AbortSignal): Promise<void> {
    const { client, sessionId } = this.#options;
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_WRITE_MS)]);
    const options = { cancellationSignal: waiting, stopWaitingOnCancel: true };
    try {
      await inItsWords(
        client.request(methods.client.fs.writeTextFile, { sessionId, path, content }, options),
      );
    } catch (error) {
      signal.throwIfAborted();
      throw waiting.aborted
        ? new Error("the editor does not answer; the text may still be written. Read the file again")
        : error;
    }
  }

  /**
   * The text after a write: the editor may have formatted it, and it may save later. @throws {Error} if the editor
   * still has the text from before
   */
  async #written(path: string, before: string, text: string, signal: AbortSignal) {
    const onDisk = async () => {
      const disk = await this.#diskText(path);
      return disk === "other" ? undefined : disk?.text;
    };
    for (const late of [0, ...LATE_MS]) {
      await delay(late);
      if (await onDisk() === text) return { text, saved: true };
      // An editor that cannot answer now has taken the text.
      const current = await this.#shownText(path, signal).catch(() => text);
      if (current === undefined || (current === before && text !== before)) continue;
      return { text: current, saved: await onDisk() === current };
    }
    throw new Error("the editor did not take the text; nothing was written");
  }

  /** Undefined if the file does not exist; "other" if it is not text. */
  async #diskText(path: string): Promise<DecodedText | "other" | undefined> {
    if (!await isThere(path)) return undefined;
    try {
      return decodeText(await this.#options.readFile(path)) ?? "other";
    } catch {
      return "other";
    }
  }

  /**
   * Undefined if the file does not exist. If the client refuses, the file is not read from the disk. @throws
   * {Error}
   */
  async #shownText(path: string, signal: AbortSignal): Promise<string | undefined> {
    const { client, sessionId } = this.#options;
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_WAIT_MS)]);
    const options = { cancellationSignal: waiting, stopWaitingOnCancel: true };
    try {
      const response = client.request(methods.client.fs.readTextFile, { sessionId, path }, options);
      const answer: { readonly content?: unknown } | null = await inItsWords(response);
      if (typeof answer?.content === "string") return withoutMark(answer.content);
      throw new Error("the client answered with something that is no text");
    } catch (error) {
      signal.throwIfAborted();
      if (!await isThere(path)) return undefined;
      throw waiting.aborted ? new Error("the editor does not answer") : error;
    }
  }
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

/** The reason is in the error's data; its message is only "Internal error". */
async function inItsWords<T>(response: Promise<T>): Promise<T> {
  try {
    return await response;
  } catch (error) {
    const data = error instanceof RequestError ? error.data : undefined;
    const details = typeof data === "object" && data !== null && "details" in data ? data.details : undefined;
    throw typeof details === "string" ? new Error(details) : error;
  }
}

/** Editors return the text as they would write it, but tools expect no byte order mark. */
export function withoutMark<Text extends string | undefined>(text: Text): Text {
  return text?.replace(/^\ufeff/, "") as Text;
}
