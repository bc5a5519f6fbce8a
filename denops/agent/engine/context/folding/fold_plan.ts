/**
 * Plans what to fold when the window fills up: old results first, in one large step, so that the cache breaks once.
 * Pure.
 */
import { middleCut } from "../../../shared/text/text.ts";
import { skillNameIn } from "../../../shared/user_files/skill_file.ts";
import { type MessageEntry, type PinnedPart, type ResultEntry, wordsOf } from "../../log/entries.ts";
import { isRefused } from "../refused.ts";
import type { ToolCall } from "../../log/messages.ts";
import { type Chosen, fileId, givenId, resultId, rulesId, skillId } from "../chosen.ts";
import { bytesOf, IMAGE_BYTES } from "../estimate.ts";
import { folded } from "./folds.ts";

/** Last messages that no summary replaces. */
const LAST_MESSAGES = 6;
/** Last turns, whose results are masked only if older ones are not enough. */
const LAST_TURNS = 2;
/** Bytes of results that are too short to mask. */
const SHORT = 400;
/** Characters of the user's words that are kept verbatim. */
export const MOST_WORDS = 4_000;
/** Shorter parts of a message are not kept. */
const LEAST_WORDS = 100;

/** Facts about a call from its tool. */
export interface CallFacts {
  /** "read src/a.ts" */
  readonly title: string;
  /** The file that it reads or writes. */
  readonly path: string | undefined;
  /** The lines that it reads; undefined for all. */
  readonly lines?: string | undefined;
  readonly writes: boolean;
  /** It reads a skill, which holds until its task is done, and is read once. */
  readonly ofSkill?: boolean;
}

export interface Foldable {
  /** As logged, from the last compaction on. */
  readonly messages: readonly MessageEntry[];
  /** Ids of calls with masked results, and their lines. */
  readonly masked: ReadonlyMap<string, string>;
  about(call: ToolCall): CallFacts;
  readonly chosen: Chosen;
}

export interface MaskPlan {
  readonly results: readonly { readonly id: string; readonly text: string }[];
  /** Bytes of the prompt. */
  readonly frees: number;
}

/**
 * The smallest sufficient plan, if any: results of older turns; then of this turn, without its last messages; then the
 * newest reads of files.
 */
export function planMasks(foldable: Foldable, isEnough: (frees: number) => boolean): MaskPlan | undefined {
  return [0, 1, 2].map((step) => masks(foldable, step)).find(({ frees, results }) =>
    results.length > 0 && isEnough(frees)
  );
}

function masks(foldable: Foldable, step: number): MaskPlan {
  const { messages } = foldable;
  const end = step === 0 ? beginOfLastTurns(messages) : Math.max(0, messages.length - LAST_MESSAGES);
  return planOf(maskable(foldable, end, step === 2));
}

/** A result that can be masked. */
export interface Maskable {
  /** Its index among the messages. */
  readonly at: number;
  /** The index at which it became old because another call showed the same file; its own index for other results. */
  readonly oldSince: number;
  readonly id: string;
  /** The line that replaces it. */
  readonly text: string;
  /** Bytes of the prompt. */
  readonly frees: number;
}

/** @param end later messages are kept @param ofRead includes the newest reads of files */
export function maskable(
  { messages, masked, about, chosen }: Foldable,
  end: number,
  ofRead: boolean,
): readonly Maskable[] {
  const calls = callsOf(messages);
  const facts = new Map([...calls].map(([id, call]) => [id, about(call)]));
  const { newest, replaced } = fileStates(messages, facts, ofRead);
  const kept = newest.union(pinnedResults(messages, facts, chosen));
  return messages.slice(0, end).flatMap((entry, at): readonly Maskable[] => {
    if (!isResult(entry)) return [];
    const { id, text, images, name } = entry;
    const isOpen = calls.has(id) && !masked.has(id) && !chosen.dropped.has(resultId(id)) && !kept.has(id);
    if (!isOpen || (bytesOf(text) <= SHORT && images === undefined)) return [];
    const line = maskLine(entry, facts.get(id)?.title ?? name, "masked");
    return [{
      at,
      oldSince: replaced.get(id) ?? at,
      id,
      text: line,
      frees: entryBytes(entry) - bytesOf(line),
    }];
  });
}

