/** The client's editor: our own screen through its extensions. shared/fs_editor.ts has any other. */
import type { Moment } from "./moment.ts";
import type { Screen } from "./screen.ts";
import { messageOf } from "../../shared/errors.ts";
import { withoutMark } from "../../shared/fs_editor.ts";
import type { Editor, LanguageServers } from "../ports/editor.ts";

/** An editor that does not answer in time may have unsaved changes, so the call fails. */
const LONGEST_WAIT_MS = 5_000;
/** Longer than our supervisor waits for any editor's write. */
const LONGEST_WRITE_MS = 80_000;
/** Includes the start of a language server, which then has five seconds to answer. */
const LONGEST_LSP_MS = 32_000;

/** Our own screen, which knows the buffers with unsaved changes and merges into them. */
export function screenEditor(screen: Screen): Editor {
  const inTime = (signal: AbortSignal, longest = LONGEST_WAIT_MS) =>
    AbortSignal.any([signal, AbortSignal.timeout(longest)]);
  return {
    async unsavedText(path, signal) {
      return withoutMark((await screen.ask("unsaved_text", { path }, inTime(signal))).text);
    },
    async mustBeSaved(path, signal) {
      return (await screen.ask("unsaved_text", { path }, inTime(signal))).save_first === true;
    },
    async writeUnsaved(path, base, text, signal) {
      const written = await screen.ask(
        "write_unsaved",
        { path, base, text },
        inTime(signal, LONGEST_WRITE_MS),
      );
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

export const noEditor: Editor = {
  unsavedText: () => Promise.resolve(undefined),
  writeUnsaved: () => Promise.resolve({ status: "not_open" }),
};
