/** One command over an overlay, and its changes. */
import { join } from "node:path";
import { isChangedSince } from "../../protocol/commands.ts";
import { messageOf } from "../../shared/errors.ts";
import { CHANGED_MEANWHILE, type Effect, effectsOf, ListedChanges } from "./listed_changes.ts";
import type { Change } from "./overlay/changes.ts";
import { infoAt } from "./overlay/layer.ts";
import { Overlay, type OverlayOptions } from "./overlay/overlay.ts";

export class Rehearsal implements AsyncDisposable {
  readonly enter: readonly string[];
  readonly #overlay: Overlay;
  readonly #roots: readonly string[];
  readonly #isKept: boolean;
  readonly #stop = new AbortController();
  #changes: ListedChanges | undefined;
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
    if (this.changes === undefined) this[Symbol.asyncDispose]().catch(() => {});
    return notes;
  }

  async #list(): Promise<void> {
    const overlay = this.#overlay;
    const found = await overlay.list(this.#stop.signal);
    const effects = effectsOf(found, this.#roots, (change, root) => this.#conflict(change, root));
    this.#changes = new ListedChanges(effects, {
      roots: this.#roots,
      since: overlay.started,
      contentOf: ({ root, inRoot }) => join(overlay.upper(root), inRoot),
      originalOf: ({ root, inRoot }) => join(overlay.lower(root), inRoot),
    });
  }

  /** Undefined without any. */
  get changes(): ListedChanges | undefined {
    return this.#changes?.summary === undefined ? undefined : this.#changes;
  }

  /** The original has changed since the command began. */
  #conflict({ path, before }: Change, root: number): Pick<Effect, "refused"> {
    if (before === undefined || before === "folder") return {};
    const info = infoAt(join(this.#overlay.lower(root), path));
    return info === undefined || isChangedSince(info, this.#overlay.started)
      ? { refused: CHANGED_MEANWHILE }
      : {};
  }

  /** Also cancels a list in progress. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    return this.#disposed ??= this.#overlay[Symbol.asyncDispose]();
  }
}

const TRIED = "what it wrote was not kept, as its access is try";
const CUT_OFF = "it was cut off: nothing that it changed was kept";
