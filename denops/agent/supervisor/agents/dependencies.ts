/** Downloads the engine's dependencies once, before it starts, because the engine cannot. */
import { encodeHex } from "../system/hex.ts";
import { join } from "node:path";
import * as z from "../../deps/zod.ts";
import { openProgram } from "../system/programs.ts";
import { messageOf } from "../../shared/errors.ts";

const Stamp = z.object({ denoDir: z.string() });

/**
 * Makes sure that Deno's cache contains every module of the engine, by the lockfile; announces a download.
 * @returns the folder of Deno's cache
 * @throws {Error} one line
 */
export async function ensureDependencies(
  plugin: string,
  stateDir: string,
  announce: () => void,
): Promise<string> {
  const stampPath = await stampOf(plugin, stateDir);
  const known = await readStamp(stampPath);
  if (known !== undefined) return known;
  const denoDir = await askDenoDir(plugin);
  const main = join(plugin, "denops", "agent", "engine", "main.ts");
  // A program in a sandbox without network.
  const pdfReader = join(plugin, "denops", "agent", "supervisor", "web", "pdf_reader.ts");
  const fetching = ["cache", "--frozen", `--config=${join(plugin, "deno.json")}`, main, pdfReader];
  await deno(plugin, fetching, announce).catch((error) => {
    const command = [Deno.execPath(), ...fetching].join(" ");
    throw new Error(
      `Cannot fetch the engine's dependencies (${reasonOf(error)}). Run this once when online: ${command}`,
    );
  });
  await Deno.writeTextFile(stampPath, JSON.stringify({ denoDir }));
  return denoDir;
}

/** The folder of Deno's cache, which may be empty. @throws {Error} one line */
export async function findDenoDir(plugin: string, stateDir: string): Promise<string> {
  return await readStamp(await stampOf(plugin, stateDir)) ?? await askDenoDir(plugin);
}

async function stampOf(plugin: string, stateDir: string): Promise<string> {
  const lock = await Deno.readTextFile(join(plugin, "deno.lock"));
  const place = Deno.env.get("DENO_DIR") ?? Deno.env.get("HOME") ?? "";
  const key = `${lock}\n${Deno.version.deno}\n${place}`;
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  return join(stateDir, `dependencies-${encodeHex(new Uint8Array(digest)).slice(0, 16)}.json`);
}

/** The stamp is valid only while the cache exists: users do empty ~/.cache. */
async function readStamp(path: string): Promise<string | undefined> {
  try {
    const { denoDir } = Stamp.parse(JSON.parse(await Deno.readTextFile(path)));
    await Deno.stat(join(denoDir, "npm"));
    return denoDir;
  } catch {
    return undefined;
  }
}

async function askDenoDir(plugin: string): Promise<string> {
  const { denoDir } = Stamp.parse(JSON.parse(await deno(plugin, ["info", "--json"])));
  await Deno.mkdir(denoDir, { recursive: true });
  return await Deno.realPath(denoDir);
}

/**
 * @param plugin folder of Deno's settings: those of the project must not apply
 * @param fetching called once, if a package is downloaded; registry metadata is refreshed occasionally
 */
async function deno(plugin: string, args: string[], fetching: () => void = () => {}): Promise<string> {
  const command = openProgram("fetch", Deno.execPath(), {
    args,
    env: Deno.env.toObject(),
    cwd: plugin,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const process = command.spawn();
  const [output, errors, { success }] = await Promise.all([
    textOf(process.stdout),
    textOf(process.stderr, fetching),
    process.status,
  ]);
  if (success) return output;
  const problem = errors.trim().split("\n").find((line) => line.includes("error")) ?? "it failed";
  // deno-lint-ignore no-control-regex -- colours
  throw new Error(problem.replace(/\u001b\[[\d;]*m/g, "").replace(/^error: /, ""));
}

function reasonOf(error: unknown): string {
  return messageOf(error);
}

async function textOf(stream: ReadableStream<Uint8Array>, fetching?: () => void): Promise<string> {
  let text = "";
  let hasNotified = fetching === undefined;
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true });
    if (hasNotified || !/Download\S* \S+\.tgz/.test(text)) continue;
    hasNotified = true;
    fetching?.();
  }
  return text;
}
