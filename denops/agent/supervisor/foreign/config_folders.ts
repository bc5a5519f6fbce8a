/** The files and folders of an agent's own, which it reads and writes outside of the project. */
import { dirname, extname, join, normalize } from "node:path";
import { isInside } from "../../policy/path.ts";
import type { ForeignAgent } from "../../protocol/options/foreign_agents.ts";
import type { Mount } from "../system/sandbox/mounts.ts";

interface ConfigPlace {
  /** Real paths. */
  readonly roots: readonly string[];
  readonly stateDir: string;
  /** Neovim's own. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Later entries cover earlier ones. Creates missing ones, because a bound folder must exist: what the agent stores elsewhere vanishes with its sandbox.
 * @throws {Error} one line, if one of them would open more than the agent's own
 */
export async function configMounts(
  { title, config, read_only = [] }: Pick<ForeignAgent, "title" | "config" | "read_only">,
  place: ConfigPlace,
): Promise<readonly Mount[]> {
  const { HOME: home = "/" } = place.environment;
  const mounts: Mount[] = [];
  const entries = [
    ...config.map((entry) => ({ entry, kind: "write" as const })),
    ...read_only.map((entry) => ({ entry, kind: "read" as const })),
  ];
  for (const { entry, kind } of entries) {
    const path = configPath(entry, home);
    const problem = problemOf(path, place);
    if (problem !== undefined) throw new Error(`Cannot start ${title}: its config ${entry} ${problem}.`);
    await make(path);
    const real = await Deno.realPath(path);
    const again = problemOf(real, place);
    if (again !== undefined) throw new Error(`Cannot start ${title}: its config ${entry} ${again}.`);
    const own = join(await Deno.realPath(dirname(path)), path.slice(path.lastIndexOf("/") + 1));
    for (const place of new Set([real, own])) {
      if (kind === "read" && (await Deno.stat(real)).isDirectory) mounts.push(...readOnlyFolder(place, real));
      else mounts.push({ kind, path: place, source: real });
    }
  }
  return mounts;
}

/** Its files stay as they are. New ones vanish with the sandbox: some agents do not start where they cannot write. */
function readOnlyFolder(path: string, source: string): readonly Mount[] {
  const entries = [...Deno.readDirSync(source)].map(({ name, isSymlink }): Mount => {
    const entry = join(path, name);
    const real = join(source, name);
    return isSymlink
      ? { kind: "link", path: entry, target: Deno.readLinkSync(real) }
      : { kind: "read", path: entry, source: real };
  });
  return [{ kind: "small_scratch", path }, ...entries];
}

/** @param entry absolute, or beginning with "~/" */
export function configPath(entry: string, home: string): string {
  return normalize(entry.startsWith("~/") ? join(home, entry.slice(2)) : entry).replace(/\/$/, "");
}

/** The entries that hold more than what `configMounts` has created. */
export async function usedConfig(
  { config, read_only = [] }: Pick<ForeignAgent, "config" | "read_only">,
  home: string,
): Promise<readonly string[]> {
  const created = read_only.map((entry) => configPath(entry, home));
  const isUsed = async (path: string): Promise<boolean> => {
    try {
      const { isDirectory, size } = await Deno.stat(path);
      if (!isDirectory) return size > (EMPTY[extname(path)] ?? "").length;
      const names = await Array.fromAsync(Deno.readDir(path), ({ name }) => join(path, name));
      return names.some((name) => !created.includes(name));
    } catch {
      return false;
    }
  };
  const used = await Promise.all(config.map((entry) => isUsed(configPath(entry, home))));
  return config.filter((_, at) => used[at]);
}

/** The end of a sentence. */
function problemOf(path: string, { roots, stateDir, environment }: ConfigPlace): string | undefined {
  if (!path.startsWith("/")) return 'must be absolute or begin with "~/"';
  const { HOME: home = "/" } = environment;
  const closed = [home, stateDir, ...roots].map((other) => realPath(other) ?? other);
  const [, ...others] = closed;
  const isClosed = closed.some((other) => isInside(other, path)) ||
    others.some((other) => isInside(path, other));
  return isClosed ? "contains the project, your home folder or a folder of this plugin" : undefined;
}

/** Valid files without settings. */
const EMPTY: Readonly<Record<string, string>> = { ".json": "{}\n", ".toml": "" };

async function make(path: string): Promise<void> {
  if (realPath(path) !== undefined) return;
  const content = EMPTY[extname(path)];
  if (content === undefined) return await Deno.mkdir(path, { recursive: true, mode: 0o700 });
  await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(path, content, { createNew: true, mode: 0o600 });
}

function realPath(path: string): string | undefined {
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined;
  }
}
