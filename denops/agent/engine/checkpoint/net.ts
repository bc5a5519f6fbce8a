/** What several checkpoints have changed in all. Pure. */
import { type FileRecord, sameSnapshot } from "../core/checkpoints.ts";

/**
 * By path: the first image before and the last image after, of those that differ. A file that was moved, and moved
 * again, comes from where it was at first.
 * @param records in the order in which they were made
 */
export function netChanges(records: Iterable<FileRecord>): readonly FileRecord[] {
  const all = new Map<string, FileRecord>();
  const origins = new Map<string, string>();
  for (const { path, renamedFrom, before, after } of records) {
    all.set(path, { path, before: all.get(path)?.before ?? before, after });
    if (renamedFrom !== undefined) {
      origins.set(path, origins.get(renamedFrom) ?? renamedFrom);
      origins.delete(renamedFrom);
    }
  }
  const net = new Map([...all].filter(([, { before, after }]) => !sameSnapshot(before, after)));
  return [...net.values()].map((record) => {
    const origin = origins.get(record.path);
    const source = origin === undefined ? undefined : net.get(origin);
    const moved = record.before.type === "absent" && record.after.type !== "absent" &&
      source !== undefined && source.before.type !== "absent" && source.after.type === "absent";
    return moved && origin !== undefined ? { ...record, renamedFrom: origin } : record;
  }).sort((a, b) => a.path < b.path ? -1 : 1);
}
