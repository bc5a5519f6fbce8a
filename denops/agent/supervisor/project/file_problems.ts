/** Problems with files of rules and prompts. */
import { join } from "node:path";
import { mayRead } from "../../policy/file_access.ts";
import { isInside } from "../../policy/path.ts";
import { RULES_NAMES } from "../../protocol/rules/names.ts";
import { oneFile } from "../system/one_file.ts";
import type { DescribedPlace } from "./described_files.ts";
import { promptFiles } from "./prompt_files.ts";
import { OWN_RULES } from "./surroundings.ts";

/** Larger files would never be read completely. */
const MOST_BYTES = 1024 * 1024;

/** One line each; modes report their own problems. */
export async function fileProblems(place: DescribedPlace): Promise<readonly string[]> {
  const [{ problems }, ...rules] = await Promise.all([promptFiles(place), ...rulesProblems(place)]);
  return [...rules.flatMap((problem) => problem ?? []), ...problems];
}

function rulesProblems({ root, configDir, rules }: DescribedPlace): Promise<string | undefined>[] {
  const readable = RULES_NAMES.filter((name) =>
    mayRead({ relative: name, named: name }, rules).verdict === "allow"
  );
  return [
    ...readable.map((name) => problemOf(join(root, name), name, root)),
    ...configDir === undefined ? [] : [problemOf(join(configDir, ...OWN_RULES))],
  ];
}

/** @param within links out of this folder are not followed */
async function problemOf(path: string, label = path, within?: string): Promise<string | undefined> {
  const isThere = await Deno.lstat(path).then(() => true, () => false);
  if (!isThere) return undefined;
  try {
    const { real } = await oneFile(path, MOST_BYTES);
    if (within !== undefined && !isInside(real, within)) throw new Error("it leads out of the project");
    return undefined;
  } catch (error) {
    return `Cannot use ${label}: ${reasonOf(error)}.`;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "it leads to nothing";
  return error instanceof Error ? error.message.replace(/:.*/s, "") : String(error);
}
