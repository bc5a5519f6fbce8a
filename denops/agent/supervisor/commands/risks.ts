/** What of a change over an overlay no name tells, as the end of a sentence. */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isInside } from "../../policy/path.ts";
import { OBEYED } from "../git/folders.ts";
import type { Effect } from "./rehearsal.ts";

/** What a link may lead to outside of the project: programs and libraries that everybody has. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/opt", "/nix/store"];
/** Set-user-id and set-group-id. */
const SET_ID = 0o6000;

/** @param roots real paths @returns what is against a change, undefined if nothing is */
export function risks(
  effects: readonly Effect[],
  roots: readonly string[],
): (effect: Effect) => string | undefined {
  const heads = new Set(
    effects.flatMap(({ path, after }) =>
      after !== undefined && basename(path) === "HEAD" ? [dirname(path)] : []
    ),
  );
  // Git takes any folder with the right files in it for a repository.
  const isRepository = (folder: string) => heads.has(folder) || existsSync(join(folder, "HEAD"));
  return ({ path, after }) => {
    const folder = dirname(path);
    if (after?.type === "link") return linkRisk(resolve(folder, after.target), roots);
    if (after?.type !== "file") return undefined;
    if ((after.mode & SET_ID) !== 0) return "runs with the rights of its owner";
    const isHook = basename(folder) === "hooks";
    const isObeyed = isHook || ["HEAD", ...OBEYED].includes(basename(path));
    return isObeyed && isRepository(isHook ? dirname(folder) : folder) ? "git obeys it" : undefined;
  };
}

function linkRisk(target: string, roots: readonly string[]): string | undefined {
  if (![...roots, ...SYSTEM].some((place) => isInside(target, place))) {
    return `leads out of the project, to ${target}`;
  }
  return target.toLowerCase().split("/").includes(".git") ? "leads into .git" : undefined;
}