export function planOf(found: readonly Maskable[]): MaskPlan {
  return {
    results: found.map(({ id, text }) => ({ id, text })),
    frees: found.reduce((sum, { frees }) => sum + frees, 0),
  };
}

/** The line that replaces a result. @param how "masked" */
export function maskLine({ text, isError }: ResultEntry, title: string, how: string): string {
  const lines = text.split("\n").length;
  const what = isError ? "failed" : `${lines} ${lines === 1 ? "line" : "lines"}`;
  return `[${title}, ${what}: ${how}; call it again if you need it]`;
}

/** Pinned parts in these messages, with the newest state of each file, and skills. */
export function pinnedParts({ messages, about, chosen }: Foldable): readonly PinnedPart[] {
  const calls = callsOf(messages);
  const facts = new Map([...calls].map(([id, call]) => [id, about(call)]));
  const results = pinnedResults(messages, facts, chosen);
  const parts = messages.flatMap((entry): readonly PinnedPart[] => {
    switch (entry.type) {
      case "tool_result": {
        const { title = entry.name, path, ofSkill = false } = facts.get(entry.id) ?? {};
        const skill = ofSkill ? skillNameIn(entry.text) : undefined;
        const ofResult = skill === undefined ? resultId(entry.id) : skillId(skill);
        const id = path !== undefined && chosen.pinned.has(fileId(path)) ? fileId(path) : ofResult;
        return results.has(entry.id) ? [{ id, title, text: entry.text }] : [];
      }
      case "user_message":
        return entry.parts.flatMap((part) => {
          const skill = part.type === "given" ? skillNameIn(part.text) : undefined;
          if (part.type === "given" && skill !== undefined) {
            return [{ id: skillId(skill), title: part.label, text: part.text }];
          }
          return part.type === "file" && chosen.pinned.has(givenId(part.uri))
            ? [{ id: givenId(part.uri), title: part.uri, text: part.text }]
            : [];
        });
      case "control_note":
        return entry.path !== undefined && chosen.pinned.has(rulesId(entry.path))
          ? [{ id: rulesId(entry.path), title: entry.path, text: entry.text }]
          : [];
      case "assistant_message":
        return [];
    }
  });
  // The last text of a skill is the current one.
  const last = new Map(parts.map((part) => [part.id, part]));
  return parts.filter((part) => !part.id.startsWith(skillId("")) || last.get(part.id) === part);
}

/** Ids of calls. */
function pinnedResults(
  messages: readonly MessageEntry[],
  facts: ReadonlyMap<string, CallFacts>,
  { pinned, dropped }: Chosen,
): ReadonlySet<string> {
  const { newest } = fileStates(messages, facts, false);
  const found = messages.filter(isResult).filter(({ id, text }) => {
    const { path, ofSkill = false } = facts.get(id) ?? {};
    const isSkill = ofSkill && skillNameIn(text) !== undefined;
    const ofFile = path !== undefined && newest.has(id) && pinned.has(fileId(path));
    return !dropped.has(resultId(id)) && (ofFile || pinned.has(resultId(id)) || isSkill);
  });
  return new Set(found.map(({ id }) => id));
}

export function callsOf(messages: readonly MessageEntry[]): ReadonlyMap<string, ToolCall> {
  const calls = messages.flatMap((entry) => entry.type === "assistant_message" ? entry.calls : []);
  return new Map(calls.map((call) => [call.id, call]));
}

interface FileStates {
  /** Ids of results with the current state of a file: the last read of its lines, and later writes. */
  readonly newest: ReadonlySet<string>;
  /** Ids of outdated results, with the index of their replacement. */
  readonly replaced: ReadonlyMap<string, number>;
}

