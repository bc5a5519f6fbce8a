/**
 * Bundles: the plugin's modules in a few files beside them, made by `deno task bundle`. They load faster than the
 * modules and use less memory. A bundle is used only if it was made from exactly the modules that exist now: its
 * record names every file with its size, times and inode, and each start compares them all. It is stored beside the
 * modules, so a process that can write a bundle can write the modules too.
 */
import { join } from "node:path";

/** Below denops/agent. */
export const BUNDLES = "dist";

/** The entry points of each bundle, below denops/agent. A bundle has the same paths, with the ending `.js`. */
export const ENTRIES = {
  supervisor: ["supervisor/supervisor.ts", "supervisor/agents/boot.ts"],
  engine: ["engine/main.ts"],
} as const satisfies Record<string, readonly string[]>;

export type BundleName = keyof typeof ENTRIES;

/** In the folder of bundles. */
export function recordName(name: BundleName): string {
  return `${name}.txt`;
}

/**
 * The text of a bundle's record: the version of Deno, the number of files, and a line for each file.
 * @param paths below `agent`
 * @param folder of bundles that are not at their place yet
 * @throws {Error} if a file is missing
 */
export function recordOf(agent: string, paths: readonly string[], folder = join(agent, BUNDLES)): string {
  const lines = paths.map((path) => {
    const place = isBundle(path) ? join(folder, path.slice(BUNDLES.length)) : join(agent, path);
    const { isFile, size, mtime, ctime, ino } = Deno.statSync(place);
    if (!isFile) throw new Error(`${path} is not a file`);
    return `${path} ${size} ${mtime?.getTime()} ${ctime?.getTime()} ${ino}`;
  });
  return [`deno ${Deno.version.deno}, ${paths.length} files`, ...lines, ""].join("\n");
}

/**
 * Whether the bundle exists, and is that of these modules and this Deno.
 * @param agent the plugin's folder denops/agent
 */
function isCurrent(agent: string, name: BundleName): boolean {
  try {
    const record = Deno.readTextFileSync(join(agent, BUNDLES, recordName(name)));
    const paths = record.split("\n").slice(1, -1).map((line) => line.split(" ").slice(0, -4).join(" "));
    return recordOf(agent, paths) === record;
  } catch {
    // It is missing, incomplete, or of modules that no longer exist.
    return false;
  }
}

/** The files to load for a bundle's entry points, below `agent`: the bundle's, or the modules themselves. */
export function entryFiles(agent: string, name: BundleName): readonly string[] {
  const entries = ENTRIES[name];
  return isCurrent(agent, name)
    ? entries.map((entry) => `${BUNDLES}/${entry.replace(/\.ts$/, ".js")}`)
    : entries;
}

/** @param path below denops/agent */
export function isBundle(path: string): boolean {
  return path.startsWith(`${BUNDLES}/`);
}
