/** A command's changes, judged and grouped for the approval. */
import { dirname, join } from "node:path";
import { diffLines } from "../../deps/diff.ts";
import {
  decideEffects,
  type EffectRules,
  type EffectState,
  hasForeignRisk,
  hasOrdinary,
  type JudgedEffect,
  judgeEffect,
  rulesOnChanges,
} from "../../policy/decide_effects.ts";
import type { FileDecision } from "../../policy/file_access.ts";
import { changedKeys } from "../../policy/manifest.ts";
import { nameInRoots } from "../../policy/roots.ts";
import type { SessionTrust } from "../../policy/session_permission.ts";
import type { UserConfig } from "../../protocol/config.ts";
import type { EffectRow } from "../../protocol/ui.ts";
import { NewTree } from "../commands/new_tree.ts";
import type { EndedWork } from "../commands/terminals.ts";
import type { Effect } from "../commands/listed_changes.ts";
import { risks } from "../commands/risks.ts";
import { middleCut, visible } from "../screen/visible.ts";

/**
 * When a file, a folder or a link becomes another of these, its removal and its creation are judged
 * separately.
 */
interface JudgedPart extends JudgedEffect {
  /** The change that is kept or dropped as a whole. */
  readonly effect: Effect;
  /** The part of it that this row judges. */
  readonly part: Effect;
  /** Relative to the project. */
  readonly name: string;
}

interface Row {
  readonly view: EffectRow;
  readonly parts: ReadonlySet<JudgedPart>;
}

/** Rows of one state; beyond it, files are grouped by folder. */
const MOST_ROWS = 100;
/** Characters of all texts on screen. */
const MOST_TEXT = 1_000_000;
const LONGEST_DIFF_MS = 50;
/** Time limit, because the screen waits. */
const MOST_TIME_MS = 200;

const NOT_AGREED = { agreed: false, byUser: false };

const ORDINARY = "ordinary files";

const LEFT_OUT = "the user left it out";

export class EffectsReview {
  #parts: readonly JudgedPart[];
  readonly #work: EndedWork;
  readonly #trust: SessionTrust;
  #rows: readonly Row[] | undefined;

  /** @param roots real paths */
  constructor(
    work: EndedWork,
    roots: readonly string[],
    { rules: all, safe_to_write }: EffectRules,
    trust: SessionTrust,
  ) {
    this.#work = work;
    this.#trust = trust;
    const rules = { rules: rulesOnChanges(all, trust), safe_to_write };
    const { effects } = work.changes;
    const tree = new NewTree(effects, roots);
    const risk = risks(effects, tree, roots);
    const nameOf = (path: string) => nameInRoots(path, roots) ?? path;
    const judgeName = (path: string, part?: Effect) => {
      const name = nameOf(path);
      const texts = () => part?.after === undefined ? {} : work.changes.texts(part);
      return judgeEffect(
        { relative: name, named: name },
        rules,
        part && (() => {
          const change = texts();
          return change && changedKeys(name, change);
        }),
      );
    };
    const parts = effects.flatMap((effect) =>
      partsOf(effect).map((part) => ({
        effect,
        part,
        name: nameOf(effect.path),
        isFolder: isFolder(part),
        ...judge(part, { tree, judgeName, risk }),
      }))
    );
    this.#parts = withoutRoom(parts);
  }

