/** Separates the agent's current changes from the user's. */
import type { Contents, FileRecord, Snapshot } from "../log/checkpoints.ts";
import { type Changes, netChanges, pieces } from "./review/net.ts";
import { carryEdits } from "./review/review_state.ts";
import { takeSnapshot } from "./snapshot.ts";

interface Options {
  readonly store: { readonly contents: Contents };
  /** Real paths. */
  readonly roots: readonly string[];
}

/**
 * @param changes of the agent, including reverted ones @returns by path: the file without the agent's changes but with
 * the user's, and the current file
 */
export async function agentsPart(
  changes: Changes,
  { store, roots }: Options,
): Promise<readonly FileRecord[]> {
  const { contents } = store;
  const backwards = pieces(changes).toReversed().map((piece) =>
    new Map(netChanges(piece).map((record) => [record.path, record]))
  );
  const found: FileRecord[] = [];
  for (const path of new Set(changes.flat().map(({ path }) => path))) {
    const after = await takeSnapshot(path, contents, roots);
    let before: Snapshot = after;
    for (const piece of backwards) {
      const record = piece.get(path);
      if (record !== undefined) before = carryEdits(record.before, record.after, before, contents);
    }
    found.push({ path, before, after });
  }
  const moves = new Map(netChanges(changes).map(({ path, renamedFrom }) => [path, renamedFrom]));
  return netChanges([found]).map((record) => {
    const renamedFrom = moves.get(record.path);
    return renamedFrom === undefined ? record : { ...record, renamedFrom };
  });
}