/** @param ofWritten only files that were also written */
function fileStates(
  messages: readonly MessageEntry[],
  facts: ReadonlyMap<string, CallFacts>,
  ofWritten: boolean,
): FileStates {
  const states = new Map<string, { ids: ReadonlyMap<string, string | undefined>; isWritten: boolean }>();
  const replaced = new Map<string, number>();
  messages.forEach((entry, at) => {
    if (!isResult(entry) || entry.isError) return;
    const { path, lines, writes = false } = facts.get(entry.id) ?? {};
    if (path === undefined) return;
    const { ids, isWritten } = states.get(path) ?? { ids: new Map<string, string>(), isWritten: false };
    const isOld = (known: string | undefined) => !writes && (lines === undefined || known === lines);
    const kept = [...ids].filter(([, known]) => !isOld(known));
    for (const [id, known] of ids) if (isOld(known)) replaced.set(id, at);
    states.set(path, { ids: new Map([...kept, [entry.id, lines]]), isWritten: isWritten || writes });
  });
  const newest = new Set(
    states.values().flatMap(({ ids, isWritten }) => isWritten || !ofWritten ? ids.keys() : []),
  );
  return { newest, replaced };
}

function beginOfLastTurns(messages: readonly MessageEntry[]): number {
  const begins = messages.flatMap(({ type }, at) => type === "user_message" ? [at] : []);
  return begins.at(-LAST_TURNS) ?? 0;
}

function isResult(entry: MessageEntry): entry is ResultEntry {
  return entry.type === "tool_result";
}

/**
 * Index of the first message that no summary replaces; 0: nothing comes before. @param most bytes of these messages,
 * unless the last answer with its results has more
 */
export function tailBegin({ messages, masked }: Pick<Foldable, "messages" | "masked">, most: number): number {
  const isBegin = (at: number) => {
    const entry = messages[at];
    return entry?.type === "user_message" || entry?.type === "assistant_message";
  };
  const begins = messages.flatMap((_, at) => isBegin(at) ? [at] : []);
  const sizes = folded(messages, { masked }).map(entryBytes);
  const bytesFrom = (at: number) => sizes.slice(at).reduce((sum, one) => sum + one, 0);
  const enough = begins.findLast((at) => at <= messages.length - LAST_MESSAGES) ?? 0;
  return begins.find((at) => at >= enough && bytesFrom(at) <= most) ?? begins.at(-1) ?? 0;
}

/** Approximate bytes in a prompt. */
export function entryBytes(entry: MessageEntry): number {
  if (entry.type === "user_message") {
    return entry.parts.reduce((sum, part) => {
      const { image, ...rest } = part.type === "given" ? part : { ...part, image: undefined };
      return sum + bytesOf(JSON.stringify(rest)) + (image === undefined ? 0 : IMAGE_BYTES);
    }, 0);
  }
  if (entry.type === "assistant_message") return bytesOf(JSON.stringify(entry));
  return bytesOf(entry.text) + IMAGE_BYTES * (entry.images?.length ?? 0);
}

/**
 * The user's words to keep: the first message, which most often states the task, and the newest ones. @param most
 * characters
 */
export function keptWords(words: readonly string[], most = MOST_WORDS): readonly string[] {
  const [first, ...later] = words;
  if (first === undefined) return [];
  const task = middleCut(first, Math.floor(most / 2));
  const newest: string[] = [];
  let room = most - task.length;
  for (const text of later.toReversed()) {
    if (room < Math.min(text.length, LEAST_WORDS)) break;
    const kept = middleCut(text, room);
    newest.unshift(kept);
    room -= kept.length;
  }
  return [task, ...newest];
}

export function usersWords(messages: readonly MessageEntry[]): readonly string[] {
  return messages.flatMap((entry, at) =>
    entry.type === "user_message" && entry.origin !== "engine" && !isRefused(messages, at)
      ? [wordsOf(entry)]
      : []
  ).filter((text) => text.trim() !== "");
}
