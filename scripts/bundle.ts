/**
 * `deno task bundle` makes the bundles of supervisor and engine, so that the first message is sent sooner. It downloads
 * esbuild from npm once, which Deno bundles with. Removes those of other modules: there is one folder of them.
 */
import { fileURLToPath } from "node:url";
import { dirname, join, relative, sep } from "node:path";
import {
  type BundleName,
  BUNDLES,
  ENTRIES,
  recordName,
  recordOf,
} from "../denops/agent/supervisor/agents/bundle.ts";
import { deno, PROJECT } from "./environment.ts";

const AGENT = join(PROJECT, "denops/agent");
const CONFIG = join(PROJECT, "deno.json");
/** A file that changes twice in this time could keep its record. Milliseconds. */
const SHORTEST_AGE_MS = 2_000;

/** Files below denops/agent that a bundle consists of. */
async function modules(name: BundleName): Promise<readonly string[]> {
  const paths = new Set<string>(["deno.json", "deno.lock"].map((file) => join("../..", file)));
  for (const entry of ENTRIES[name]) {
    const args = ["info", "--json", `--config=${CONFIG}`, join(AGENT, entry)];
    const { stdout } = await new Deno.Command(Deno.execPath(), { args, stderr: "inherit" }).output();
    const { modules }: { readonly modules: readonly { readonly specifier: string }[] } = JSON.parse(
      new TextDecoder().decode(stdout),
    );
    for (const { specifier } of modules) {
      if (specifier.startsWith("file:")) {
        paths.add(relative(AGENT, fileURLToPath(specifier)).replaceAll(sep, "/"));
      }
    }
  }
  return [...paths].sort();
}

/** Waits until no file is so young that another change could go unnoticed. */
async function untilOldEnough(paths: readonly string[]): Promise<void> {
  const changes = paths.map((path) => Deno.statSync(join(AGENT, path)).ctime?.getTime() ?? 0);
  const wait = Math.max(...changes) + SHORTEST_AGE_MS - Date.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(wait, SHORTEST_AGE_MS)));
}

/** Writes a bundle and its record to this folder. @throws {Error} one line */
async function bundle(name: BundleName, folder: string): Promise<void> {
  const sources = await modules(name);
  await untilOldEnough(sources);
  const before = recordOf(AGENT, sources);
  // No --minify: esbuild drops a `using` declaration that is read once, and what it opened stays open.
  const options = ["--frozen", `--config=${CONFIG}`, "--platform=deno", "--code-splitting"];
  const entries = ENTRIES[name].map((entry) => join(AGENT, entry));
  const outdir = join(folder, dirname(ENTRIES[name][0]));
  const code = await deno(["bundle", "--quiet", ...options, `--outdir=${outdir}`, ...entries]);
  if (code !== 0) throw new Error(`deno bundle ended with code ${code}`);
  const files = await filesBelow(outdir);
  for (const file of files) await escapeNonAscii(file);
  const outputs = files.map((path) => join(BUNDLES, relative(folder, path)).replaceAll(sep, "/"));
  const isSame = recordOf(AGENT, await modules(name)) === before;
  const record = recordOf(AGENT, [...sources, ...outputs], folder);
  const lines = (text: string) => text.split("\n").slice(1, 1 + sources.length).join("\n");
  if (!isSame || lines(record) !== lines(before)) {
    throw new Error("a module has changed meanwhile. Try again");
  }
  await Deno.writeTextFile(join(folder, recordName(name)), record);
}

/** Escapes non-ASCII characters: Deno loads an ASCII file in three quarters of the time. */
async function escapeNonAscii(path: string): Promise<void> {
  const text = (await Deno.readTextFile(path)).replace(/String\.raw`([^`]*)`/g, withoutRaw);
  // In a raw template an escape would be six characters, and behind a backslash it would not be one.
  if (/String\.raw`[^`]*[\u0080-\uffff]|\\[\u0080-\uffff]/.test(text)) return;
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  await Deno.writeTextFile(path, text.replace(/[\u0080-\uffff]/g, escaped));
}

/** Turns a raw template with non-ASCII characters into a concatenation of strings. */
function withoutRaw(template: string, raw: string): string {
  const parts = raw.split(/\$\{(\w+)\}/);
  const isPlain = parts.every((part) => !part.includes("${")) && !raw.endsWith("\\");
  if (!/[\u0080-\uffff]/.test(raw) || !isPlain) return template;
  return `(${parts.map((part, at) => at % 2 === 0 ? JSON.stringify(part) : part).join(" + ")})`;
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  const paths = entries.map(async ({ name, isDirectory }) =>
    isDirectory ? await filesBelow(join(folder, name)) : [join(folder, name)]
  );
  return (await Promise.all(paths)).flat().sort();
}

/** Loads the engine, which ends where its input does. @throws {Error} one line */
async function tryEngine(folder: string): Promise<void> {
  const empty = await Deno.makeTempDir({ prefix: "agent-" });
  const main = join(folder, ENTRIES.engine[0].replace(/\.ts$/, ".js"));
  const args = ["run", "-A", "--quiet", "--no-prompt", "--frozen", `--config=${CONFIG}`, main, empty];
  const { success } = await new Deno.Command(Deno.execPath(), { args, stdin: "null", stdout: "null" })
    .output();
  await Deno.remove(empty, { recursive: true });
  if (!success) throw new Error("the engine's bundle does not run");
}

const temporary = await Deno.makeTempDir({ dir: AGENT, prefix: `${BUNDLES}.` });
try {
  await bundle("supervisor", temporary);
  await bundle("engine", temporary);
  await tryEngine(temporary);
  const folder = join(AGENT, BUNDLES);
  await Deno.remove(folder, { recursive: true }).catch(() => {});
  await Deno.rename(temporary, folder);
} catch (error) {
  console.error(`Cannot make the bundles: ${error instanceof Error ? error.message : error}.`);
  Deno.exitCode = 1;
} finally {
  await Deno.remove(temporary, { recursive: true }).catch(() => {});
}
