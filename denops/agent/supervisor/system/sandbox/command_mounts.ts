/** The mounts of a command at its level: visible_places.ts and the options, as far as the paths exist. */
import { accessSync, constants, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isInside } from "../../../policy/path.ts";
import type { CommandLevel } from "../../../protocol/commands.ts";
import type { SystemLayout } from "../sandbox.ts";
import type { Mount } from "./mounts.ts";
import { HIDDEN, SHOWN } from "./visible_places.ts";

interface PlanRequest {
  readonly level: CommandLevel;
  /** Real paths of the workspace's roots. */
  readonly roots: readonly string[];
  readonly home: string | undefined;
  readonly system: SystemLayout;
  /** Further paths that git needs, and paths that are read-only. */
  readonly git: { readonly bound: readonly string[]; readonly guarded: readonly string[] };
  readonly masks: { readonly folders: readonly string[]; readonly files: readonly string[] };
  /** Hidden folders inside of the roots. */
  readonly hidden: readonly string[];
  /** The options command_read and command_write; paths in the home folder may begin with "~/". */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Paths of Neovim and of the agent: never visible, wherever they are. */
  readonly own: readonly string[];
  /** A visible folder inside of the agent's own. */
  readonly scratch?: string | undefined;
  /** A file that replaces the user's git configuration. */
  readonly gitConfig: string | undefined;
}

export function commandMounts(request: PlanRequest): readonly Mount[] {
  const { level, roots, home, system, git, masks, gitConfig, scratch } = request;
  const kind = level === "look" ? "read" : "write";
  const inHome = home === undefined ? [] : homeMounts(home, gitConfig);
  const toolchains = SHOWN.flatMap(({ path }) => visibleMounts("read", expanded(path, home)));
  const closed = HIDDEN.flatMap(({ path }) => expandedAll(path, home)).flatMap(hidden);
  const places: readonly Mount[] = [
    ...system.folders.map((path): Mount => ({ kind: "read", path })),
    ...system.links.map(({ path, target }): Mount => ({ kind: "link", path, target })),
    ...(system.resolvConf === undefined ? [] : [{ kind: "read", path: system.resolvConf } as const]),
    { kind: "scratch", path: "/tmp" },
    ...["/var/tmp", "/run", "/dev/shm"].map((path): Mount => ({ kind: "small_scratch", path })),
    ...inHome,
    ...toolchains,
    ...closed,
    ...toolchains.flatMap((place) => byOtherName(closed, place)),
    ...unreadable().flatMap(hidden),
    ...request.read.flatMap((path) => visibleMounts("read", expanded(path, home))),
    ...request.write.flatMap((path) => visibleMounts(kind, expanded(path, home))),
    ...roots.map((path): Mount => ({ kind, path })),
    ...git.bound.map((path): Mount => ({ kind, path })),
    ...git.guarded.map((path): Mount => ({ kind: "read", path })),
  ];
  // A path that is not visible need not be hidden.
  const isVisible = ({ path }: Mount) =>
    places.some((place) => (place.kind === "read" || place.kind === "write") && isInside(path, place.path));
  return [
    ...places,
    ...besides(roots, home).filter((mount) => !isVisible(mount)),
    ...[
      ...masks.folders.map((path): Mount => ({ kind: "hidden_folder", path })),
      ...masks.files.map((path): Mount => ({ kind: "hidden_file", path })),
      ...[...request.hidden, ...request.own].flatMap(hidden),
    ].filter(isVisible).map((mount) => openedFor(scratch, mount)),
    ...(scratch === undefined ? [] : [{ kind, path: scratch } as const]),
  ];
}

/** Nothing can be mounted in a hidden folder. */
function openedFor(scratch: string | undefined, mount: Mount): Mount {
  const isAround = scratch !== undefined && mount.kind === "hidden_folder" && isInside(scratch, mount.path);
  return isAround ? { kind: "closed_folder", path: mount.path } : mount;
}

/**
 * Makes folders beside the project read-only. Otherwise a command would report success, and its output there,
 * such as a worktree or a build, would vanish with the sandbox.
 */
function besides(roots: readonly string[], home: string | undefined): readonly Mount[] {
  const real = home === undefined ? undefined : realPath(home);
  return roots.map((root) => dirname(root))
    .filter((path) => real !== undefined && path !== real && isInside(path, real))
    .map((path): Mount => ({ kind: "closed_folder", path }));
}

