/**
 * The folders for agents' versions of files that are not kept. Only the supervisor reaches them: into the scratch folders
 * of sessions, engines and commands could put links that lead its writes elsewhere.
 */
import { join } from "node:path";

const FOLDER = "conflicts";
const KEPT_MS = 30 * 24 * 3_600_000;

/** A new folder's path, for one turn. It is created with its first file. @param stateDir the user's, for all projects */
export function conflictFolder(stateDir: string): string {
  return join(stateDir, FOLDER, `${stampOf(Date.now())}-${crypto.randomUUID().slice(0, 8)}`);
}

/** Removes the folders of long ago. */
export async function removeOldConflicts(stateDir: string): Promise<void> {
  const folder = join(stateDir, FOLDER);
  const names = await Array.fromAsync(Deno.readDir(folder)).catch(() => []);
  const oldest = stampOf(Date.now() - KEPT_MS);
  for (const { name } of names) {
    if (name < oldest) await Deno.remove(join(folder, name), { recursive: true }).catch(() => {});
  }
}

/** Sorts as the time does. */
function stampOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/[:.]/g, "-");
}
