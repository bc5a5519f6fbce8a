/** Unpacks tools from Debian's packages into a folder, each with a script or a link that starts it. @module */

import { basename, dirname, join, relative } from "node:path";
import { type Apt, openApt, type Suite, testing } from "./debian.ts";
import { withLoader } from "./elf.ts";
import { assertInside, type DepsFolder } from "./own_folder.ts";

export type ToolName = "nvim" | "git" | "rg" | "bwrap" | "luacheck";

interface Recipe {
  readonly package: string;
  /** The folder in depsDir that holds it; it is there only when it is whole. */
  readonly folder: string;
  /** Debian's stable suites have no Neovim that is recent enough. */
  readonly alwaysTesting: boolean;
  /** Programs that have to start with the unpacked loader, if there is one. */
  readonly programs: readonly string[];
  start(root: string): Promise<Start> | Start;
}

/** What a tool is started with: variables, and the first words of the command. */
interface Start {
  readonly env: Readonly<Record<string, string>>;
  readonly command: readonly string[];
}

const recipes: Readonly<Record<ToolName, Recipe>> = {
  nvim: {
    package: "neovim",
    folder: "neovim",
    alwaysTesting: true,
    programs: ["usr/bin/nvim"],
    start: (root) => ({
      env: { VIMRUNTIME: join(root, "usr/share/nvim/runtime") },
      command: [join(root, "usr/bin/nvim")],
    }),
  },
  git: {
    package: "git",
    folder: "git",
    alwaysTesting: false,
    programs: ["usr/bin/git", "usr/lib/git-core/git", "usr/lib/git-core/git-remote-http"],
    start: (root) => ({
      env: {
        GIT_EXEC_PATH: join(root, "usr/lib/git-core"),
        GIT_TEMPLATE_DIR: join(root, "usr/share/git-core/templates"),
      },
      command: [join(root, "usr/bin/git")],
    }),
  },
  rg: plain("ripgrep", "rg"),
  bwrap: plain("bubblewrap", "bwrap"),
  luacheck: {
    package: "lua-check",
    folder: "luacheck",
    alwaysTesting: false,
    programs: ["usr/bin/lua5.1"],
    async start(root) {
      const modules = join(root, "usr/share/lua/5.1");
      const libraries = (await libraryFolders(root)).map((folder) => join(folder, "lua/5.1/?.so"));
      const lua = join(root, "usr/bin/lua5.1");
      return {
        env: {
          LUA_PATH: `${join(modules, "?.lua")};${join(modules, "?/init.lua")};;`,
          LUA_CPATH: `${libraries.join(";")};;`,
        },
        command: [await exists(lua) ? lua : "lua5.1", join(root, "usr/bin/luacheck")],
      };
    },
  },
};

function plain(packageName: string, program: string): Recipe {
  const path = `usr/bin/${program}`;
  return {
    package: packageName,
    folder: program,
    alwaysTesting: false,
    programs: [path],
    start: (root) => ({ env: {}, command: [join(root, path)] }),
  };
}

/** The name of Debian's package. */
export function packageOf(name: ToolName): string {
  return recipes[name].package;
}

/** What starts an unpacked tool, if it is whole and was made for this very folder, which is a real path. */
export async function findUnpacked(name: ToolName, depsDir: string): Promise<string | undefined> {
  const starter = join(depsDir, "bin", name);
  const linked = await Deno.readLink(starter).catch(() => undefined);
  if (linked !== undefined) {
    const own = join(depsDir, recipes[name].folder);
    return linked.startsWith(`${own}/`) && await exists(linked) ? starter : undefined;
  }
  const text = await Deno.readTextFile(starter).catch(() => "");
  const [, madeFor = ""] = STAMP.exec(text) ?? [];
  // The way to it may lead through a link, as long as that is there.
  const leadsTo = await Deno.realPath(madeFor).catch(() => undefined);
  return leadsTo === depsDir && await exists(join(depsDir, recipes[name].folder)) ? starter : undefined;
}

/**
 * Unpacks the tools that are not in the folder yet, one process at a time.
 *
 * @param options.folder the project's own
 * @throws {Error} "Cannot fetch … from Debian: <apt's own error>", or why an unpacked tool does not start
 */
export async function unpackTools(
  names: readonly ToolName[],
  options: { readonly folder: DepsFolder; readonly suite: Suite; readonly log: (line: string) => void },
): Promise<void> {
  const { folder, suite, log } = options;
  const depsDir = folder.path;
  await Deno.mkdir(join(depsDir, "bin"), { recursive: true });
  // The kernel lets go of the lock when the process ends, however it ends.
  using lock = await Deno.open(join(depsDir, ".lock"), { create: true, write: true });
  await lock.lock(true);
  // A process that was killed leaves its folder, and children that may still write there.
  for (const left of (await list(depsDir)).filter((name) => name.startsWith(temporaryPrefix))) {
    await removeAll(join(depsDir, left)).catch(() => undefined);
  }
  const temporary = await Deno.makeTempDir({ dir: depsDir, prefix: temporaryPrefix });
  try {
    const apts = new Map<Suite, Apt>();
    for (const name of names) {
      if (await findUnpacked(name, depsDir) !== undefined) continue;
      const root = join(depsDir, recipes[name].folder);
      if (!await exists(root)) {
        const from = recipes[name].alwaysTesting ? testing : suite;
        log(`Fetching ${packageOf(name)} from Debian ${from.name} into ${basename(depsDir)} (once) …`);
        await fetchPackage(packageOf(name), root, temporary, async () => {
          const apt = apts.get(from) ?? await openApt(join(temporary, "apt", from.name), from);
          apts.set(from, apt);
          return apt;
        });
      }
      await finish(name, folder);
    }
  } finally {
    await removeAll(temporary);
  }
}

