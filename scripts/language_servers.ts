/** Language servers for the tests, from npm: one that counts in UTF-16 and pushes, one in UTF-8 that is asked. */
import { join } from "node:path";
import { depsFolder, notOwn } from "./own_folder.ts";

/** What package.json asks for; two names, since both are the package typescript. */
const DEPENDENCIES = {
  "typescript": "5.9.3",
  "typescript-language-server": "5.3.0",
  "typescript-native": "npm:typescript@7.0.2",
} as const;

/** Says what is installed; npm may write package.json anew. */
const MARK = "installed.json";

/** Commands; all of them speak LSP on stdin and stdout. */
export interface UnpackedServers {
  /** typescript-language-server: UTF-16, publishes diagnostics, does not say of which version. */
  readonly utf16: readonly string[];
  /** TypeScript 7's own: UTF-8 if the client can, is asked for diagnostics. */
  readonly utf8: readonly string[];
}

/**
 * Finds the servers in `<depsDir>/lsp`, else installs them there once: whole or not at all, by one process at a time.
 *
 * @throws {Error} one line, with what npm said
 */
export async function languageServers(depsDir: string): Promise<UnpackedServers> {
  const deps = await depsFolder(depsDir);
  const folder = join(deps.path, "lsp");
  const manifest = JSON.stringify({ private: true, dependencies: DEPENDENCIES });
  if (!await isInstalled(folder, manifest)) {
    if (!deps.isOwn) throw notOwn(depsDir, deps, "the language servers");
    await Deno.mkdir(deps.path, { recursive: true });
    // The kernel lets go of the lock when the process ends, however it ends.
    using lock = await Deno.open(join(deps.path, ".lock-lsp"), { create: true, write: true });
    await lock.lock(true);
    if (!await isInstalled(folder, manifest)) await install(folder, manifest);
  }
  const modules = join(folder, "node_modules");
  return {
    utf16: ["node", join(modules, "typescript-language-server", "lib", "cli.mjs"), "--stdio"],
    utf8: ["node", join(modules, "typescript-native", "bin", "tsc"), "--lsp", "--stdio"],
  };
}

async function isInstalled(folder: string, manifest: string): Promise<boolean> {
  return await Deno.readTextFile(join(folder, MARK)).catch(() => "") === manifest;
}

async function install(folder: string, manifest: string): Promise<void> {
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
    if (!success) throw new Error(`Cannot install the language servers: npm says ${said.trim()}`);
    await Deno.writeTextFile(join(temporary, MARK), manifest);
    await remove(folder);
    await Deno.rename(temporary, folder);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new Error("Cannot install the language servers: there is no npm.");
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
