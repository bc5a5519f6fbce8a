/** The project after all changes of a command are kept: resolves its links, and finds all names of a path. */
import { basename, dirname, isAbsolute, join } from "node:path";
import { isInside } from "../../policy/path.ts";
import type { OverlayEntry } from "./overlay/changes.ts";
import { infoAt, kindOf } from "./overlay/layer.ts";
import type { Effect } from "./listed_changes.ts";

/** The limit of Linux. */
const MOST_HOPS = 40;
/** Limit for links and other entries that are checked in the project's folders. */
const MOST_ENTRIES = 20_000;
/** Limit for the names of one path. */
const MOST_NAMES = 64;

type Found = OverlayEntry["type"] | "other";

interface NewTreePath {
  /** The real path; missing parts count as folders. */
  readonly path: string;
  /** Everything that was passed on the way, including links. */
  readonly passed: readonly string[];
}

interface KnownLink {
  readonly path: string;
  /** Real path. */
  readonly target: string;
}

export class NewTree {
  readonly #changed: ReadonlyMap<string, OverlayEntry | undefined>;
  readonly #children: ReadonlyMap<string, readonly string[]>;
  readonly #roots: readonly string[];
  /** By target, because a package manager makes thousands. */
  readonly #links: ReadonlyMap<string, readonly KnownLink[]>;
  #entries = MOST_ENTRIES;

  /** @param roots real paths */
  constructor(effects: readonly Effect[], roots: readonly string[]) {
    this.#roots = roots;
    const changes = effects.filter(({ refused }) => refused === undefined);
    this.#changed = new Map(changes.map(({ path, after }) => [path, after]));
    this.#children = new Map(
      [...Map.groupBy(this.#changed.keys(), (path) => dirname(path))]
        .map(([folder, paths]) => [folder, paths.map((path) => basename(path))]),
    );
    this.#links = Map.groupBy(this.#linksAround(), ({ target }) => target);
  }

  /** Undefined for circular links. */
  resolve(path: string): NewTreePath | undefined {
    const passed: string[] = [];
    let parts = path.split("/");
    let at = "/";
    for (let hops = 0; parts.length > 0;) {
      const [part = "", ...rest] = parts;
      parts = rest;
      if (part === "" || part === ".") continue;
      if (part === "..") {
        at = dirname(at);
        continue;
      }
      const next = join(at, part);
      passed.push(next);
      const target = this.#target(next);
      if (target === undefined) at = next;
      else {
        if (++hops > MOST_HOPS) return undefined;
        if (isAbsolute(target)) at = "/";
        parts = [...target.split("/"), ...parts];
      }
    }
    return { path: at, passed };
  }

  /** The real path, and the names that links in the project give it. */
  names(path: string): readonly string[] {
    const names = new Set([path]);
    for (const name of names) {
      for (let at = name; at !== dirname(at); at = dirname(at)) {
        for (const link of this.#links.get(at) ?? []) {
          if (names.size >= MOST_NAMES) return [...names];
          names.add(link.path + name.slice(at.length));
        }
      }
    }
    return [...names];
  }

  /** Files below a folder of the project, relative to it. Undefined if there are too many. */
  filesBelow(folder: string): readonly string[] | undefined {
    if (!this.#isOwn(folder)) return [];
    const files: string[] = [];
    const folders = [""];
    for (let below = folders.pop(); below !== undefined; below = folders.pop()) {
      for (const name of this.#namesIn(join(folder, below))) {
        if (--this.#entries < 0) return undefined;
        const inside = join(below, name);
        const type = this.#typeOf(join(folder, inside));
        if (type === "folder") folders.push(inside);
        else if (type !== undefined) files.push(inside);
      }
    }
    return files;
  }

  #typeOf(path: string): Found | undefined {
    return this.#changed.has(path) ? this.#changed.get(path)?.type : kindOf(infoAt(path));
  }

  #target(path: string): string | undefined {
    if (this.#changed.has(path)) {
      const entry = this.#changed.get(path);
      return entry?.type === "link" ? entry.target : undefined;
    }
    return infoAt(path)?.isSymlink ? Deno.readLinkSync(path) : undefined;
  }

  #namesIn(folder: string): readonly string[] {
    const isNew = this.#changed.has(folder) && !infoAt(folder)?.isDirectory;
    const old = isNew ? [] : namesOnDisk(folder);
    return [...new Set([...old, ...this.#children.get(folder) ?? []])];
  }

  /** Links among the changes, and links in folders that contain a change. */
  #linksAround(): readonly KnownLink[] {
    const folders = new Set<string>(this.#roots);
    for (const path of this.#changed.keys()) {
      for (let at = dirname(path); !folders.has(at) && at !== dirname(at); at = dirname(at)) folders.add(at);
    }
    const links = new Set<string>();
    for (const folder of folders) {
      for (const name of this.#namesIn(folder)) {
        if (--this.#entries < 0) break;
        const path = join(folder, name);
        if (this.#typeOf(path) === "link") links.add(path);
      }
    }
    this.#entries = MOST_ENTRIES;
    return [...links].flatMap((path) => {
      const target = this.resolve(path)?.path;
      return target !== undefined && this.#isOwn(target) ? [{ path, target }] : [];
    });
  }

  #isOwn(path: string): boolean {
    return this.#roots.some((root) => isInside(path, root));
  }
}

function namesOnDisk(folder: string): readonly string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch {
    return [];
  }
}
