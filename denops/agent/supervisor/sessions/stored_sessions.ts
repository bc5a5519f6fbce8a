/**
 * The stored sessions of all projects, from what their engines have written beside their databases. A file that is not
 * as it should be is left out: an engine wrote it, and an engine is not trusted.
 */
import { basename, join } from "node:path";
import {
  LARGEST_SESSIONS_FILE,
  type ListedSession,
  SESSIONS_FILE,
  SessionsFile,
  type ShownSession,
} from "../../protocol/sessions_file.ts";
import { LONGEST_NAME, oneLine, sessionTitle } from "../screen/visible.ts";
import { oneFile } from "../system/one_file.ts";
import { projectStateName } from "../system/project_state.ts";

/** Of one state folder. */
const MOST_PROJECTS = 1_000;
/** The newest, over all projects. */
const MOST_SHOWN = 2_000;

/** The newest first; empty if there is no such folder. */
export async function storedSessions(stateDir: string): Promise<readonly ShownSession[]> {
  const folders = await Array.fromAsync(Deno.readDir(stateDir)).catch(() => []);
  const names = folders.filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
  const rows = await Promise.all(
    names.slice(0, MOST_PROJECTS).map((name) => sessionsOf(stateDir, name).catch(() => [])),
  );
  return rows.flat().toSorted((a, b) => b.updated - a.updated).slice(0, MOST_SHOWN);
}

/** @throws {Error} if the file is not as the engine of this folder's project writes it */
async function sessionsOf(stateDir: string, name: string): Promise<readonly ShownSession[]> {
  const folder = await Deno.realPath(join(stateDir, name));
  const path = join(folder, SESSIONS_FILE);
  await checkOwner(path);
  const { real, text } = await oneFile(path, LARGEST_SESSIONS_FILE);
  if (real !== path) throw new Error("it is behind a link");
  const { root, sessions } = SessionsFile.parse(JSON.parse(text));
  // No engine speaks for another project: its folder is named after its own.
  if (await projectStateName(root) !== name) throw new Error("it is of another project");
  const open = await openSessions(join(folder, "locks"));
  return sessions.map((session) => sessionView(session, root, open.has(session.id)));
}

function sessionView(session: ListedSession, root: string, open: boolean): ShownSession {
  const { id, title, updated, turns, archived, state } = session;
  // One that nobody has open does nothing, whatever was written last.
  const ended = !open && (state === "running" || state === "waiting");
  return {
    ...{ sessionId: id, root, updated, turns, archived, open },
    title: sessionTitle(title),
    project: oneLine(basename(root), LONGEST_NAME),
    state: ended ? "stopped" : state,
  };
}

async function checkOwner(path: string): Promise<void> {
  const { isFile, uid } = await Deno.lstat(path);
  if (!isFile || (uid !== null && uid !== Deno.uid())) throw new Error("it is not the user's own file");
}

/** Sessions whose locks are held; see engine/store/locks.ts. */
async function openSessions(folder: string): Promise<ReadonlySet<string>> {
  const open = new Set<string>();
  const names = (await Array.fromAsync(Deno.readDir(folder)).catch(() => []))
    .filter(({ isFile }) => isFile).map(({ name }) => name);
  await Promise.all(
    names.slice(0, MOST_SHOWN).map(async (name) => {
      if (await isLocked(join(folder, name)).catch(() => false)) open.add(name);
    }),
  );
  return open;
}

/** Looks only: the lock is shared, and given back at once. */
async function isLocked(path: string): Promise<boolean> {
  if (!(await Deno.lstat(path)).isFile) return false;
  using file = await Deno.open(path);
  return !await file.tryLock(false);
}
