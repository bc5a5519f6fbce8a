/**
 * Custom modes from files: the user's, then the project's. A problem with one file affects only that file.
 */
import { join } from "node:path";
import { OwnMode } from "../../protocol/modes.ts";
import { readModeFile } from "../../shared/user_files/mode_file.ts";
import { type DescribedPlace, eachDescribed } from "./described_files.ts";

const FOLDERS = { own: join("agent", "agents"), projects: [join(".agents", "agents")] };

interface ModeFiles {
  readonly modes: readonly OwnMode[];
  /** One line each. */
  readonly problems: readonly string[];
}

export interface ModeFileOptions extends DescribedPlace {
  /** Models that the user configured. */
  readonly known: readonly string[];
}

export async function modeFiles({ known, ...place }: ModeFileOptions): Promise<ModeFiles> {
  const modes = new Map<string, OwnMode>();
  const problems = await eachDescribed(place, FOLDERS, ({ text, name, isUsers }) => {
    const mode = readModeFile(text, name, { known, isUsers });
    // The user's modes come first, so that no project can replace them.
    if (modes.has(mode.name)) throw new Error(`another mode is called ${mode.name}`);
    modes.set(mode.name, mode);
  });
  return { modes: [...modes.values()], problems };
}
