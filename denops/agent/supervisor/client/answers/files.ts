/** Files that are open in Neovim, and files that were written. */
import { dirname } from "node:path";
import { againstMode } from "../../../policy/decide_mode.ts";
import { mayWrite } from "../../../policy/file_access.ts";
import { foreignReason } from "../../../policy/foreign.ts";
import { changedKeys } from "../../../policy/manifest.ts";
import { nameInRoots } from "../../../policy/roots.ts";
import type { TextChange } from "../../../protocol/access.ts";
import { SCREEN_REQUESTS } from "../../../protocol/screen_requests.ts";
import { defined } from "../../../shared/records.ts";
import type { EngineAnswers, EngineListeners } from "../../agents/engine.ts";
import { shownFiles } from "../../screen/updates.ts";
import { makeLink } from "../../system/links.ts";
import type { ClientContext } from "../context.ts";
import { NO_CHAT } from "../permissions.ts";

/** @param isConfined whether the operating system confines the engine */
export function fileAnswers(
  client: ClientContext,
  isConfined: boolean,
): Pick<EngineAnswers, "make_link" | "unsaved_text" | "write_unsaved" | "written_since"> {
  const {
    ports: { chatOf, ownerOf, editor, limitsOf },
    permissions: { roots },
    terminals,
    agents,
    hooks,
    userWrites,
  } = client;
  return {
    async make_link(sessionId, { path, target }) {
      const folder = dirname(path);
      const agreed = terminals.keepsLink(sessionId, folder, target) ||
        agents.keepsLink(sessionId, folder, target) ||
        hooks.changes.keepsLink(sessionId, folder, target);
      if (!agreed && !userWrites.isRunning(sessionId)) {
        checkWrite(client, sessionId, path);
        // No tool of a set makes links.
        if (limitsOf(ownerOf(sessionId) ?? NO_CHAT).toolSet !== undefined) {
          throw new Error("this turn makes no links");
        }
      }
      await makeLink(path, target, { roots, isConfined, agreed });
      return {};
    },
    async unsaved_text(sessionId, { path }) {
      return await editor.unsavedText(path, sessionId);
    },
    async write_unsaved(sessionId, params) {
      if (chatOf(sessionId) === undefined) throw new Error("the turn was stopped");
      const change = { before: params.base, after: params.text };
      if (!userWrites.isRunning(sessionId)) checkWrite(client, sessionId, params.path, change);
      return SCREEN_REQUESTS.write_unsaved.result.parse(
        await editor.ask({ method: "write_unsaved", params }, sessionId),
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

/** @throws {Error} one line, unless the running turn may write this file @param change undefined: a link */
function checkWrite(client: ClientContext, sessionId: string, path: string, change?: TextChange): void {
  const {
    ports: { ownerOf, isWorking, limitsOf, trustOf, gate },
    permissions: { roots },
    terminals,
    agents,
    hooks,
  } = client;
  const chat = ownerOf(sessionId) ?? NO_CHAT;
  if (!isWorking(chat)) throw new Error("no turn is running");
  const name = nameInRoots(path, roots) ?? path;
  const file = { path, link: path, relative: name, named: name, exists: true };
  const decision = againstMode({ kind: "file", files: [{ access: "write", path: file }] }, limitsOf(chat));
  if (decision?.verdict === "deny") throw new Error(decision.reason);
  if (gate.approved.hasWrite(chat, path)) return;
  if ([terminals, agents, hooks.changes].some((work) => work.keeps(sessionId, path))) return;
  const { permission, foreign } = trustOf(client, chat, sessionId);
  if (permission === "ask") {
    throw new Error("this session asks about every write, and this one was not approved");
  }
  if (foreign === undefined) return;
  const keys = () => change && changedKeys(name, change);
  const { verdict } = mayWrite(file, client.rulesOf(sessionId).safe_to_write, undefined, keys);
  if (verdict !== "allow") {
    throw new Error(`${foreignReason(foreign)}, and this write of a sensitive file was not approved`);
  }
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
