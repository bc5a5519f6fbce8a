/**
 * The stored sessions of all projects, from the lists that their engines keep beside their databases. Invalid
 * files are skipped, because engines are untrusted.
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

/** In one state folder. */
const MOST_PROJECTS = 1_000;
/** The newest ones of all projects. */
const MOST_SHOWN = 2_000;
/** Longer than an engine tests a lock. */
const PAUSE_MS = 20;

/** The newest first; empty if the folder does not exist. */
export async function storedSessions(stateDir: string): Promise<readonly ShownSession[]> {
  const folders = await Array.fromAsync(Deno.readDir(stateDir)).catch(() => []);
  const names = folders.filter(({ isDirectory }) => isDirectory).map(({ name }) => name);
  const rows = await Promise.all(
    names.slice(0, MOST_PROJECTS).map((name) => sessionsOf(stateDir, name).catch(() => [])),
  );
  return rows.flat().toSorted((a, b) => b.updated - a.updated).slice(0, MOST_SHOWN);
}

/** @throws {Error} if the file is not a valid list of this folder's project */
async function sessionsOf(stateDir: string, name: string): Promise<readonly ShownSession[]> {
  const folder = await Deno.realPath(join(stateDir, name));
  const path = join(folder, SESSIONS_FILE);
  await checkOwner(path);
  const { real, text } = await oneFile(path, LARGEST_SESSIONS_FILE);
  if (real !== path) throw new Error("it is behind a link");
  const { root, sessions } = SessionsFile.parse(JSON.parse(text));
  // An engine cannot list sessions of another project: the folder's name is derived from its root.
  if (await projectStateName(root) !== name) throw new Error("it is of another project");
  const open = await openSessions(join(folder, "locks"));
  return sessions.map((session) => sessionView(session, root, open.has(session.id)));
}

function sessionView(session: ListedSession, root: string, open: boolean): ShownSession {
  const { id, title, updated, turns, archived, state } = session;
  // A session that is not open is idle, regardless of its stored state.
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

/** Sessions whose locks are held; see engine/store/locks.ts. A lock that is only tested is free at the second look. */
async function openSessions(folder: string): Promise<ReadonlySet<string>> {
  const files = (await Array.fromAsync(Deno.readDir(folder)).catch(() => [])).filter(({ isFile }) => isFile);
  const names = await namesInUse(folder, files.slice(0, MOST_SHOWN).map(({ name }) => name));
  if (names.length === 0) return new Set();
  await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  return new Set(await namesInUse(folder, names));
}

async function namesInUse(folder: string, names: readonly string[]): Promise<readonly string[]> {
  const areLocked = await Promise.all(names.map((name) => isLocked(join(folder, name)).catch(() => false)));
  return names.filter((_, at) => areLocked[at]);
}

/** Tests the lock: takes it shared, and releases it at once. */
async function isLocked(path: string): Promise<boolean> {
  if (!(await Deno.lstat(path)).isFile) return false;
  using file = await Deno.open(path);
  return !await file.tryLock(false);
}
