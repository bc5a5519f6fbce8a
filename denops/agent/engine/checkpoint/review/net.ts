/** Combines the changes of several checkpoints. Pure. */
import { type FileRecord, sameSnapshot, type Snapshot } from "../../log/checkpoints.ts";

/** The changes of several checkpoints, in order. */
export type Changes = readonly (readonly FileRecord[])[];

/**
 * By path: the first image before and the last image after, if they differ. A file that moved several times comes from
 * its first path; each path yields at most one file.
 */
export function netChanges(changes: Changes): readonly FileRecord[] {
  const all = new Map<string, FileRecord>();
  for (const { path, before, after } of changes.flat()) {
    all.set(path, { path, before: all.get(path)?.before ?? before, after });
  }
  const net = new Map([...all].filter(([, { before, after }]) => !sameSnapshot(before, after)));
  const origins = originsOf(changes);
  const taken = new Set<string>();
  return [...net.values()].sort((a, b) => a.path < b.path ? -1 : 1).map((record) => {
    const origin = origins.get(record.path);
    const source = origin === undefined ? undefined : net.get(origin);
    const moved = record.before.type === "absent" && record.after.type !== "absent" &&
      source !== undefined && source.before.type !== "absent" && source.after.type === "absent";
    if (!moved || origin === undefined || taken.has(origin)) return record;
    taken.add(origin);
    return { ...record, renamedFrom: origin };
  });
}

/** The first path of each changed path's content; undefined: it is new there, or missing. */
export function originsOf(changes: Changes): ReadonlyMap<string, string | undefined> {
  const origins = new Map<string, string | undefined>();
  const originOf = (path: string) => origins.has(path) ? origins.get(path) : path;
  for (const records of changes) {
    const moves = records.flatMap(({ path, renamedFrom }) =>
      renamedFrom === undefined ? [] : [[path, originOf(renamedFrom)] as const]
    );
    for (const { path, before, after } of records) {
      if (before.type === "absent" || after.type === "absent") origins.set(path, undefined);
    }
    for (const [path, origin] of moves) origins.set(path, origin);
  }
  return origins;
}

/**
 * Splits the changes wherever somebody else changed a file in between, so that no piece contains the others' changes.
 * @returns the pieces, oldest first
 */
export function pieces(changes: Changes): readonly Changes[] {
  const found: (readonly FileRecord[])[][] = [];
  let left = new Map<string, Snapshot>();
  for (const records of changes) {
    const fits = records.every(({ path, before }) => {
      const known = left.get(path);
      return known === undefined || sameSnapshot(known, before);
    });
    if (!fits || found.length === 0) {
      found.push([]);
      left = new Map();
    }
    found.at(-1)?.push(records);
    for (const { path, after } of records) left.set(path, after);
  }
  return found;
}
