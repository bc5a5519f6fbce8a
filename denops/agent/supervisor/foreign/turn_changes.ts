/**
 * The changes of an agent's turn, merged with what the user has saved meanwhile. Where both have changed the same lines,
 * or nobody knows what the agent began from, the user's file stays and the agent's version is stored beside the session.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { isChangedSince } from "../../protocol/commands.ts";
import { merge3 } from "../../shared/text/merge.ts";
import { type Effect, effectsOf, ListedChanges } from "../commands/listed_changes.ts";
import type { Change, OverlayChanges } from "../commands/overlay/changes.ts";
import { infoAt, kindOf, modeOf, readable } from "../commands/overlay/layer.ts";
import type { TurnRoots } from "../commands/overlay/turn_roots.ts";
import { type Base, LARGEST_MERGED } from "./turn_bases.ts";

interface TurnChangesOptions {
  readonly turnRoots: TurnRoots;
  /** Real paths: its first ones. */
  readonly roots: readonly string[];
  baseOf(root: number, inRoot: string): Base | undefined;
  /** The folder for the agent's versions that are not kept; outside of the project. */
  readonly conflicts: string;
  /** The layer changes again once the agent's processes continue. */
  readonly isOpen: boolean;
  /** Absolute paths of the changes to judge; undefined: all. */
  readonly only: ReadonlySet<string> | undefined;
  /** Names the agent in notes. */
  readonly title: string;
}

type FileEntry = Extract<Change["after"], { type: "file" }>;

/** The treatment of one change. "same": the user's file is already what it would become. */
type Verdict =
  | { readonly type: "plain" | "same" }
  | { readonly type: "merged"; readonly after: FileEntry; readonly content: string }
  /** `why`: half a sentence. */
  | { readonly type: "conflict"; readonly why: string };

const PLAIN = { type: "plain" } as const;
const MOST_NOTES = 10;

/** The result of a turn. */
export interface TurnResult {
  readonly changes: ListedChanges;
  /** Lines for the model and the user. */
  readonly notes: readonly string[];
}

export async function turnChanges(
  found: readonly OverlayChanges[],
  options: TurnChangesOptions,
): Promise<TurnResult> {
  return await new TurnMerge(options).run(found);
}

class TurnMerge {
  readonly #options: TurnChangesOptions;
  /** Paths of contents that are not those of the layer. */
  readonly #contents = new Map<string, string>();
  readonly #conflicts: string[] = [];
  #files = 0;

  constructor(options: TurnChangesOptions) {
    this.#options = options;
  }

  async run(found: readonly OverlayChanges[]): Promise<TurnResult> {
    const { turnRoots, roots, only } = this.#options;
    // The user's later changes are the engine's to find.
    const since = await turnRoots.now();
    const listed = effectsOf(found.slice(0, roots.length), roots, () => ({}));
    const effects: Effect[] = [];
    for (const effect of listed) {
      if (only?.has(effect.path) === false) continue;
      const outcome = effect.refused === undefined ? await this.#judge(effect) : effect;
      if (outcome !== undefined) effects.push(outcome);
    }
    const changes = new ListedChanges(effects, {
      roots,
      since,
      contentOf: (effect) => this.#contentOf(effect),
      originalOf: ({ root, inRoot }) => join(turnRoots.lower(root), inRoot),
    });
    const outside = found.slice(roots.length).some(({ changes }) => changes.length > 0);
    return { changes, notes: [...this.#notes(), ...outside ? [OUTSIDE] : []] };
  }

  #contentOf({ root, inRoot }: Pick<Effect, "root" | "inRoot">): string {
    const { turnRoots, isOpen } = this.#options;
    const other = isOpen ? join(turnRoots.copies, "none") : join(turnRoots.upper(root), inRoot);
    return this.#contents.get(`${root}/${inRoot}`) ?? other;
  }

  /** Undefined: nothing is left of it. */
  async #judge(effect: Effect): Promise<Effect | undefined> {
    const verdict = await this.#verdict(effect);
    switch (verdict.type) {
      case "same":
        return undefined;
      case "merged":
        this.#contents.set(`${effect.root}/${effect.inRoot}`, verdict.content);
        return { ...effect, after: verdict.after };
      case "conflict":
        await this.#store(effect, verdict.why);
        return { ...effect, refused: verdict.why };
      case "plain":
        return this.#options.isOpen ? await this.#pinned(effect) : effect;
    }
  }

