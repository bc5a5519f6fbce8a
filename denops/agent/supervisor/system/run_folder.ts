/** A folder for small files of this process, removed at its end. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive } from "./watch.ts";

const PREFIX = "agent-run-";
/** Age after which a folder of a killed process is removed. */
const STALE_MS = 24 * 3_600_000;

let folder: Promise<string> | undefined;

export function runFolder(): Promise<string> {
  folder ??= make();
  return folder;
}

export async function removeRunFolder(): Promise<void> {
  const path = await folder;
  folder = undefined;
  if (path !== undefined) await Deno.remove(path, { recursive: true }).catch(() => {});
}

async function make(): Promise<string> {
  const dir = await Deno.realPath(tmpdir());
  const path = await Deno.makeTempDir({ dir, prefix: `${PREFIX}${Deno.pid}-` });
  globalThis.addEventListener("unload", () => {
    try {
      Deno.removeSync(path, { recursive: true });
    } catch {
      // The folder is already gone.
    }
  });
  removeStale(dir).catch(() => {});
  return path;
}

async function removeStale(dir: string): Promise<void> {
  for await (const { name } of Deno.readDir(dir)) {
    const [, pid] = new RegExp(`^${PREFIX}(\\d+)-`).exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const path = join(dir, name);
    const { mtime, uid, isDirectory } = await Deno.lstat(path);
    const isStale = isDirectory && uid === Deno.uid() && Date.now() - (mtime?.getTime() ?? 0) > STALE_MS;
    if (isStale) await Deno.remove(path, { recursive: true });
  }
}
