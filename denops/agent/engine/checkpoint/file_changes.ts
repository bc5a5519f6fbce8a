/** Converts records to changes for buffers. */
import type { CheckpointStore, FileRecord, Snapshot } from "../log/checkpoints.ts";
import type { FileChange } from "../log/events.ts";
import { textOf } from "./restore/plan.ts";

/** A moved file is one change. */
export function fileChanges(
  records: readonly FileRecord[],
  store: Pick<CheckpointStore, "contents">,
): readonly FileChange[] {
  const sources = new Set(records.flatMap(({ renamedFrom }) => renamedFrom ?? []));
  const images = new Map(
    records.flatMap(({ path, before }) => sources.has(path) ? [[path, before] as const] : []),
  );
  const text = (image: Snapshot) =>
    image.type === "file" ? textOf(image.blob, store.contents)?.text : undefined;
  return records.flatMap((record): FileChange[] => {
    const { path, renamedFrom, before, after } = record;
    if (sources.has(path) || (before.type === "folder" && after.type !== "file")) return [];
    if (after.type === "folder") {
      return before.type === "absent" ? [] : [{ path, kind: "deleted", onDisk: true }];
    }
    const source = renamedFrom === undefined ? before : images.get(renamedFrom);
    const [was, is] = [source === undefined ? undefined : text(source), text(after)];
    const texts = {
      ...(was === undefined ? {} : { before: was }),
      ...(is === undefined ? {} : { after: is }),
    };
    if (renamedFrom !== undefined) {
      return [{ path, kind: "renamed", from: renamedFrom, ...texts, onDisk: true }];
    }
    const kind = after.type === "absent" ? "deleted" : before.type === "absent" ? "created" : "modified";
    return [{ path, kind, ...texts, onDisk: true }];
  });
}
