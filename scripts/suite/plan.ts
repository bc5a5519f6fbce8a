/** Which tests run together in one process. */
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { PROJECT } from "../environment.ts";

/** What one process runs. */
export interface Job {
  /** The module that `deno test` gets. */
  readonly path: string;
  /** The files whose tests it runs, in order, as the report names them. */
  readonly files: readonly string[];
}

/** Folders that have tests. */
const TESTED = ["denops", "scripts", "tests"].map((folder) => join(PROJECT, folder));

/** Folders whose tests are all short. */
const SHORT = ["denops/", "scripts/", "tests/model/"].map((folder) => join(PROJECT, folder));

/** The number of processes for short tests. */
const SHORT_PARTS = 2;

/** Bytes of the tests of another process: so few that no core waits long for the last one. */
const PART = 70_000;

/** A line of `deno test` at which the tests of a file begin: a test named as {@link gather} names it. */
export const MARK_LINE = /^# \S+ \.\.\. ok \(.*\)$/;

/**
 * The tests of a folder share a few processes. A file that is named has its own.
 * @param paths of files and folders; empty: all tests
 * @param scratch the folder for modules that import tests
 */
export async function plan(paths: readonly string[], scratch: string): Promise<readonly Job[]> {
  if (paths.length === 0) return await planParts(await allTests(), "all", scratch);
  const jobs = await Promise.all(paths.map(async (path, at) => {
    const tests = await testsIn(path);
    return tests[0] === path ? [alone(path)] : await planParts(tests, String(at), scratch);
  }));
  return jobs.flat();
}

async function allTests(): Promise<readonly string[]> {
  return (await Promise.all(TESTED.map(testsIn))).flat();
}

async function planParts(tests: readonly string[], name: string, scratch: string): Promise<readonly Job[]> {
  const isShort = (test: string) => SHORT.some((folder) => test.startsWith(folder));
  const short = tests.filter(isShort);
  // The longest first: at the end no core waits for one of them.
  const parts = [
    ...Array.from({ length: SHORT_PARTS }, (_, part) => short.filter((_, at) => at % SHORT_PARTS === part)),
    ...await bySize(tests.filter((test) => !isShort(test))),
  ].filter((part) => part.length > 0);
  return await Promise.all(parts.map((part, at) => gather(part, join(scratch, `${name}_${at + 1}_test.ts`))));
}

export function alone(path: string): Job {
  return { path, files: [nameOf(path)] };
}

function nameOf(path: string): string {
  return relative(PROJECT, path);
}

/** One process for many files: it loads what they import once. @param path the module to write */
export async function gather(tests: readonly string[], path: string): Promise<Job> {
  const files = tests.map(nameOf);
  const lines = tests.map((test, at) => {
    const mark = `Deno.test(${JSON.stringify(`# ${files[at]}`)}, () => {});`;
    return `${mark}\nawait import(${JSON.stringify(String(pathToFileURL(test)))});\n`;
  });
  await Deno.writeTextFile(path, lines.join(""));
  return { path, files };
}

/** Neighbours stay together: they use the same programs. */
async function bySize(files: readonly string[]): Promise<readonly (readonly string[])[]> {
  const sizes = await Promise.all(files.map(async (path) => (await Deno.stat(path)).size));
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const count = Math.ceil(all / PART);
  const parts: string[][] = Array.from({ length: count }, () => []);
  let before = 0;
  for (const [at, path] of files.entries()) {
    const size = sizes[at] ?? 0;
    parts[Math.floor((before + size / 2) / all * count)]?.push(path);
    before += size;
  }
  return parts;
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
