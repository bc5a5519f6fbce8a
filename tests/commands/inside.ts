/** Programs that start inside of a command's sandbox, wherever on this machine they lie. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isInside } from "../../denops/agent/policy/path.ts";

export interface NeovimInside {
  /** For a line of the shell: runs a Lua file without any configuration. */
  readonly lua: string;
  /** For the option command_read: what it cannot start without. */
  readonly places: string[];
}

/** Its real program, which a script on the PATH may start, the runtime files, and the libraries that it has loaded. */
const FIND = `
local maps = assert(io.open("/proc/self/maps"))
local libraries = {}
for line in maps:lines() do table.insert(libraries, line:match("(/.*%.so[%d.]*)$")) end
io.write(vim.json.encode({ vim.uv.exepath(), vim.env.VIMRUNTIME, unpack(libraries) }))`;

/** Every sandbox shows these itself. */
const SYSTEM = /^\/(usr|s?bin|lib\w*|nix\/store|gnu\/store)(\/|$)/;

/**
 * For the option command_read: where those of these programs lie that a sandbox would hide, below the home folder or the
 * one of temporary files. What such a program needs (the libraries, what a script in its place starts) is mostly in the
 * folder around, `tools` of `tools/bin`.
 */
export function programPlaces(names: readonly string[]): string[] {
  const { PATH = "", HOME = "/" } = Deno.env.toObject();
  const folders = PATH.split(":").filter((folder) => folder.startsWith("/"));
  const found = names.map((name) => folders.find((folder) => existsSync(join(folder, name))));
  const hidden = found.filter((folder) => folder !== undefined).filter((folder) =>
    !SYSTEM.test(folder) && !isTooMuch(folder)
  );
  return [...new Set(hidden.map((folder) => isTooMuch(dirname(folder)) ? folder : dirname(folder)))];

  function isTooMuch(folder: string): boolean {
    return [HOME, tmpdir(), "/tmp"].some((own) => isInside(own, folder));
  }
}

export async function neovimInside(): Promise<NeovimInside> {
  const process = new Deno.Command(Deno.env.get("AGENT_NVIM") ?? "nvim", {
    args: ["--clean", "-l", "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = process.stdin.getWriter();
  await writer.write(new TextEncoder().encode(FIND));
  await writer.close();
  const [program = "", runtime = "", ...libraries]: readonly string[] = JSON.parse(
    new TextDecoder().decode((await process.output()).stdout),
  );
  assert.ok(program.startsWith("/") && runtime.startsWith("/"), "Neovim says where it lies");
  const own = libraries.filter((path) => !SYSTEM.test(path)).map((path) => dirname(path));
  return {
    lua: `VIMRUNTIME=${quoted(runtime)} ${quoted(program)} --clean -l`,
    places: [...new Set([program, runtime, ...own])],
  };
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
