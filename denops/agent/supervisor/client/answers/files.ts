/** Files that are open in Neovim, and files that were written. */
import { dirname } from "node:path";
import { SCREEN_REQUESTS } from "../../../protocol/screen_requests.ts";
import { defined } from "../../../shared/records.ts";
import type { EngineAnswers, EngineListeners } from "../../agents/engine.ts";
import { shownFiles } from "../../screen/updates.ts";
import { makeLink } from "../../system/links.ts";
import type { ClientContext } from "../context.ts";

/** @param isConfined whether the operating system confines the engine */
export function fileAnswers(
  { ports: { chatOf, editor }, permissions: { roots }, terminals }: ClientContext,
  isConfined: boolean,
): Pick<EngineAnswers, "make_link" | "unsaved_text" | "write_unsaved" | "written_since"> {
  return {
    async make_link(sessionId, { path, target }) {
      const agreed = terminals.keepsLink(sessionId, dirname(path), target);
      await makeLink(path, target, { roots, isConfined, agreed });
      return {};
    },
    async unsaved_text(_, { path }) {
      return await editor.unsavedText(path);
    },
    async write_unsaved(sessionId, params) {
      if (chatOf(sessionId) === undefined) throw new Error("the turn was stopped");
      return SCREEN_REQUESTS.write_unsaved.result.parse(
        await editor.ask({ method: "write_unsaved", params }),
      );
    },
    async written_since(_, { paths, since }) {
      const open = new Set(paths.filter((path) => editor.mayBeOpen(path)));
      if (open.size === 0) return { files: [] };
      // A command may have changed thousands of files, but Neovim has written only a few.
      const { files } = SCREEN_REQUESTS.written_since.result.parse(
        await editor.ask({ method: "written_since", params: { since } }),
      );
      return { files: files.filter(({ path }) => open.has(path)) };
    },
  };
}

/** These also handle events of stopped turns, whose files have changed too. */
export function fileListeners(
  { ports: { push, ownerOf }, permissions: { roots } }: ClientContext,
): Pick<EngineListeners, "file_modified" | "turn_files"> {
  return {
    file_modified(sessionId, { toolCallId: _id, before, after, from, since, ...event }) {
      const chat = ownerOf(sessionId);
      if (chat === undefined) return;
      push({ type: "file_modified", chat, ...event, ...defined({ from, before, after, since }) });
    },
    turn_files(sessionId, { turn, files }) {
      const chat = ownerOf(sessionId);
      if (chat !== undefined) push({ type: "turn_files", chat, turn, files: shownFiles(files, roots) });
    },
  };
}
