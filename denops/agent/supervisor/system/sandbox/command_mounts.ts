/** Which places of this machine a command sees at its level: what visible_places.ts and the options say, as far as it is there. */
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
  /** What git needs beside, or is to be kept from. */
  readonly git: { readonly bound: readonly string[]; readonly guarded: readonly string[] };
  readonly masks: { readonly folders: readonly string[]; readonly files: readonly string[] };
  /** Folders that are hidden although they are in a root. */
  readonly hidden: readonly string[];
  /** The options command_read and command_write; those in the home folder may begin with "~/". */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Of Neovim and of the agent: never visible, wherever they lie. */
  readonly own: readonly string[];
  /** A folder of the agent's that is visible nevertheless. */
  readonly scratch?: string | undefined;
  /** A file that stands for the user's git configuration. */
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
  // Where nothing of it is visible there is nothing to hide.
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

/** In a hidden folder nothing can be mounted. */
function openedFor(scratch: string | undefined, mount: Mount): Mount {
  const isAround = scratch !== undefined && mount.kind === "hidden_folder" && isInside(scratch, mount.path);
  return isAround ? { kind: "closed_folder", path: mount.path } : mount;
}

/**
 * What a command writes beside the project would be gone with it, and the command would say that it has worked: a new
 * work tree of git's, a build. So it is refused.
 */
function besides(roots: readonly string[], home: string | undefined): readonly Mount[] {
  const real = home === undefined ? undefined : realPath(home);
  return roots.map((root) => dirname(root))
    .filter((path) => real !== undefined && path !== real && isInside(path, real))
    .map((path): Mount => ({ kind: "closed_folder", path }));
}

/** A home folder of its own, empty but for what is shown. */
function homeMounts(home: string, gitConfig: string | undefined): readonly Mount[] {
  const real = realPath(home) ?? home;
  // Who has none is given the root of the file system.
  if (real === "/") return [];
  return [
    { kind: "scratch", path: real },
    ...(real === home ? [] : [{ kind: "link", path: home, target: real } as const]),
    ...(gitConfig === undefined
      ? []
      : [{ kind: "read", path: join(real, ".gitconfig"), source: gitConfig } as const]),
  ];
}

/** The real folders of the option command_write that are there. */
function writtenFolders(paths: readonly string[], home: string | undefined): readonly string[] {
  return paths.flatMap((path) => {
    const named = expanded(path, home);
    const real = named === undefined ? undefined : realPath(named);
    return real !== undefined && stat(real)?.isDirectory ? [real] : [];
  });
}

/** The same, without folders that contain one of the others or are inside one. */
export function writtenBeside(
  others: readonly string[],
  paths: readonly string[],
  home: string | undefined,
): readonly string[] {
  return writtenFolders(paths, home)
    .filter((path) => !others.some((other) => isInside(other, path) || isInside(path, other)));
}

/** Undefined for a place in the home folder where there is none. */
function expanded(path: string, home: string | undefined): string | undefined {
  if (!path.startsWith("~/")) return path;
  return home === undefined ? undefined : join(realPath(home) ?? home, path.slice(2));
}

/** What is hidden in a folder is hidden by the name of a link to the folder, too. */
function byOtherName(closed: readonly Mount[], place: Mount): readonly Mount[] {
  const source = place.kind === "read" ? place.source : undefined;
  if (source === undefined) return [];
  return closed.filter(({ path }) => isInside(path, source))
    .map((mount): Mount => ({ ...mount, path: place.path + mount.path.slice(source.length) }));
}

/** With each name that is there for a "*". */
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

/** A link is followed here: what it leads to is found under its own name, and at its end for those who ask for that. */
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

/** What of /etc not everybody may read. It is looked at once: it changes with the system. */
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
        // What is closed to the user is closed to the user's commands: each mount costs time.
        if (isOpen(path)) paths.push(path);
      } else if (entry.isDirectory && depth > 0) paths.push(...closedTo(path, depth - 1));
    }
  } catch {
    // Then nobody else can list it either.
  }
  return paths;
}

function realPath(path: string): string | undefined {
  // Most of what is asked for is not there, and an error takes ten times as long.
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
