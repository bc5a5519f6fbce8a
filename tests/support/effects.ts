/** What a command would change, as a copy of the project that was changed instead: the other side of keeping. */
import { createHash } from "node:crypto";
import { lstatSync, readFileSync, type Stats } from "node:fs";
import { join } from "node:path";
import type { Effects } from "../../denops/agent/engine/ports/commands.ts";
import type { KeptChange } from "../../denops/agent/protocol/screen_requests.ts";
import { scratch, waitUntil } from "./project.ts";
import { copyTree } from "./trees.ts";

type Entry = NonNullable<KeptChange["after"]>;

export interface EffectsOptions {
  /** Changes, and bytes of contents, in one answer. */
  readonly page?: number;
  /** Contents as they arrive. */
  readonly arrive?: (path: string, bytes: Uint8Array) => Uint8Array;
}

export interface CopyEffects extends Effects {
  contents: Effects["contents"];
  readonly list: readonly KeptChange[];
  readonly isReleased: boolean;
}

/**
 * What makes of the project what is in the other folder. It counts as begun now.
 * @param target as `cp -a` and a command have left it; what is neither file, folder nor link is not kept
 */
export async function effectsOf(
  project: string,
  target: string,
  { page = 100_000, arrive = (_, bytes) => bytes }: EffectsOptions = {},
): Promise<CopyEffects> {
  const list = withOrigins(changesOf(project, target), project);
  const started = await tickAfter(project);
  let isReleased = false;
  // The file that was read last: its next page needs no other read.
  let last: { readonly path: string; readonly bytes: Uint8Array } | undefined;
  const contentOf = (path: string) => {
    const own = join(target, path.slice(project.length));
    if (last?.path !== path) last = { path, bytes: arrive(path, bytesOf(own)) };
    return last.bytes;
  };
  return {
    terminal: "terminal",
    changes: list.length,
    started,
    list,
    get isReleased() {
      return isReleased;
    },
    agreed(from) {
      const next = from + Math.max(1, Math.floor(page / 1_000));
      const changes = list.slice(from, next);
      return Promise.resolve({ changes, left: [], leftMore: 0, ...(next < list.length ? { next } : {}) });
    },
    contents(from) {
      const at = list.findIndex(({ after }, index) => index >= from.change && after?.type === "file");
      const change = list[at];
      if (change === undefined) return Promise.resolve({ parts: [] });
      const bytes = contentOf(change.path);
      const offset = at === from.change ? from.offset : 0;
      const part = bytes.subarray(offset, offset + page);
      const end = offset + part.length;
      const next = end < bytes.length ? { change: at, offset: end } : { change: at + 1, offset: 0 };
      return Promise.resolve({ parts: [{ change: at, base64: part.toBase64() }], next });
    },
    [Symbol.dispose]() {
      isReleased = true;
    },
  };
}

function changesOf(project: string, target: string, below = ""): KeptChange[] {
  const [old, now] = [join(project, below), join(target, below)];
  return withOpen(old, () =>
    withOpen(now, () => {
      const [before, after] = [namesIn(old), namesIn(now)];
      return [...new Set([...before, ...after])].sort().flatMap((name): KeptChange[] => {
        const path = join(project, below, name);
        const was = before.includes(name) ? entryAt(join(old, name)) : undefined;
        const is = after.includes(name) ? entryAt(join(now, name)) : undefined;
        const kind = was === undefined ? {} : { before: was.type };
        const own = JSON.stringify(was) === JSON.stringify(is)
          ? []
          : [{ path, ...kind, ...(is === undefined ? {} : { after: is }) }];
        return is?.type === "folder" ? [...own, ...changesOf(project, target, join(below, name))] : own;
      });
    }));
}

function namesIn(folder: string): readonly string[] {
  const info = infoAt(folder);
  return info?.isDirectory() ? Array.from(Deno.readDirSync(folder), ({ name }) => name) : [];
}

/** Undefined also below what is a file by now. */
function infoAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOTDIR") return undefined;
    throw error;
  }
}

function entryAt(path: string): Entry | undefined {
  const info = infoAt(path);
  const mode = (info?.mode ?? 0) & 0o7777;
  if (info?.isSymbolicLink()) return { type: "link", target: Deno.readLinkSync(path) };
  if (info?.isDirectory()) return { type: "folder", mode };
  if (!info?.isFile()) return undefined;
  const hash = createHash("sha256").update(bytesOf(path)).digest("hex");
  return { type: "file", mode, size: info.size, hash };
}

function withOrigins(list: readonly KeptChange[], project: string): KeptChange[] {
  const gone = new Map(list.flatMap(({ path, before, after }): [string, string][] => {
    if (after !== undefined || before !== "file") return [];
    const entry = entryAt(path);
    return entry?.type === "file" && entry.size > 0 ? [[entry.hash, path]] : [];
  }));
  return list.map((change) => {
    const { before, after } = change;
    const from = before === undefined && after?.type === "file" ? gone.get(after.hash) : undefined;
    if (from === undefined || after?.type !== "file" || !from.startsWith(project)) return change;
    gone.delete(after.hash);
    return { ...change, from };
  });
}

function bytesOf(path: string): Uint8Array {
  return withOpen(path, () => readFileSync(path));
}

/** What is closed to its owner is opened meanwhile. */
function withOpen<Result>(path: string, act: () => Result): Result {
  const info = infoAt(path);
  const mode = (info?.mode ?? 0) & 0o7777;
  const isClosed = info !== undefined && !info.isSymbolicLink() && (mode & 0o500) !== 0o500 &&
    Deno.uid() !== 0;
  if (isClosed) Deno.chmodSync(path, mode | 0o500);
  try {
    return act();
  } finally {
    if (isClosed) Deno.chmodSync(path, mode);
  }
}

/** The clock of the file system, when it has gone on: milliseconds since 1970. */
async function tickAfter(project: string): Promise<number> {
  const mark = await Deno.makeTempFile();
  const touched = () => {
    Deno.writeTextFileSync(mark, "x");
    return Deno.statSync(mark).mtime?.getTime() ?? 0;
  };
  const first = touched();
  const later = await waitUntil(`the clock of ${project}`, () => {
    const now = touched();
    return now > first ? now : undefined;
  });
  await Deno.remove(mark);
  return later;
}

export interface Copy extends AsyncDisposable {
  readonly root: string;
  /** Runs a line of a shell in it, or in another folder; what is no file, folder or link goes again. */
  run(line: string, where?: string): Promise<void>;
}

/** With modes, links and times. */
export async function copyOf(project: string): Promise<Copy> {
  const folder = await scratch();
  const root = folder.path("copy");
  await copyTree(project, root);
  return {
    root,
    async run(line, where = root) {
      await shell(`${line}\nfind . -type p -delete`, where);
    },
    async [Symbol.asyncDispose]() {
      await shell("chmod -R u+rwX -- .", folder.root);
      await folder[Symbol.asyncDispose]();
    },
  };
}

async function shell(line: string, cwd: string): Promise<void> {
  await new Deno.Command("bash", { args: ["-c", line], cwd, stdout: "null", stderr: "null" }).output();
}
