/**
 * Sets aside what a command has left that would make git run programs on the host, compared with a list from
 * before. Repositories themselves stay, and so do files that existed before.
 */
import { dirname, join, relative, resolve } from "node:path";
import { isInside } from "../../policy/path.ts";
import { type GitFinds, gitFinds, type GitFolder, namedBy, type ObeyedFile } from "./folders.ts";
import { shellWord } from "../../shared/shell_words.ts";
import { configText, isHarmless, type Setting, settingsOf } from "../system/git/git_settings.ts";
import { type Aside, putAside } from "./put_aside.ts";

interface SweepPlace {
  readonly root: string;
  /** All of the workspace: programs are never run from there. */
  readonly roots: readonly string[];
  /** Repositories of the project outside of its folder. */
  readonly own: readonly string[];
  /** Folder for files that are set aside. */
  readonly state: string;
}

interface Trap extends Aside {
  /** The reason as the end of a sentence. */
  readonly why: string;
}

/** @returns the actions, one line each */
export async function sweepGit(before: GitFinds, place: SweepPlace): Promise<readonly string[]> {
  const traps = await trapsOf(before, await gitFinds(place.root, place.own), place);
  if (traps.length === 0) return [];
  const places = [place.root, ...place.own];
  const moved = await putAside(traps, places, place);
  return traps.map(({ path, why, replacement }) => {
    const name = isInside(path, place.root) ? relative(place.root, path) : path;
    const to = moved.get(path);
    if (to === undefined) {
      return `${name} could not be put aside, and ${why}. Remove it before you use git there`;
    }
    const what = replacement === undefined ? `${name} was put aside` : `settings of ${name} were put aside`;
    return `${what}, for ${why}. To restore: mv ${shellWord(to)} ${shellWord(path)}`;
  });
}

async function trapsOf(before: GitFinds, now: GitFinds, place: SweepPlace): Promise<readonly Trap[]> {
  const found: Trap[] = [];
  for (const [path, content] of Object.entries(now.redirects)) {
    if (before.redirects[path] === content) continue;
    const target = namedBy(path, content);
    const inside = target !== undefined && [place.root, ...place.own].some((one) => isInside(target, one));
    if (!inside) found.push({ path, why: "it leads git out of the project" });
  }
  const byNumber = new Map(Object.values(before.repositories).map((one) => [one.number, one]));
  for (const [folder, repository] of Object.entries(now.repositories)) {
    const same = before.repositories[folder];
    // A moved repository is still the same.
    const known = same?.number === repository.number ? same : byNumber.get(repository.number);
    found.push(...await changesIn(folder, repository, known, place));
  }
  return found;
}

async function changesIn(
  folder: string,
  { files }: GitFolder,
  known: GitFolder | undefined,
  place: SweepPlace,
): Promise<readonly Trap[]> {
  const found: Trap[] = [];
  for (const [name, file] of Object.entries(files)) {
    const was = known?.files[name];
    if (was?.print === file.print) continue;
    const path = join(folder, name);
    if (name === "commondir") {
      if (!isOwnCommon(folder, file)) found.push({ path, why: "it moves git's hooks and configuration" });
    } else if (name === "config" || name === "config.worktree") {
      const trap = await settingsTrap(folder, path, file, was, place);
      if (trap !== undefined) found.push(trap);
    } else found.push({ path, why: "git runs it automatically" });
  }
  return found;
}

/**
 * A file as git creates it: in a linked worktree's folder, naming the surrounding repository. The guard's own
 * file says ".".
 */
function isOwnCommon(folder: string, { text }: ObeyedFile): boolean {
  const common = resolve(folder, (text ?? "/").trim());
  return common === folder || common === dirname(dirname(folder)) && /[\\/]worktrees$/.test(dirname(folder));
}

async function settingsTrap(
  folder: string,
  path: string,
  file: ObeyedFile,
  was: ObeyedFile | undefined,
  { root, roots }: SweepPlace,
): Promise<Trap | undefined> {
  const now = file.text === undefined ? undefined : await settingsOf(file.text, roots);
  if (now === undefined) return { path, why: "git obeys it, and its effect cannot be judged" };
  const old = new Set((await settingsOf(was?.text ?? "", roots))?.map(lineOf));
  const kept = now.filter((setting) => old.has(lineOf(setting)) || isHarmless(setting, folder, root));
  if (kept.length === now.length) return undefined;
  const names = [...new Set(now.filter((setting) => !kept.includes(setting)).map(({ key }) => key))];
  const some = names.slice(0, 5).map((name) => name.slice(0, 60)).join(", ");
  const why = `${some}${names.length > 5 ? ", …" : ""} may make git run programs`;
  return { path, why, replacement: configText(kept) };
}

function lineOf({ key, value }: Setting): string {
  return `${key}\n${value}`;
}
