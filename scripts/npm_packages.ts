/** Packages from npm for the tests, in folders of `.deps`. */
import { join } from "node:path";
import { depsFolder, notOwn } from "./own_folder.ts";

/** Says what is installed; npm may write package.json anew. */
const MARK = "installed.json";

interface NpmPackages {
  /** Of the folder in `.deps`. */
  readonly name: string;
  /** For messages: "the language servers". */
  readonly what: string;
  /** As in package.json, with exact versions. */
  readonly dependencies: Readonly<Record<string, string>>;
}

/**
 * Finds the packages in `.deps`, else installs them there once: whole or not at all, by one process at a time.
 *
 * @returns the folder node_modules
 * @throws {Error} one line, with what npm said
 */
export async function npmPackages(
  depsDir: string,
  { name, what, dependencies }: NpmPackages,
): Promise<string> {
  const deps = await depsFolder(depsDir);
  const folder = join(deps.path, name);
  const manifest = JSON.stringify({ private: true, dependencies });
  if (!await isInstalled(folder, manifest)) {
    if (!deps.isOwn) throw notOwn(depsDir, deps, what);
    await Deno.mkdir(deps.path, { recursive: true });
    // The kernel lets go of the lock when the process ends, however it ends.
    using lock = await Deno.open(join(deps.path, `.lock-${name}`), { create: true, write: true });
    await lock.lock(true);
    if (!await isInstalled(folder, manifest)) await install(folder, manifest, what);
  }
  return join(folder, "node_modules");
}

async function isInstalled(folder: string, manifest: string): Promise<boolean> {
  return await Deno.readTextFile(join(folder, MARK)).catch(() => "") === manifest;
}

async function install(folder: string, manifest: string, what: string): Promise<void> {
  const temporary = `${folder}.new`;
  await remove(temporary);
  await Deno.mkdir(temporary);
  try {
    await Deno.writeTextFile(join(temporary, "package.json"), manifest);
    const args = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"];
    const npm = Deno.build.os === "windows" ? "npm.cmd" : "npm";
    const command = new Deno.Command(npm, { args, cwd: temporary, stdin: "null" });
    const { success, stdout, stderr } = await command.output();
    const said = new TextDecoder().decode(stderr) || new TextDecoder().decode(stdout);
    if (!success) throw new Error(`Cannot install ${what}: npm says ${said.trim()}`);
    await Deno.writeTextFile(join(temporary, MARK), manifest);
    await remove(folder);
    await Deno.rename(temporary, folder);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new Error(`Cannot install ${what}: there is no npm.`);
    }
    throw error;
  } finally {
    await remove(temporary);
  }
}

async function remove(path: string): Promise<void> {
  await Deno.remove(path, { recursive: true }).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
}
