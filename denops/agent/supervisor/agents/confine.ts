/**
 * Restricts an engine's reports to files of its own project. A compromised engine may send anything, and
 * Neovim has other files open too: reports about those are dropped.
 */
import { dirname, resolve, sep } from "node:path";
import { isInside } from "../../policy/path.ts";
import { ApprovalMeta, OPTION, ours } from "../../protocol/extensions.ts";
import { outcomeOf } from "../gate/outcome.ts";
import { withTitles } from "../screen/visible.ts";
import type { EngineEvents } from "./engine.ts";

/** @param roots real paths of the workspace */
export function confined(events: EngineEvents, roots: readonly string[]): EngineEvents {
  const isOwnInAny = (path: string) => roots.some((root) => isOwn(path, root));
  const check = (path: string) => {
    if (!isOwnInAny(path)) throw new Error(`${path} is not a file of this engine's project`);
  };
  const { answers, listeners } = events;
  return {
    ...events,
    async permission(request) {
      const access = ours(ApprovalMeta, request._meta)?.access;
      if (access?.kind !== "command" || isOwnInAny(access.cwd)) return await events.permission(request);
      const reason = "the command's folder is not a real folder of the project";
      return outcomeOf(OPTION.reject, { reason });
    },
    listeners: {
      ...listeners,
      file_modified(sessionId, event) {
        if (isOwnInAny(event.path) && isOwnInAny(event.from ?? event.path)) {
          listeners.file_modified(sessionId, event);
        }
      },
      turn_files(sessionId, event) {
        listeners.turn_files(sessionId, ownFilesOnly(event, roots));
      },
    },
    answers: {
      ...answers,
      async unsaved_text(sessionId, params, signal) {
        check(params.path);
        return await answers.unsaved_text(sessionId, params, signal);
      },
      async write_unsaved(sessionId, params, signal) {
        check(params.path);
        // Neovim can write there, but the engine cannot. The engine finds out on its own.
        if (params.path.split(sep).some((name) => name.toLowerCase() === ".git")) {
          return { status: "not_open" };
        }
        return await answers.write_unsaved(sessionId, params, signal);
      },
      async written_since(sessionId, params, signal) {
        return ownFilesOnly(await answers.written_since(sessionId, params, signal), roots);
      },
      async lsp(sessionId, params, signal) {
        if (params.request.path !== undefined) check(params.request.path);
        return await answers.lsp(sessionId, params, signal);
      },
    },
  };
}

/**
 * Removes files outside of the workspace from an engine's answer: list entries whose `path` or `from` is not
 * a file of these roots. @throws {Error} if the answer itself is about such a file
 */
export function ownFilesOnly<Result extends object>(result: Result, roots: readonly string[]): Result {
  const isOwnFile = (value: unknown): boolean =>
    typeof value !== "object" || value === null || ["path", "from"].every((field) => {
      const path: unknown = Reflect.get(value, field);
      return typeof path !== "string" || roots.some((root) => isOwn(path, root));
    });
  const check = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.filter(isOwnFile).map(check);
    if (typeof value !== "object" || value === null) return value;
    if (!isOwnFile(value)) throw new Error("the engine's answer is about a file outside of the project");
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, check(part)]));
  };
  return check(result) as Result;
}

/** The same, made displayable. */
export function shownAnswer<Result extends object>(result: Result, roots: readonly string[]): Result {
  return withTitles(ownFilesOnly(result, roots));
}

/** An engine sends real paths: no existing part of a path may be a link. Synchronous, to keep the order. */
function isOwn(path: string, root: string): boolean {
  if (resolve(path) !== path || !isInside(path, root)) return false;
  for (let existing = path; isInside(existing, root); existing = dirname(existing)) {
    try {
      return Deno.realPathSync(existing) === existing;
    } catch {
      // The path does not exist: check the nearest existing folder.
      if (isLink(existing)) return false;
    }
  }
  return false;
}

function isLink(path: string): boolean {
  try {
    return Deno.lstatSync(path).isSymlink;
  } catch {
    return false;
  }
}
