/** Finds the programs that the tests and the `try` task need, or unpacks them into `.deps`. @module */

import { delimiter, join, resolve } from "node:path";
import { hasApt, parseOsRelease, suiteOf } from "./debian.ts";
import { type DepsFolder, depsFolder, notOwn } from "./own_folder.ts";
import { findUnpacked, packageOf, type ToolName, unpackTools } from "./unpack.ts";

export type { ToolName };

export interface FoundTool {
  readonly name: ToolName;
  /** Absolute, to be executed as it is. */
  readonly path: string;
  readonly source: "env" | "path" | ".deps";
}

export interface ToolOptions {
  /** The only folder that is ever written to. */
  readonly depsDir: string;
  readonly log: (line: string) => void;
  /** What is known of the machine. Tests give their own. */
  readonly host?: Host;
}

export interface Host {
  readonly os: typeof Deno.build.os;
  env(name: string): string | undefined;
  /** The text of /etc/os-release, empty if there is none. */
  osRelease(): Promise<string>;
  /** The program's absolute path, from the PATH. */
  lookup(program: string): Promise<string | undefined>;
}

/** Older ones lack what denops.vim and the plugin call. */
const oldestNeovim = [0, 12, 0] as const;

/** Folder for the PATH, with one executable per unpacked tool. */
export function toolPath(depsDir: string): string {
  return join(resolve(depsDir), "bin");
}

/**
 * Finds each tool, else unpacks it into depsDir. On other systems than Linux there is no bwrap, and none in the map.
 *
 * Nothing found is remembered: a second call looks again, without the network, and takes a few milliseconds.
 *
 * @throws {Error} one, of a line or two, that says what is missing and what to install
 */
export async function ensureTools(
  names: readonly ToolName[],
  options: ToolOptions,
): Promise<ReadonlyMap<ToolName, FoundTool>> {
  const folder = await depsFolder(options.depsDir);
  const depsDir = folder.path;
  const host = options.host ?? systemHost(depsDir);
  const wanted = [...new Set(names)].filter((name) => name !== "bwrap" || host.os === "linux");
  const found = await Promise.all(wanted.map((name) => findTool(name, depsDir, host)));
  const missing = wanted.filter((_, index) => found[index] === undefined);
  if (missing.length > 0 && !folder.isOwn) throw notOwn(options.depsDir, folder, missing.join(", "));
  if (missing.length > 0) await unpackMissing(missing, folder, host, options.log);

  const tools = wanted.map((name, index): FoundTool =>
    found[index] ?? { name, path: join(toolPath(depsDir), name), source: ".deps" }
  );
  return new Map(tools.map((tool) => [tool.name, tool]));
}

async function findTool(name: ToolName, depsDir: string, host: Host): Promise<FoundTool | undefined> {
  const chosen = name === "nvim" ? host.env("AGENT_NVIM") : undefined;
  if (chosen) {
    await assertRecent(chosen);
    return { name, path: resolve(chosen), source: "env" };
  }
  const path = await host.lookup(name);
  if (path !== undefined && (name !== "nvim" || isRecent(await neovimVersion(path)))) {
    return { name, path, source: "path" };
  }
  const unpacked = await findUnpacked(name, depsDir);
  return unpacked === undefined ? undefined : { name, path: unpacked, source: ".deps" };
}

async function unpackMissing(
  missing: readonly ToolName[],
  folder: DepsFolder,
  host: Host,
  log: (line: string) => void,
): Promise<void> {
  const osRelease = await host.osRelease();
  if (host.os !== "linux" || !await hasApt(osRelease, (program) => host.lookup(program))) {
    const advice = adviceFor(missing, host.os, osRelease);
    throw new Error(`Cannot find ${missing.map(describe).join(", ")}. ${advice}`);
  }
  try {
    await unpackTools(missing, { folder, suite: suiteOf(osRelease), log });
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const unpacked = await Promise.all(missing.map((name) => findUnpacked(name, folder.path)));
    const left = missing.filter((_, index) => unpacked[index] === undefined);
    const advice = adviceFor(left, host.os, osRelease);
    throw new Error(`${error.message.replace(/\.?$/, ".")}\n${advice}`, { cause: error });
  }
}

function describe(name: ToolName): string {
  return name === "nvim" ? `nvim (${oldestText} or newer)` : name;
}