  async #verdict(effect: Effect): Promise<Verdict> {
    const { root, inRoot, before, after, lost = [] } = effect;
    const { turnRoots, baseOf } = this.#options;
    const { started } = turnRoots;
    const path = join(turnRoots.lower(root), inRoot);
    // Without an original, a folder on the path may be a link that leads outside.
    const info = before === undefined ? undefined : infoAt(path);
    if (before === "folder") {
      const changed = after?.type === "folder" ? undefined : lost.find((inside) => {
        const info = infoAt(join(path, inside));
        return info === undefined || isChangedSince(info, started);
      });
      return changed === undefined
        ? PLAIN
        : { type: "conflict", why: `you changed ${join(inRoot, changed)} in it meanwhile` };
    }
    const base = after?.type === "folder" ? undefined : baseOf(root, inRoot);
    if (info === undefined) {
      const existed = base !== undefined && base.type !== "absent";
      return existed ? { type: "conflict", why: "you deleted it meanwhile" } : PLAIN;
    }
    if (!isChangedSince(info, started)) return PLAIN;
    if (after === undefined) {
      return this.#isBase(base, path) ? PLAIN : { type: "conflict", why: "you changed it meanwhile" };
    }
    if (after.type !== "file" || kindOf(info) !== "file") {
      return { type: "conflict", why: "you changed it meanwhile" };
    }
    return await this.#merge(effect, after, base, info);
  }

  /** Whether the user's file has the content that the agent began from. */
  #isBase(base: Base | undefined, path: string): boolean {
    const [was, is] = [base?.type === "file" ? bytesAt(base.copy) : undefined, bytesAt(path)];
    return was !== undefined && is !== undefined && isEqual(was, is);
  }

  async #merge(
    { root, inRoot }: Effect,
    after: FileEntry,
    base: Base | undefined,
    info: Deno.FileInfo,
  ): Promise<Verdict> {
    const { turnRoots } = this.#options;
    const [ours, theirs] = [
      bytesAt(join(turnRoots.lower(root), inRoot)),
      bytesAt(join(turnRoots.upper(root), inRoot)),
    ];
    if (ours !== undefined && theirs !== undefined && isEqual(ours, theirs)) {
      return modeOf(info) === after.mode ? { type: "same" } : PLAIN;
    }
    if (base?.type === "absent") return { type: "conflict", why: "you have made a file of this name" };
    const was = base?.type === "file" ? bytesAt(base.copy) : undefined;
    if (was === undefined) {
      return {
        type: "conflict",
        why: "you changed it meanwhile, and its old text is unknown",
      };
    }
    if (ours !== undefined && isEqual(was, ours)) return PLAIN;
    const texts = [was, ours, theirs].map((bytes) => bytes && textOf(bytes));
    const [old, mine, other] = texts;
    if (old === undefined || mine === undefined || other === undefined) {
      return { type: "conflict", why: "you changed it meanwhile, and it is no text that can be merged" };
    }
    const merged = merge3(old, mine, other);
    if (!merged.ok) {
      const lines = merged.conflicts.map(({ line }) => line).slice(0, MOST_NOTES).join(", ");
      return { type: "conflict", why: `you changed the same lines meanwhile (line ${lines})` };
    }
    if (merged.text === mine) return { type: "same" };
    const bytes = new TextEncoder().encode(merged.text);
    const content = await this.#copy("merged", bytes);
    const hash = createHash("sha256").update(bytes).digest("hex");
    return { type: "merged", content, after: { ...after, size: bytes.length, hash } };
  }

  /** Its content is copied, and must be the listed one. */
  async #pinned(effect: Effect): Promise<Effect> {
    const { root, inRoot, after } = effect;
    if (after?.type !== "file") return effect;
    const bytes = readable(() => Deno.readFileSync(join(this.#options.turnRoots.upper(root), inRoot)));
    const hash = bytes && createHash("sha256").update(bytes).digest("hex");
    if (bytes === undefined || hash !== after.hash) {
      return { ...effect, refused: "it is still being written" };
    }
    this.#contents.set(`${root}/${inRoot}`, await this.#copy("pinned", bytes));
    return effect;
  }

  async #copy(folder: string, bytes: Uint8Array): Promise<string> {
    const path = join(this.#options.turnRoots.copies, folder);
    await Deno.mkdir(path, { recursive: true });
    const copy = join(path, String(this.#files++));
    await Deno.writeFile(copy, bytes, { createNew: true, mode: 0o600 });
    return copy;
  }

  /** Stores the agent's version. */
  async #store({ root, inRoot, after }: Effect, why: string): Promise<void> {
    const { turnRoots, conflicts, title } = this.#options;
    if (after?.type !== "file") {
      this.#conflicts.push(
        `${inRoot}: ${why}. Yours stays; ${title} ${after === undefined ? "deleted" : "replaced"} it.`,
      );
      return;
    }
    const copy = join(conflicts, inRoot);
    const bytes = readable(() => Deno.readFileSync(join(turnRoots.upper(root), inRoot)));
    if (bytes === undefined) throw new Error(`${inRoot} cannot be read`);
    await Deno.mkdir(dirname(copy), { recursive: true, mode: 0o700 });
    await Deno.writeFile(copy, bytes, { mode: 0o600 });
    this.#conflicts.push(`${inRoot}: ${why}. Yours stays; the version of ${title} is ${copy}.`);
  }

  #notes(): readonly string[] {
    const more = this.#conflicts.length - MOST_NOTES;
    const notes = this.#conflicts.slice(0, MOST_NOTES);
    return more <= 0
      ? notes
      : [...notes, `${more} more conflicts; their versions are in ${this.#options.conflicts}.`];
  }
}

const OUTSIDE = "Git's folder is outside of the project, so what changed there was not kept.";

function bytesAt(path: string): Uint8Array | undefined {
  const info = infoAt(path);
  if (info?.isFile !== true || info.size > LARGEST_MERGED) return undefined;
  return readable(() => Deno.readFileSync(path));
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, index) => byte === other[index]);
}

/** Undefined if it is not UTF-8 text. */
function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
