/** Listed changes over an overlay: which of them were approved, and their contents. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import type { CommandEffects } from "../../protocol/commands.ts";
import type { KeptChange, ScreenResult } from "../../protocol/screen_requests.ts";
import { defined } from "../../shared/records.ts";
import type { Change, OverlayChanges } from "./overlay/changes.ts";
import { infoAt, modeOf } from "./overlay/layer.ts";

/** One change of a command, or the part of it that cannot be kept. */
export interface Effect extends Partial<Change> {
  /** Absolute. */
  readonly path: string;
  /** Index of its root. */
  readonly root: number;
  /** Relative to its root. */
  readonly inRoot: string;
  /** Why it cannot be kept, half a sentence. */
  readonly refused?: string;
}

/** Dropped changes, and why. */
interface Left {
  readonly path: string;
  readonly why: string;
}

/** Changes in one answer. */
const MOST_CHANGES = 2_000;
const MOST_LEFT = 50;
const MOST_PARTS = 4_000;
const MOST_BYTES = 2 ** 20;
/** Bytes of a text that is shown. */
const LARGEST_TEXT = 200_000;

interface ListedOptions {
  /** Real paths. */
  readonly roots: readonly string[];
  /** The originals must not have changed since then: milliseconds since 1970, by the file system's clock. */
  readonly since: number;
  /** The path of a changed file's new content. */
  contentOf(effect: Pick<Effect, "root" | "inRoot">): string;
  /** The path of the original. */
  originalOf(effect: Pick<Effect, "root" | "inRoot">): string;
}

export class ListedChanges {
  /** Folders precede their contents. */
  readonly effects: readonly Effect[];
  readonly #options: ListedOptions;
  #kept: readonly KeptChange[] = [];
  #sources: readonly Effect[] = [];
  #left: readonly Left[] = [];
  #approved: ReadonlySet<string> | undefined;

  constructor(effects: readonly Effect[], options: ListedOptions) {
    this.effects = effects;
    this.#options = options;
  }

  /** For the engine; undefined if nothing can be kept. */
  get summary(): CommandEffects | undefined {
    const changes = this.effects.length;
    return changes === 0 ? undefined : { changes, started: this.#options.since };
  }

  /** Both versions of a file, if they are text that can be shown; undefined for a missing one. */
  texts(effect: Effect): { readonly before?: string; readonly after: string } | undefined {
    const { before, after } = effect;
    if (after?.type !== "file" || after.size > LARGEST_TEXT || (before !== undefined && before !== "file")) {
      return undefined;
    }
    const was = before === undefined ? undefined : textAt(this.#options.originalOf(effect));
    const is = textAt(this.#options.contentOf(effect));
    if (is === undefined || (before !== undefined && was === undefined)) return undefined;
    return { ...defined({ before: was }), after: is };
  }

  /**
   * Allows the engine to fetch the approved changes, and no others. @param why returns why a change is
   * dropped
   */
  keep(why: (effect: Effect) => string | undefined): void {
    const reasons = this.effects.map((effect) => effect.refused ?? why(effect));
    this.#sources = this.effects.filter((_, index) => reasons[index] === undefined);
    this.#kept = this.#sources.map(({ path, root, before, after, from }) => ({
      path,
      ...defined({ before, after }),
      ...(from === undefined ? {} : { from: join(this.#options.roots[root] ?? "", from) }),
    }));
    this.#approved = new Set(
      this.#kept.flatMap(({ path, from }) => from === undefined ? [path] : [path, from]),
    );
    this.#left = this.effects.flatMap(({ path }, index) => {
      const reason = reasons[index];
      return reason === undefined ? [] : [{ path, why: reason }];
    });
  }

  /** The paths of the approved changes; undefined before {@link keep}. */
  get approved(): ReadonlySet<string> | undefined {
    return this.#approved;
  }

  /** Whether the approved changes contain a link to this target in this folder. */
  keepsLink(folder: string, target: string): boolean {
    return this.#kept.some(({ path, after }) =>
      after?.type === "link" && after.target === target && dirname(path) === folder
    );
  }

  /** Whether the approved changes contain this file. */
  keeps(path: string): boolean {
    return this.#kept.some((change) => change.path === path || change.from === path);
  }

  kept(from: number): ScreenResult<"kept_changes"> {
    const next = from + MOST_CHANGES;
    return {
      changes: this.#kept.slice(from, next),
      ...(next < this.#kept.length ? { next } : {}),
      left: from === 0 ? this.#left.slice(0, MOST_LEFT) : [],
      leftMore: from === 0 ? Math.max(0, this.#left.length - MOST_LEFT) : 0,
    };
  }

  /** @throws {Error} if a content differs from the listed one */
  contents(from: ScreenResult<"kept_contents">["next"] & object): ScreenResult<"kept_contents"> {
    const parts: { change: number; base64: string }[] = [];
    let left = MOST_BYTES;
    let { change, offset } = from;
    while (change < this.#kept.length && left > 0 && parts.length < MOST_PARTS) {
      const { after } = this.#kept[change] ?? {};
      const size = after?.type === "file" ? after.size : 0;
      const length = Math.min(left, size - offset);
      if (length > 0) {
        const bytes = this.#read(change, offset, length);
        parts.push({ change, base64: bytes.toBase64() });
        left -= length;
        offset += length;
      }
      if (offset >= size) [change, offset] = [change + 1, 0];
    }
    return { parts, ...(change < this.#kept.length ? { next: { change, offset } } : {}) };
  }

  #read(change: number, offset: number, length: number): Uint8Array {
    const { root = 0, inRoot = "" } = this.#sources[change] ?? {};
    const bytes = readAt(this.#options.contentOf({ root, inRoot }), offset, length);
    if (bytes?.length !== length) throw new Error(`${inRoot} is not what it was when it was listed`);
    return bytes;
  }
}

/** The reason for a change that cannot be kept because somebody else changed the file. */
export const CHANGED_MEANWHILE = "changed meanwhile";

/** @param conflictOf the part of an effect that refuses it */
export function effectsOf(
  found: readonly OverlayChanges[],
  roots: readonly string[],
  conflictOf: (change: Change, root: number) => Pick<Effect, "refused">,
): readonly Effect[] {
  return found.flatMap(({ changes, refused }, root) => {
    const at = (inRoot: string) => ({ path: join(roots[root] ?? "", inRoot), root, inRoot });
    return [
      ...changes.map((change) => ({ ...change, ...at(change.path), ...conflictOf(change, root) })),
      ...refused.map(({ path, reason }) => ({ ...at(path), refused: reason })),
    ];
  });
}

/** Undefined if it is not UTF-8 text. */
function textAt(path: string): string | undefined {
  const size = infoAt(path)?.size ?? Infinity;
  const bytes = size > LARGEST_TEXT ? undefined : readAt(path, 0, size);
  if (bytes === undefined || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Follows no links. Undefined if the file cannot be read. */
function readAt(path: string, offset: number, length: number): Uint8Array | undefined {
  const bytes = new Uint8Array(length);
  let file: number | undefined;
  try {
    const info = Deno.lstatSync(path);
    // A command may have removed read permission; the list already has its mode.
    if ((modeOf(info) & 0o400) === 0) Deno.chmodSync(path, modeOf(info) | 0o400);
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    let filled = 0;
    while (filled < length) {
      const count = readSync(file, bytes, filled, length - filled, offset + filled);
      if (count === 0) break;
      filled += count;
    }
    return bytes.subarray(0, filled);
  } catch {
    return undefined;
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