  /** Whether the user is asked. */
  decide(commands: UserConfig["commands"]): FileDecision {
    const work = this.#work;
    if ("grant" in work) return decideEffects(this.#parts, work.grant, commands, this.#trust);
    // Ordinary files are kept unasked, as those that our own tools write.
    const option = work.isComplete ? "project" : "ask";
    const decision = decideEffects(this.#parts, NOT_AGREED, option, this.#trust);
    // No option of the user has decided.
    return decision.rule === "commands = project" ? { ...decision, rule: ORDINARY } : decision;
  }

  /** Whether it asks about changes that no rule can answer for. */
  get isRisky(): boolean {
    return hasForeignRisk(this.#parts, this.#trust);
  }

  /** Rows for the user: sensitive changes are dropped by default, unless nothing else can be approved. */
  rows(): readonly EffectRow[] {
    if (!hasOrdinary(this.#parts)) {
      this.#parts = this.#parts.map((one) => one.state === "left" ? { ...one, state: "kept" } : one);
    }
    return this.#grouped().map(({ view }) => view);
  }

  /** @param numbers of the rows to keep; by default each row's own state decides */
  keep(numbers?: readonly number[]): void {
    const chosen = new Set(
      numbers === undefined
        ? this.#rowed().filter(({ state }) => state === "kept")
        : this.#grouped().filter(({ view }) => view.state !== "refused" && numbers.includes(view.number))
          .flatMap(({ parts }) => [...parts]),
    );
    // A new folder is kept if any of its contents are.
    const around = foldersAround(chosen);
    for (const one of this.#parts) if (isFolder(one.part) && around.has(one.effect.path)) chosen.add(one);
    const open = new Set(this.#parts.filter((one) => !chosen.has(one)).map(({ effect }) => effect));
    // A file that stays in a folder's place leaves no room for the folder's files.
    const closed = new Map([...open].filter(isReplaced).map((effect) => [effect.path, effect]));
    const kept = new Set(
      [...chosen].map(({ effect }) => effect).filter((effect) =>
        !open.has(effect) && nearestAround(effect.path, closed) === undefined
      ),
    );
    const reasons = new Map(
      this.#parts.map(({ effect, state, why }) => [effect, state === "refused" ? why : undefined]),
    );
    this.#work.changes.keep((effect) => kept.has(effect) ? undefined : reasons.get(effect) ?? LEFT_OUT);
  }

  /** Without folders that only contain other changes. */
  #rowed(): readonly JudgedPart[] {
    const around = foldersAround(this.#parts);
    return this.#parts.filter(({ effect, part }) => !isFolder(part) || !around.has(effect.path));
  }

  #grouped(): readonly Row[] {
    if (this.#rows !== undefined) return this.#rows;
    const parts = this.#rowed();
    const texts = new Texts(this.#work);
    const states: readonly EffectState[] = ["left", "kept", "refused"];
    this.#rows = states.flatMap((state) => grouped(parts.filter((one) => one.state === state)))
      .map((group, index) => ({
        view: shownRow(group, index + 1, texts),
        parts: new Set(group.all),
      }));
    return this.#rows;
  }
}

/** In the order in which they happen. */
function partsOf(effect: Effect): readonly Effect[] {
  const { before, after, lost, from: _from, ...others } = effect;
  const isAnother = before !== undefined && after !== undefined && before !== after.type;
  if (!isAnother || effect.refused !== undefined) return [effect];
  const end = { ...others, before, after: undefined };
  return [lost === undefined ? end : { ...end, lost }, { ...others, before: undefined, after }];
}

/** A folder takes the place of something else. */
function isReplaced({ before, after }: Effect): boolean {
  return before !== undefined && before !== "folder" && after?.type === "folder";
}

/** The row of the nearest folder that contains a path. */
function nearestAround<Known>(path: string, known: ReadonlyMap<string, Known>): Known | undefined {
  if (known.size === 0) return undefined;
  for (let at = dirname(path); at !== dirname(at); at = dirname(at)) {
    const found = known.get(at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Another entry in a folder's place leaves no room for the folder's files. */
function withoutRoom(parts: readonly JudgedPart[]): readonly JudgedPart[] {
  const staying = new Map(
    parts.filter(({ state, effect }) => state !== "kept" && isReplaced(effect))
      .map((one) => [one.effect.path, one]),
  );
  return parts.map((one) => {
    const other = nearestAround(one.effect.path, staying);
    return one.state !== "kept" || other === undefined
      ? one
      : { ...one, state: "left", why: `${visible(other.name)} stays in its place` };
  });
}

interface Judges {
  readonly tree: NewTree;
  /** @param part the change at the path; absent for a path that a change removes or renames */
  judgeName(path: string, part?: Effect): JudgedEffect;
  risk(effect: Effect): string | undefined;
}

function judge(effect: Effect, { tree, judgeName, risk }: Judges): JudgedEffect {
  const { path, after, lost = [], refused } = effect;
  if (refused !== undefined) return { state: "refused", why: refused };
  // A folder's verdict is the strictest of its contents.
  const verdict = [
    ...tree.names(path).map((name) => judgeName(name, effect)),
    ...lost.flatMap((inside) => tree.names(`${path}/${inside}`)).map((name) => judgeName(name)),
  ].reduce(stricter);
  if (after?.type === "folder" && verdict.state === "left") return { state: "kept" };
  if (verdict.state !== "kept") return verdict;
  const why = risk(effect);
  if (why !== undefined) return { state: "left", why };
  return after?.type === "link" && verdict.packages !== true
    ? stricter(verdict, judgeContent(path, tree, judgeName))
    : verdict;
}

/** A link gives new names to its target: those count that need more permission than the old ones. */
function judgeContent(link: string, tree: NewTree, judgeName: Judges["judgeName"]): JudgedEffect {
  const target = tree.resolve(link)?.path ?? link;
  const files = tree.filesBelow(target);
  if (files === undefined) return { state: "left", why: "too much is in the folder that it leads to" };
  return files.map((inside): JudgedEffect => {
    const [own, other] = [judgeName(join(target, inside)), judgeName(join(link, inside))];
    return stricter(own, other) === own ? { state: "kept" } : other;
  }).reduce(stricter, { state: "kept" });
}

function stricter(a: JudgedEffect, b: JudgedEffect): JudgedEffect {
  const rank = ({ state, packages }: JudgedEffect) =>
    state === "refused" ? 3 : state === "left" ? 2 : packages === true ? 1 : 0;
  return rank(b) > rank(a) ? b : a;
}

function isFolder({ after }: Effect): boolean {
  return after?.type === "folder";
}

/** All parent folders of these parts. */
function foldersAround(parts: Iterable<JudgedPart>): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const { effect } of parts) {
    for (let folder = dirname(effect.path); !folders.has(folder); folder = dirname(folder)) {
      folders.add(folder);
    }
  }
  return folders;
}

/** One change, or a folder with several. */
interface Group {
  readonly name: string;
  readonly all: readonly [JudgedPart, ...JudgedPart[]];
  readonly isWhole: boolean;
}

/** Opens folders while their contents fit, the smallest first. */
function grouped(parts: readonly JudgedPart[]): readonly Group[] {
  const [first, ...rest] = parts;
  if (first === undefined) return [];
  const groups: Group[] = [{ name: "", all: [first, ...rest], isWhole: true }];
  const closed = new Set(groups);
  while (true) {
    const smallest = [...closed].reduce<Group | undefined>(
      (least, one) => least === undefined || one.all.length < least.all.length ? one : least,
      undefined,
    );
    if (smallest === undefined) return groups;
    closed.delete(smallest);
    const inside = opened(smallest);
    if (groups.length - 1 + inside.length > MOST_ROWS) continue;
    groups.splice(groups.indexOf(smallest), 1, ...inside);
    for (const group of inside) if (group.isWhole) closed.add(group);
  }
}

function opened({ name, all }: Group): readonly Group[] {
  const folders = Map.groupBy(all, (one) => {
    const end = one.name.indexOf("/", name.length);
    return end < 0 ? one : one.name.slice(0, end + 1);
  });
  return [...folders].map(([folder, [first, ...rest]]) => {
    if (first === undefined) throw new Error("an empty group");
    const isWhole = typeof folder === "string";
    return { name: isWhole ? folder : first.name, all: [first, ...rest], isWhole };
  });
}

function shownRow({ name, all, isWhole }: Group, number: number, texts: Texts): EffectRow {
  const [first] = all;
  const whys = new Set(all.map(({ why }) => why));
  const base = { number, path: middleCut(name === "" ? "./" : name), state: first.state };
  const why = first.why ?? "";
  if (isWhole) {
    const note = whys.size === 1 ? why : [...whys].filter((one) => one !== undefined).slice(0, 3).join(", ");
    const kinds = new Set(all.map(({ part }) => whatOf(part)));
    const [what = "modified"] = kinds.size === 1 ? kinds : [];
    return {
      ...base,
      what,
      count: all.length,
      ...(note === "" ? {} : { note: middleCut(note, LONGEST_NOTE) }),
    };
  }
  const { part } = first;
  const both = texts.of(part);
  const note = [why, both === undefined ? noteOf(part) : modeNote(part, both.before === both.after)]
    .filter((one) => one !== "").join(
      ", ",
    );
  return {
    ...base,
    path: base.path + (part.after?.type === "folder" || part.before === "folder" ? "/" : ""),
    what: whatOf(part),
    ...(part.from === undefined ? {} : { from: middleCut(part.from) }),
    ...(note === "" ? {} : { note: middleCut(note, LONGEST_NOTE) }),
    ...both,
  };
}

const LONGEST_NOTE = 160;

function whatOf({ before, after, from }: Effect): EffectRow["what"] {
  if (after === undefined) return "deleted";
  return before !== undefined ? "modified" : from === undefined ? "created" : "renamed";
}

function noteOf({ before, after }: Effect): string {
  if (after === undefined) return "";
  if (after.type === "link") return `leads to ${visible(after.target)}`;
  if (after.type === "folder") return before === undefined ? "" : `mode ${after.mode.toString(8)}`;
  return "not shown as text";
}

/** Changes that a diff does not show. */
function modeNote({ before, after }: Effect, isSame: boolean): string {
  if (after?.type !== "file") return "";
  if (isSame) return `mode ${after.mode.toString(8)}`;
  return before === undefined && (after.mode & 0o111) !== 0 ? "can be run" : "";
}

/** The texts of files, up to a total size. */
class Texts {
  readonly #work: EndedWork;
  #left = MOST_TEXT;
  /** Milliseconds for counting lines. */
  #time = MOST_TIME_MS;

  constructor(work: EndedWork) {
    this.#work = work;
  }

  of(effect: Effect): Pick<EffectRow, "before" | "after" | "added" | "removed"> | undefined {
    if (this.#left <= 0) return undefined;
    const texts = this.#work.changes.texts(effect);
    if (texts === undefined) return undefined;
    const { before, after } = texts;
    this.#left -= (before?.length ?? 0) + after.length;
    const since = performance.now();
    const changes = this.#time <= 0
      ? undefined
      : diffLines(before ?? "", after, { timeout: Math.min(LONGEST_DIFF_MS, this.#time) });
    this.#time -= performance.now() - since;
    const lines = (kind: "added" | "removed") =>
      changes?.reduce((sum, change) => sum + (change[kind] ? change.count : 0), 0);
    const [added, removed] = [lines("added"), lines("removed")];
    return {
      ...(before === undefined ? {} : { before: visible(before) }),
      after: visible(after),
      ...(added === undefined || removed === undefined ? {} : { added, removed }),
    };
  }
}