/** A home folder of its own, empty except for visible paths. */
function homeMounts(home: string, gitConfig: string | undefined): readonly Mount[] {
  const real = realPath(home) ?? home;
  // A user without a home folder has the root of the file system.
  if (real === "/") return [];
  return [
    { kind: "scratch", path: real },
    ...(real === home ? [] : [{ kind: "link", path: home, target: real } as const]),
    ...(gitConfig === undefined
      ? []
      : [{ kind: "read", path: join(real, ".gitconfig"), source: gitConfig } as const]),
  ];
}

/** The existing real folders of the option command_write. */
function writtenFolders(paths: readonly string[], home: string | undefined): readonly string[] {
  return paths.flatMap((name) => {
    const path = expanded(name, home);
    const real = path === undefined ? undefined : realPath(path);
    return real !== undefined && stat(real)?.isDirectory ? [real] : [];
  });
}

/** The same, without folders that contain one of the others or are inside of one. */
export function writtenBeside(
  others: readonly string[],
  paths: readonly string[],
  home: string | undefined,
): readonly string[] {
  return writtenFolders(paths, home)
    .filter((path) => !others.some((other) => isInside(other, path) || isInside(path, other)));
}

/** Undefined for a path in a missing home folder. */
function expanded(path: string, home: string | undefined): string | undefined {
  if (!path.startsWith("~/")) return path;
  return home === undefined ? undefined : join(realPath(home) ?? home, path.slice(2));
}

/** Hides hidden paths also under the name of a link to their folder. */
function byOtherName(closed: readonly Mount[], place: Mount): readonly Mount[] {
  const source = place.kind === "read" ? place.source : undefined;
  if (source === undefined) return [];
  return closed.filter(({ path }) => isInside(path, source))
    .map((mount): Mount => ({ ...mount, path: place.path + mount.path.slice(source.length) }));
}

/** Expands "*" to all existing names. */
function expandedAll(path: string, home: string | undefined): readonly string[] {
  const [first = "", ...rest] = expanded(path, home)?.split("/*") ?? [];
  return rest.reduce<readonly string[]>(
    (found, part) => found.flatMap((folder) => namesIn(folder).map((name) => `${folder}/${name}${part}`)),
    first === "" ? [] : [first],
  );
}

function namesIn(folder: string): readonly string[] {
  try {
    return existsSync(folder) ? Array.from(Deno.readDirSync(folder), ({ name }) => name) : [];
  } catch {
    return [];
  }
}

/** Mounts the target of a link, and the target under the name of the link. */
function visibleMounts(kind: "read" | "write", path: string | undefined): readonly Mount[] {
  const real = path === undefined ? undefined : realPath(path);
  if (path === undefined || real === undefined) return [];
  const folder = realPath(dirname(path));
  const own = folder === undefined ? path : join(folder, path.slice(path.lastIndexOf("/") + 1));
  return own === real ? [{ kind, path: real }] : [{ kind, path: real }, { kind, path: own, source: real }];
}

function hidden(path: string): readonly Mount[] {
  const real = realPath(path);
  const info = real === undefined ? undefined : stat(real);
  if (real === undefined || info === undefined) return [];
  return [{ kind: info.isDirectory ? "hidden_folder" : "hidden_file", path: real }];
}

let found: readonly string[] | undefined;

/**
 * Files in /etc that are not readable for everybody. Checked once, because they only change with the system.
 */
function unreadable(): readonly string[] {
  found ??= closedTo("/etc", 3);
  return found;
}

const READ_BY_ALL = 0o004;
const LISTED_BY_ALL = 0o005;

function isOpen(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function closedTo(folder: string, depth: number): readonly string[] {
  const paths: string[] = [];
  try {
    for (const entry of Deno.readDirSync(folder)) {
      const path = join(folder, entry.name);
      const mode = entry.isSymlink ? undefined : stat(path)?.mode;
      if (mode === undefined || mode === null) continue;
      const needed = entry.isDirectory ? LISTED_BY_ALL : READ_BY_ALL;
      if ((mode & needed) !== needed) {
        // Files that the user cannot read need no mount, and each mount costs time.
        if (isOpen(path)) paths.push(path);
      } else if (entry.isDirectory && depth > 0) paths.push(...closedTo(path, depth - 1));
    }
  } catch {
    // An unreadable folder is closed to everybody else too.
  }
  return paths;
}

function realPath(path: string): string | undefined {
  // Most paths do not exist, and an error takes ten times as long.
  if (!existsSync(path)) return undefined;
  try {
    return Deno.realPathSync(path);
  } catch {
    return undefined;
  }
}

function stat(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.statSync(path);
  } catch {
    return undefined;
  }
}
