/** The client's editor: our own screen through its extensions, any other through ACP's fs methods. */
import { type AgentContext, methods, RequestError } from "../../deps/acp_sdk.ts";
import { dirname } from "node:path";
import type { Moment } from "./moment.ts";
import type { Screen } from "./screen.ts";
import { messageOf } from "../../shared/errors.ts";
import { conflictText, merge3 } from "../../shared/text/merge.ts";
import type { Editor, LanguageServers, UnsavedWrite } from "../ports/editor.ts";
import { type DecodedText, decodeText } from "../../shared/text/text.ts";
import { readWhole } from "../tools/files/disk.ts";

/** An editor that does not answer in time may have unsaved changes, so the call fails. */
const LONGEST_WAIT_MS = 5_000;
/** Includes the start of a language server, which then has five seconds to answer. */
const LONGEST_LSP_MS = 32_000;

/** Our own screen, which knows the buffers with unsaved changes and merges into them. */
export function screenEditor(screen: Screen): Editor {
  const inTime = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(LONGEST_WAIT_MS)]);
  return {
    async unsavedText(path, signal) {
      return withoutMark((await screen.ask("unsaved_text", { path }, inTime(signal))).text);
    },
    async writeUnsaved(path, base, text, signal) {
      const written = await screen.ask("write_unsaved", { path, base, text }, inTime(signal));
      if (written.status !== "merged") return written;
      if (written.saved) await settle(path);
      return { ...written, before: withoutMark(written.before), text: withoutMark(written.text) };
    },
    async writtenSince(paths, since) {
      if (!screen.has("written_since")) return new Map();
      const waiting = AbortSignal.timeout(LONGEST_WAIT_MS);
      const { files } = await screen.ask("written_since", { paths: [...paths], since }, waiting);
      return new Map(files.map(({ path, text }) => [path, withoutMark(text)]));
    },
  };
}

/** Neovim returns the text as `:write` would write it, but tools expect no byte order mark. */
function withoutMark<Text extends string | undefined>(text: Text): Text {
  return text?.replace(/^\ufeff/, "") as Text;
}

/** Waits until Neovim's write is on the disk; Neovim does not wait for that. */
async function settle(path: string): Promise<void> {
  try {
    using file = await Deno.open(path);
    await file.sync();
  } catch {
    // The file is gone, or the file system does not support it.
  }
}

/** Our own screen, which asks Neovim's language clients. */
export function screenServers(screen: Screen, moment: Moment): LanguageServers {
  return {
    async ask(request, signal, who) {
      const may_start = who === "tool";
      if (!may_start && !moment.hasServers) return { kind: "nothing", reason: "No language server runs." };
      // No timeout if the user may be asked first.
      const waiting = may_start ? signal : AbortSignal.any([signal, AbortSignal.timeout(LONGEST_LSP_MS)]);
      try {
        return await screen.ask("lsp", { request, may_start }, waiting);
      } catch (error) {
        signal.throwIfAborted();
        return {
          kind: "nothing",
          reason: `The editor gave no answer about its language servers: ${messageOf(error)}`,
        };
      }
    },
  };
}

/**
 * Any ACP editor that offers fs/read_text_file and fs/write_text_file. The model reads the editor's text, and
 * writes go through the editor, so that it need not detect them.
 */
export function fsEditor(client: AgentContext, sessionId: string): Editor {
  /**
   * Undefined if the file does not exist. If the client refuses, the file is not read from the disk. @throws
   * {Error}
   */
  const shownText = async (path: string, signal: AbortSignal): Promise<string | undefined> => {
    const waiting = AbortSignal.any([signal, AbortSignal.timeout(LONGEST_WAIT_MS)]);
    const options = { cancellationSignal: waiting, stopWaitingOnCancel: true };
    try {
      const response = client.request(methods.client.fs.readTextFile, { sessionId, path }, options);
      return withoutMark((await inItsWords(response)).content);
    } catch (error) {
      signal.throwIfAborted();
      if (!await isThere(path)) return undefined;
      throw waiting.aborted ? new Error("the editor does not answer") : error;
    }
  };
  return {
    async unsavedText(path, signal) {
      const text = await shownText(path, signal);
      return text === diskText(path)?.text ? undefined : text;
    },
    async writeUnsaved(path, base, text, signal): Promise<UnsavedWrite> {
      const current = await shownText(path, signal) ?? "";
      const merged = merge3(base, current, text);
      if (!merged.ok) {
        return { status: "conflict", text: conflictText(merged.conflicts, "in the editor", "this edit") };
      }
      const disk = diskText(path);
      // The protocol transfers only text; write the file directly to keep another encoding.
      const plain = disk === undefined || (disk.encoding === "utf-8" && !disk.bom);
      if (!plain && disk.text === current) return { status: "not_open" };
      // By the protocol a client creates the file; it does not mention folders.
      await Deno.mkdir(dirname(path), { recursive: true });
      const options = { cancellationSignal: signal, stopWaitingOnCancel: true };
      const params = { sessionId, path, content: merged.text };
      await inItsWords(client.request(methods.client.fs.writeTextFile, params, options));
      return { status: "merged", before: current, text: merged.text, saved: true };
    },
  };
}

async function isThere(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

function diskText(path: string): DecodedText | undefined {
  try {
    return decodeText(readWhole(path));
  } catch {
    return undefined;
  }
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

export const noEditor: Editor = {
  unsavedText: () => Promise.resolve(undefined),
  writeUnsaved: () => Promise.resolve({ status: "not_open" }),
};