const temporaryPrefix = ".new-";

/** Unpacks into the temporary folder and renames at the end, so that `root` is whole if it is there at all. */
async function fetchPackage(
  name: string,
  root: string,
  temporary: string,
  open: () => Promise<Apt>,
): Promise<void> {
  try {
    const apt = await open();
    await apt.unpack(name, join(temporary, "root"));
    await Deno.rename(join(temporary, "root"), root);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot fetch ${name} from Debian: ${reason}`, { cause: error });
  }
}

/** Makes an unpacked tool start from where it is. May be repeated, as it is after depsDir was moved. */
async function finish(name: ToolName, folder: DepsFolder): Promise<void> {
  const depsDir = folder.path;
  const root = join(depsDir, recipes[name].folder);
  for (const path of [root, join(depsDir, "bin")]) await assertInside(path, folder);
  try {
    await writeStarter(name, root, depsDir);
  } catch (error) {
    // What does not start is fetched anew the next time.
    await removeAll(root);
    throw error;
  }
}

async function writeStarter(name: ToolName, root: string, depsDir: string): Promise<void> {
  const recipe = recipes[name];
  const folders = await libraryFolders(root);
  const loader = await findLoader(folders);
  if (loader !== undefined) {
    for (const path of recipe.programs) {
      const program = join(root, path);
      if (!await exists(program)) continue;
      const libraries = `$ORIGIN/${relative(dirname(path), "usr")}/$LIB`;
      await replace(program, withLoader(await Deno.readFile(program), loader, libraries));
    }
  }
  const { env, command } = await recipe.start(root);
  const lines = Object.entries(env).map(([key, value]) => `export ${key}=${quote(value)}`);
  if (loader === undefined && folders.length > 0) {
    lines.push(`export LD_LIBRARY_PATH=${quote(folders.join(":"))}"\${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"`);
  }
  const starter = join(depsDir, "bin", name);
  const [program = "", ...more] = command;
  if (lines.length + more.length === 0) {
    // A link: a shell for each start would cost more than ripgrep does.
    await removeAll(`${starter}.new`);
    await Deno.symlink(program, `${starter}.new`);
    await assertStarts(`${starter}.new`);
    return await Deno.rename(`${starter}.new`, starter);
  }
  // With exec, the process that was started is the tool itself: signals reach it, and its exit is seen.
  const text = [head(depsDir), ...lines, `exec ${command.map(quote).join(" ")} "$@"`, ""].join("\n");
  await replace(starter, new TextEncoder().encode(text), assertStarts);
}

/** What a script in `bin` starts with; it says for which folder it was made. */
function head(depsDir: string): string {
  return `#!/bin/sh\n# Written by scripts/unpack.ts for ${depsDir}`;
}

const STAMP = /^#!\/bin\/sh\n# Written by scripts\/unpack\.ts for (.+)\n/;

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

async function assertStarts(script: string): Promise<void> {
  const command = new Deno.Command(script, { args: ["--version"], stdin: "null", stdout: "null" });
  const { success, stderr } = await command.output();
  const reason = new TextDecoder().decode(stderr).trim().split("\n")[0];
  if (!success) {
    throw new Error(`Cannot start the unpacked ${basename(script, ".new")}: ${reason || "it just failed"}`);
  }
}

/** Writes a program whole or not at all, even while the old one runs. */
async function replace(
  path: string,
  content: Uint8Array,
  check?: (path: string) => Promise<void>,
): Promise<void> {
  await Deno.writeFile(`${path}.new`, content);
  await Deno.chmod(`${path}.new`, 0o755);
  await check?.(`${path}.new`);
  await Deno.rename(`${path}.new`, path);
}

/** Such as `usr/lib/x86_64-linux-gnu`. */
async function libraryFolders(root: string): Promise<string[]> {
  const folders: string[] = [];
  for (const parent of [join(root, "usr/lib"), join(root, "lib")]) {
    folders.push(
      ...(await list(parent)).filter((name) => /-linux-gnu/.test(name)).map((name) => join(parent, name)),
    );
  }
  return folders;
}

async function findLoader(folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const name = (await list(folder)).find((name) => /^ld-linux.*\.so\.\d+$/.test(name));
    if (name !== undefined) return join(folder, name);
  }
  return undefined;
}

async function list(folder: string): Promise<string[]> {
  if (!await exists(folder)) return [];
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).toSorted();
}

async function exists(path: string): Promise<boolean> {
  return await Deno.lstat(path).then(() => true, () => false);
}

async function removeAll(path: string): Promise<void> {
  if (await exists(path)) await Deno.remove(path, { recursive: true });
}
