/** Checkpoints of a session over a real folder, without a model; and pictures of what is in the folder. */
import { asked } from "./entries.ts";
import { join } from "node:path";
import { noEditor } from "../../denops/agent/engine/acp/editor.ts";
import { SessionCheckpoints } from "../../denops/agent/engine/checkpoint/session_checkpoints.ts";
import type { FileChange } from "../../denops/agent/engine/log/events.ts";
import type { Editor } from "../../denops/agent/engine/ports/editor.ts";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { type Scratch, scratch } from "./project.ts";

export interface CheckpointedFolder extends AsyncDisposable {
  readonly project: Scratch;
  readonly store: SqliteStore;
  readonly checkpoints: SessionCheckpoints;
  /** Begins the next turn. */
  nextTurn(): number;
  /** What a tool does that says which paths it writes. */
  tool(paths: readonly string[], act: () => Promise<void>, id?: string): Promise<void>;
  /** What a command does, which says nothing. */
  command(
    act: () => Promise<void>,
    where?: "foreground" | "background",
    id?: string,
  ): Promise<readonly FileChange[]>;
  readonly notices: readonly string[];
  undo(turn?: number): Promise<Record<string, string>>;
  undoCalls(...calls: readonly string[]): Promise<Record<string, string>>;
  redo(): Promise<Record<string, string>>;
  restore(turn: number): Promise<Record<string, string>>;
  /** The session in another process, after this one was killed; or another session. */
  again(session?: string): SessionCheckpoints;
  /** Path → what is there: kind, mode, content. */
  tree(): Promise<Record<string, string>>;
}

export interface FolderOptions {
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly editor?: Editor;
  readonly limits?: { readonly files: number; readonly bytes: number };
  readonly aliveMs?: number;
  /** Relative to the project. */
  isWatched?(path: string): boolean;
}

export async function checkpointedFolder(options: FolderOptions = {}): Promise<CheckpointedFolder> {
  const { files = {}, editor = noEditor, limits, aliveMs, isWatched } = options;
  const project = await scratch(files);
  const roots = [await Deno.realPath(project.root)];
  const notices: string[] = [];
  const store = new SqliteStore(Database.inMemory());
  for (const id of ["s1", "s2"]) store.createSession({ id, root: roots[0] ?? "", model: "scripted" });
  const journal = store.writes;
  const open = (session = "s1") =>
    new SessionCheckpoints({
      session,
      roots,
      store: store.checkpoints,
      editor,
      journal,
      turn: () => store.turn(session),
      makeLink: (path, target) => Deno.symlink(target, path),
      notice: (text) => notices.push(text),
      ...(limits === undefined ? {} : { limits }),
      ...(aliveMs === undefined ? {} : { aliveMs }),
      ...(isWatched === undefined
        ? {}
        : { isWatched: (path) => isWatched(path.slice(project.root.length + 1)) }),
    });
  const checkpoints = open();
  const { signal } = new AbortController();
  const outcomes = async (action: Parameters<SessionCheckpoints["takeBack"]>[0]) => {
    const { files } = await checkpoints.takeBack(action, signal);
    return Object.fromEntries(
      files.map(({ path, outcome }) => [path.slice(project.root.length + 1), outcome]),
    );
  };
  return {
    project,
    store,
    checkpoints,
    nextTurn() {
      store.append("s1", { entries: [asked("Go")] });
      return store.turn("s1");
    },
    async tool(paths, act, id = "call") {
      const call = { id, paths: paths.map((path) => join(project.root, path)) };
      const pending = await checkpoints.before(call);
      await act();
      await pending.done([]);
    },
    async command(act, where = "foreground", id = "command") {
      const pending = await checkpoints.before({ id, paths: [], command: where });
      await act();
      return await pending.done([]);
    },
    notices,
    undo: (turn) => outcomes({ kind: "undo", turn }),
    undoCalls: (...calls) => outcomes({ kind: "undo", turn: undefined, calls }),
    redo: () => outcomes({ kind: "redo" }),
    restore: (turn) => outcomes({ kind: "restore", turn }),
    again: open,
    tree: () => treeOf(project.root),
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

async function treeOf(root: string, below = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for await (const entry of Deno.readDir(join(root, below))) {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    const full = join(root, path);
    const mode = ((await Deno.lstat(full)).mode ?? 0) & 0o7777;
    if (entry.isSymlink) found[path] = `link ${await Deno.readLink(full)}`;
    else if (entry.isDirectory) {
      found[path] = `folder ${mode.toString(8)}`;
      Object.assign(found, await treeOf(root, path));
    } else found[path] = `file ${mode.toString(8)} ${(await Deno.readFile(full)).toHex()}`;
  }
  return found;
}