const oldestText = oldestNeovim.slice(0, 2).join(".");
const neovimPage = "https://github.com/neovim/neovim/releases";

/** One line on how to install the tools by hand. */
function adviceFor(names: readonly ToolName[], os: Host["os"], osRelease: string): string {
  if (os === "darwin") {
    const packages = names.map((name) => name === "luacheck" ? name : packageOf(name));
    return `Try \`brew install ${packages.join(" ")}\`.`;
  }
  if (os === "windows") {
    const ids = names.flatMap((name) => wingetIds[name] ?? []);
    const winget = ids.length > 0 ? [`\`winget install ${ids.join(" ")}\``] : [];
    const luacheck = names.includes("luacheck")
      ? ["luacheck from https://github.com/lunarmodules/luacheck"]
      : [];
    return `Try ${[...winget, ...luacheck].join(", and ")}.`;
  }
  const { ID, ID_LIKE } = parseOsRelease(osRelease);
  const isDebian = `${ID} ${ID_LIKE}`.split(" ").includes("debian");
  const others = names.filter((name) => name !== "nvim");
  const neovim = names.includes("nvim") ? [`Neovim from ${neovimPage} (AGENT_NVIM may name its path)`] : [];
  const packages = others.map((name) => isDebian || name !== "luacheck" ? packageOf(name) : name).join(" ");
  const rest = isDebian ? `\`apt install ${packages}\`` : `your system's packages of ${packages}`;
  return `Try ${[...neovim, ...(others.length > 0 ? [rest] : [])].join(", and ")}.`;
}

const wingetIds: { readonly [Name in ToolName]?: string } = {
  nvim: "Neovim.Neovim",
  git: "Git.Git",
  rg: "BurntSushi.ripgrep.MSVC",
};

type Version = readonly [major: number, minor: number, patch: number];

/** The version in what `nvim --version` prints; undefined if it is not Neovim's. */
export function parseNeovimVersion(text: string): Version | undefined {
  const [, major, minor, patch] = /^NVIM v(\d+)\.(\d+)\.(\d+)/m.exec(text) ?? [];
  return major === undefined ? undefined : [Number(major), Number(minor), Number(patch)];
}

function isRecent(version: Version | undefined): boolean {
  if (version === undefined) return false;
  const different = version.findIndex((part, index) => part !== oldestNeovim[index]);
  return different < 0 || (version[different] ?? 0) > (oldestNeovim[different] ?? 0);
}

async function neovimVersion(path: string): Promise<Version | undefined> {
  try {
    const command = new Deno.Command(path, { args: ["--version"], stdin: "null", stderr: "null" });
    const { stdout } = await command.output();
    return parseNeovimVersion(new TextDecoder().decode(stdout));
  } catch {
    return undefined;
  }
}

async function assertRecent(chosen: string): Promise<void> {
  const version = await neovimVersion(chosen);
  if (isRecent(version)) return;
  const found = version === undefined ? "it does not run as Neovim" : `it is Neovim ${version.join(".")}`;
  throw new Error(
    `Cannot use AGENT_NVIM=${chosen}: ${found}. Try one that is ${oldestText} or newer, or unset AGENT_NVIM.`,
  );
}

/** This machine. What depsDir itself holds does not count as being on the PATH. */
function systemHost(depsDir: string): Host {
  const os = Deno.build.os;
  const endings = os === "windows" ? [".exe", ".cmd", ".bat"] : [""];
  return {
    os,
    env: (name) => Deno.env.get(name),
    osRelease: () => Deno.readTextFile("/etc/os-release").catch(() => ""),
    async lookup(program) {
      const folders = (Deno.env.get("PATH") ?? "").split(delimiter).filter((folder) => folder !== "");
      for (const folder of folders) {
        // Its own folder may be named through a link.
        const real = await Deno.realPath(resolve(folder)).catch(() => resolve(folder));
        if (real === toolPath(depsDir)) continue;
        for (const ending of endings) {
          const path = resolve(folder, program + ending);
          const info = await Deno.stat(path).catch(() => undefined);
          if (info?.isFile && (os === "windows" || ((info.mode ?? 0) & 0o111) !== 0)) return path;
        }
      }
      return undefined;
    },
  };
}
