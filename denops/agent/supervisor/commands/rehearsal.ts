/** One command over an overlay: its changes, which of them were approved, and their contents. */
import { closeSync, constants, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { type CommandEffects, isChangedSince } from "../../protocol/commands.ts";
import type { KeptChange, ScreenResult } from "../../protocol/screen_requests.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import type { Change } from "./overlay/changes.ts";
import { infoAt, modeOf } from "./overlay/layer.ts";
import { Overlay, type OverlayOptions } from "./overlay/overlay.ts";

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

export class Rehearsal implements AsyncDisposable {
  readonly enter: readonly string[];
  readonly #overlay: Overlay;
  readonly #roots: readonly string[];
  readonly #isKept: boolean;
  readonly #stop = new AbortController();
  #effects: readonly Effect[] = [];
  #kept: readonly KeptChange[] = [];
  #sources: readonly Effect[] = [];
  #left: readonly Left[] = [];
  #disposed: Promise<void> | undefined;

  private constructor(overlay: Overlay, { roots }: OverlayOptions, isKept: boolean) {
    this.enter = overlay.enter;
    this.#overlay = overlay;
    this.#roots = roots;
    this.#isKept = isKept;
  }

  /** @param isKept whether its changes may be kept @throws {Error} one line, after removing everything */
  static async start(options: OverlayOptions, isKept: boolean): Promise<Rehearsal> {
    return new Rehearsal(await Overlay.start(options), options, isKept);
  }

  isPastLimits(): Promise<boolean> {
    return this.#overlay.isPastLimits();
  }

  /**
   * Call this when all its processes have ended. If nothing can be kept, it removes everything.
   * @param whole whether the command ended normally
   * @returns notes for the model, a line each
   */
  async finish(whole: boolean): Promise<readonly string[]> {
    const notes: string[] = [];
    try {
      if (this.#isKept && whole) await this.#list();
      else if (!this.#overlay.isUntouched) notes.push(this.#isKept ? CUT_OFF : TRIED);
    } catch (error) {
      notes.push(`nothing was kept: ${messageOf(error)}`);
    }
    if (this.#effects.length === 0) this[Symbol.asyncDispose]().catch(() => {});
    return notes;
  }

  async #list(): Promise<void> {
    const found = await this.#overlay.list(this.#stop.signal);
    this.#effects = found.flatMap(({ changes, refused }, root) => {
      const at = (inRoot: string) => ({ path: join(this.#roots[root] ?? "", inRoot), root, inRoot });
      return [
        ...changes.map((change) => ({ ...change, ...at(change.path), ...this.#conflict(change, root) })),
        ...refused.map(({ path, reason }) => ({ ...at(path), refused: reason })),
      ];
    });
  }

  /** The original has changed since the command began. */
  #conflict({ path, before }: Change, root: number): Pick<Effect, "refused"> {
    if (before === undefined || before === "folder") return {};
    const info = infoAt(join(this.#overlay.lower(root), path));
    return info === undefined || isChangedSince(info, this.#overlay.started) ? { refused: MEANWHILE } : {};
  }

  /** Folders precede their contents. */
  get effects(): readonly Effect[] {
    return this.#effects;
  }

  /** For the engine; undefined if nothing can be kept. */
  get summary(): CommandEffects | undefined {
    const changes = this.#effects.length;
    return changes === 0 ? undefined : { changes, started: this.#overlay.started };
  }

  /** Both versions of a file, if they are text that can be shown; undefined for a missing one. */
  texts(
    { root, inRoot, before, after }: Effect,
  ): { readonly before?: string; readonly after: string } | undefined {
    if (after?.type !== "file" || after.size > LARGEST_TEXT || (before !== undefined && before !== "file")) {
      return undefined;
    }
    const [was, is] = [
      before === undefined ? undefined : textAt(join(this.#overlay.lower(root), inRoot)),
      textAt(join(this.#overlay.upper(root), inRoot)),
    ];
    if (is === undefined || (before !== undefined && was === undefined)) return undefined;
    return { ...defined({ before: was }), after: is };
  }

  /**
   * Allows the engine to fetch the approved changes, and no others. @param why returns why a change is
   * dropped
   */
  keep(why: (effect: Effect) => string | undefined): void {
    const reasons = this.#effects.map((effect) => effect.refused ?? why(effect));
    this.#sources = this.#effects.filter((_, index) => reasons[index] === undefined);
    this.#kept = this.#sources.map(({ path, root, before, after, from }) => ({
      path,
      ...defined({ before, after }),
      ...(from === undefined ? {} : { from: join(this.#roots[root] ?? "", from) }),
    }));
    this.#left = this.#effects.flatMap(({ path }, index) => {
      const reason = reasons[index];
      return reason === undefined ? [] : [{ path, why: reason }];
    });
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
    const path = join(this.#overlay.upper(root), inRoot);
    const bytes = readAt(path, offset, length);
    if (bytes?.length !== length) throw new Error(`${inRoot} is not what it was when it was listed`);
    return bytes;
  }

  /** Also cancels a list in progress. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    return this.#disposed ??= this.#overlay[Symbol.asyncDispose]();
  }
}

const TRIED = "what it wrote was not kept, as its access is try";
const CUT_OFF = "it was cut off: nothing that it changed was kept";
const MEANWHILE = "changed meanwhile";

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
