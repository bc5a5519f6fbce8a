/** Risks of an overlay's changes that their names do not show, each as the end of a sentence. */
import { existsSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { isInside } from "../../policy/path.ts";
import { OBEYED } from "../git/folders.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import type { NewTree } from "./new_tree.ts";
import type { Effect } from "./listed_changes.ts";
import { SHOWN } from "../system/sandbox/visible_places.ts";

/** The system's folders with programs. Projects have no need for links to its settings. */
const PROGRAMS = ["/bin", "/sbin", "/lib", "/lib64"];
const SETTINGS = "/etc";
/** Set-user-id and set-group-id. */
const SET_ID = 0o6000;

/** @param roots real paths @returns the objection to each change, undefined for none */
export function risks(
  effects: readonly Effect[],
  tree: NewTree,
  roots: readonly string[],
): (effect: Effect) => string | undefined {
  const heads = new Set(
    effects.flatMap(({ path, after }) =>
      after !== undefined && basename(path) === "HEAD" ? [dirname(path)] : []
    ),
  );
  // Git accepts any folder with the right files as a repository.
  const isRepository = (folder: string) => heads.has(folder) || existsSync(join(folder, "HEAD"));
  return ({ path, after }) => {
    const folder = dirname(path);
    if (after?.type === "link") return linkRisk(path, tree, roots);
    if (after?.type !== "file") return undefined;
    if ((after.mode & SET_ID) !== 0) return "runs with the rights of its owner";
    const isHook = basename(folder) === "hooks";
    const isObeyed = isHook || ["HEAD", ...OBEYED].includes(basename(path));
    return isObeyed && isRepository(isHook ? dirname(folder) : folder) ? "git obeys it" : undefined;
  };
}

/** A link may lead to programs and toolchains that commands see, as in a Python environment. */
function linkRisk(path: string, tree: NewTree, roots: readonly string[]): string | undefined {
  const resolved = tree.resolve(path);
  if (resolved === undefined) return "leads round in circles";
  const { path: target, passed } = resolved;
  const { HOME: home = "" } = neovimEnvironment();
  const visiblePaths = SHOWN.map(({ path }) => path.startsWith("~/") ? join(home, path.slice(2)) : path);
  const programs = [...PROGRAMS, ...visiblePaths.filter((path) => path !== SETTINGS && path !== "")];
  const open = [...roots, ...programs, ...programs.filter(existsSync).map((path) => realpathSync(path))];
  if (!open.some((place) => isInside(target, place))) {
    return `leads out of the project, to ${target}`;
  }
  return passed.some((name) => basename(name).toLowerCase() === ".git") ? "leads into .git" : undefined;
}
