/** Which tests run together in one process. */
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { PROJECT } from "../environment.ts";

/** What one process runs. */
export interface Job {
  /** What its line in the report says. */
  readonly name: string;
  /** The module that `deno test` gets. */
  readonly path: string;
}

/** Folders whose tests are all short. */
const SHORT = ["denops", "scripts", "tests/model"].map((folder) => join(PROJECT, folder));

/** The number of processes for short tests. */
const PARTS = 2;

/** @param folder takes modules that import tests */
export async function planAll(folder: string): Promise<readonly Job[]> {
  const all = await testsIn(join(PROJECT, "tests"));
  const others = all.filter((test) => !SHORT.some((short) => test.startsWith(`${short}/`)));
  return [...await gatherShort(folder), ...planFiles(await bySize(others))];
}

export function planFiles(files: readonly string[]): readonly Job[] {
  return files.map((path) => ({ name: relative(PROJECT, path), path }));
}

/**
 * Loading their imports takes longer than most short tests take: each of a few processes loads them once, by a module
 * that imports tests.
 */
async function gatherShort(folder: string): Promise<readonly Job[]> {
  const tests = (await Promise.all(SHORT.map(testsIn))).flat();
  const parts = Array.from({ length: PARTS }, (_, part) => tests.filter((_, at) => at % PARTS === part));
  return await Promise.all(parts.map(async (part, at) => {
    const path = join(folder, `unit_${at + 1}_test.ts`);
    await Deno.writeTextFile(path, part.map((test) => `import "${pathToFileURL(test)}";\n`).join(""));
    return { name: `unit tests, part ${at + 1} of ${PARTS}`, path };
  }));
}

/** A long file that starts last would be waited for alone. */
async function bySize(files: readonly string[]): Promise<readonly string[]> {
  const sizes = await Promise.all(files.map(async (path) => ({ path, size: (await Deno.stat(path)).size })));
  return sizes.sort((a, b) => b.size - a.size).map(({ path }) => path);
}

/** Absolute paths of the tests in a folder, or of one file. */
export async function testsIn(path: string): Promise<readonly string[]> {
  if (!(await Deno.stat(path)).isDirectory) return [path];
  const entries = await Array.fromAsync(Deno.readDir(path));
  const found = await Promise.all(entries.map(async ({ name, isDirectory }) => {
    if (!isDirectory && !name.endsWith("_test.ts")) return [];
    return await testsIn(join(path, name));
  }));
  return found.flat().sort();
}
