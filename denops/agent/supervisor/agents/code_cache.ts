/**
 * Fills Deno's cache of the engine's modules: transpiled code, and V8's code cache. The engine's sandbox can
 * only read it, so it is filled outside: by processes that load only these modules, in an empty folder, and
 * exit. Deno verifies modules by their content, and V8 verifies its own cache, before they use it.
 */
import { join } from "node:path";
import { encodeHex } from "../system/hex.ts";
import { openProgram } from "../system/programs.ts";
import { denoArguments, engineEnvironment, type EngineGrants } from "./grants.ts";

/** Deno skips the cache while another process writes, and skips some modules at first. */
const MOST_STARTS = 6;
const START_MS = 60_000;

/**
 * Fills the cache if the modules, Deno or its cache folder have changed.
 * @param stateDir folder of the stamp
 * @returns whether it was necessary
 * @throws {Error} if it fails
 */
export async function fillCodeCache(grants: EngineGrants, stateDir: string): Promise<boolean> {
  const stamp = join(stateDir, `code-cache-${await digest(grants.plugin)}`);
  const state = await stateOf(grants);
  if (await Deno.readTextFile(stamp).catch(() => undefined) === state) return false;
  const empty = await Deno.realPath(await Deno.makeTempDir({ prefix: "agent-" }));
  try {
    let size = 0;
    for (let start = 0; start < MOST_STARTS; start++) {
      await startIn(empty, grants);
      const before = size;
      size = await sizeOfCode(grants.denoDir);
      // Nothing was added.
      if (size > 0 && size === before) {
        await Deno.writeTextFile(stamp, state);
        break;
      }
    }
  } finally {
    await Deno.remove(empty, { recursive: true });
  }
  return true;
}

/** Bytes of Deno's database of V8 code, including its write-ahead log. */
async function sizeOfCode(denoDir: string): Promise<number> {
  let size = 0;
  for await (const { name } of Deno.readDir(denoDir)) {
    if (name.startsWith("v8_code_cache")) size += (await Deno.stat(join(denoDir, name))).size;
  }
  return size;
}

async function startIn(empty: string, grants: EngineGrants): Promise<void> {
  const { success, code } = await openProgram("compile", grants.deno, {
    args: [...denoArguments({ ...grants, roots: [empty], state: empty, host: undefined })],
    env: engineEnvironment(grants, {}),
    cwd: empty,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(START_MS),
  }).output();
  if (!success) throw new Error(`the engine ended with code ${code}`);
}

/** A digest of everything the cache depends on, without reading the files. */
async function stateOf({ plugin, module, denoDir }: EngineGrants): Promise<string> {
  const agent = join(plugin, "denops", "agent");
  const modules =
    (await Promise.all(["deps", "policy", "protocol", "engine"].map((room) => files(join(agent, room)))))
      .flat().sort();
  const { ino, birthtime } = await Deno.stat(join(denoDir, "npm"));
  return await digest(
    JSON.stringify([Deno.version, denoDir, ino, birthtime, modules, await fileState(module)]),
  );
}

/** Path, size and time of each file below a folder. */
async function files(folder: string): Promise<readonly string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return (await Promise.all(entries.map(async ({ name, isDirectory }) => {
    const path = join(folder, name);
    if (isDirectory) return await files(path);
    return [await fileState(path)];
  }))).flat();
}

async function fileState(path: string): Promise<string> {
  const { size, mtime } = await Deno.stat(path);
  return `${path} ${size} ${mtime?.getTime()}`;
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return encodeHex(new Uint8Array(bytes)).slice(0, 16);
}
