/** Risks of a write that no glob can express: the file has other names, or the folder becomes a repository. */
import { basename, dirname, join, sep } from "node:path";
import { changedKeys } from "../../../policy/manifest.ts";
import { isInside } from "../../../policy/path.ts";
import type { AccessPath, FileAccess } from "../../../protocol/access.ts";
import { filesOf, type PreparedCall, writtenBy } from "../define.ts";

const LINKED = "it has other names (hard links), which may lie outside of the project";
const REPOSITORY = "git takes its folder for a repository, and runs what such a folder names";

/** The same call with risks added to its writes. */
export async function withRisks(prepared: PreparedCall, roots: readonly string[]): Promise<PreparedCall> {
  const written = writtenBy(prepared.access).map(({ path }) => path);
  if (written.length === 0) return prepared;
  const diffs = prepared.diff === undefined ? [] : [prepared.diff, ...prepared.diff.others ?? []];
  const files = await Promise.all(
    filesOf(prepared.access).map(async (file): Promise<FileAccess> => {
      if (file.access !== "write") return file;
      const risk = await riskOf(file.path, roots, written);
      const diff = diffs.find(({ path }) => path === file.path.path);
      const keys = diff && changedKeys(file.path.path, diff);
      return { ...file, ...(risk === undefined ? {} : { risk }), ...(keys === undefined ? {} : { keys }) };
    }),
  );
  return { ...prepared, access: { kind: "file", files } };
}

async function riskOf(
  { path }: AccessPath,
  roots: readonly string[],
  written: readonly string[],
): Promise<string | undefined> {
  const root = roots.find((one) => isInside(path, one));
  // The user's tools never look at the model's notes.
  if (root === undefined) return undefined;
  const info = await Deno.lstat(path).catch(() => undefined);
  if (info?.isFile && (info.nlink ?? 1) > 1) return LINKED;
  for (let folder = dirname(path); folder.startsWith(root); folder = dirname(folder)) {
    if (basename(folder).toLowerCase() !== ".git" && await isRepository(folder, written)) return REPOSITORY;
    if (folder === root) break;
  }
  return undefined;
}

/** Includes the files to be written. Source: is_git_directory() of git's setup.c. */
async function isRepository(folder: string, written: readonly string[]): Promise<boolean> {
  const has = async (name: string) => {
    // On a case-insensitive file system "head" is HEAD.
    const path = join(folder, name).toLowerCase();
    const isWritten = written.some((other) => `${other}${sep}`.toLowerCase().startsWith(path + sep));
    return isWritten || await Deno.lstat(join(folder, name)).then(() => true, () => false);
  };
  if (!await has("HEAD")) return false;
  return await has("commondir") || (await has("objects") && await has("refs"));
}
