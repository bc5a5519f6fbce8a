/**
 * Files of rules for agents: found in the project, read by the same checks as any file, told once each. They are data:
 * what they ask is done, and they allow nothing.
 */
import { dirname, isAbsolute, join } from "node:path";
import { isInGit } from "../../../policy/file_access.ts";
import { isCostly, matchesGlob } from "../../../policy/glob.ts";
import { nameInRoots } from "../../../policy/roots.ts";
import { isInstructions, RULES_NAMES } from "../../../protocol/surroundings.ts";
import type { RulesFile } from "../../context/project.ts";
import { fitted, importsOf, instructionsOf, MOST_RULES } from "../../context/rules.ts";
import { ToolError } from "../../core/errors.ts";
import type { FolderRules } from "../memory.ts";
import type { Workspace } from "../../tools/files/workspace.ts";

/** Files with globs of their own that are looked at. */
const MOST_INSTRUCTIONS = 50;

/** As the model is told of the user's own rules. */
const OWN = "the user's, for all projects";

interface Read {
  /** Absolute, real. */
  readonly path: string;
  readonly named: string;
  readonly text: string;
}

/** What was told, by the real path: in the prompt, and of folders, with what calls have touched there. */
interface Told {
  readonly rules: Map<string, number>;
  readonly folderRules: Map<string, FolderRules>;
}

export class RulesFiles {
  readonly #workspace: Workspace;
  readonly #told: Told;
  /** Names of those in the project. */
  #listed: ReadonlySet<string> = new Set();

  constructor(workspace: Workspace, told: Told) {
    this.#workspace = workspace;
    this.#told = told;
  }

  /** @param names of all files of rules in the project, by which those of its folders are found later */
  set listed(names: readonly string[]) {
    this.#listed = new Set(names);
  }

  /** Those of every turn: the user's own, the roots' and what they import, and those for all files. */
  async general(own: string | undefined, signal: AbortSignal): Promise<readonly RulesFile[]> {
    const found: RulesFile[] = [];
    if (own !== undefined && !this.#isTold(OWN)) {
      found.push(...this.#fitted({ path: OWN, named: OWN, text: own }, "rules"));
    }
    for (const root of this.#workspace.roots) {
      found.push(...await this.#first(RULES_NAMES.map((name) => join(root, name)), "rules", signal));
    }
    const isGeneral = (globs: readonly string[]) => globs.some((glob) => /^\*\*?(?:\/\*\*?)?$/.test(glob));
    return [...found, ...await this.#instructions(isGeneral, "rules", signal)];
  }

  /** Those of the folders that these files are in, and those for these files, unless told. @param paths absolute */
  async of(paths: readonly string[], signal: AbortSignal): Promise<readonly RulesFile[]> {
    const names = paths.flatMap((path) => nameInRoots(path, this.#workspace.roots) ?? []);
    if (names.length === 0 || this.#listed.size === 0) return [];
    const folders = new Set(names.flatMap(foldersOf));
    const found: RulesFile[] = [];
    for (const folder of [...folders].sort()) {
      const there = RULES_NAMES.map((name) => `${folder}/${name}`).filter((name) => this.#listed.has(name));
      found.push(...await this.#first(there, "folderRules", signal));
    }
    const isFor = (globs: readonly string[]) =>
      globs.some((glob) => !isCostly(glob) && names.some((name) => matchesGlob(glob, name)));
    return [...found, ...await this.#instructions(isFor, "folderRules", signal)];
  }

  /** The first of a folder that is not empty, and what it imports. */
  async #first(names: readonly string[], as: keyof Told, signal: AbortSignal): Promise<readonly RulesFile[]> {
    for (const name of names) {
      const file = await this.#read(name, signal);
      if (file === undefined || file.text.trim() === "") continue;
      if (this.#isTold(file.path)) return [];
      const found = [...this.#fitted(file, as)];
      for (const path of importsOf(file.text)) {
        if (isAbsolute(path)) continue;
        const imported = await this.#read(join(dirname(file.path), path), signal);
        if (imported !== undefined && !this.#isTold(imported.path)) found.push(...this.#fitted(imported, as));
      }
      return found;
    }
    return [];
  }

  async #instructions(
    isFor: (globs: readonly string[]) => boolean,
    as: keyof Told,
    signal: AbortSignal,
  ): Promise<readonly RulesFile[]> {
    const found: RulesFile[] = [];
    for (const name of [...this.#listed].filter(isInstructions).slice(0, MOST_INSTRUCTIONS)) {
      const file = await this.#read(name, signal);
      if (file === undefined || this.#isTold(file.path)) continue;
      const { globs, text } = instructionsOf(file.text);
      if (isFor(globs)) found.push(...this.#fitted({ ...file, text }, as));
    }
    return found;
  }

  #isTold(path: string): boolean {
    return this.#told.rules.has(path) || this.#told.folderRules.has(path);
  }

  /** As told from now on; nothing where there is no room left. */
  #fitted({ path, named, text }: Read, as: keyof Told): readonly RulesFile[] {
    const { rules, folderRules } = this.#told;
    const told = [...rules.values(), ...folderRules.values().map(({ bytes }) => bytes)];
    const room = MOST_RULES - told.reduce((sum, bytes) => sum + bytes, 0);
    if (room <= 0) return [];
    const file = fitted(named, text, room);
    const bytes = Math.min(room, file.bytes);
    if (as === "rules") rules.set(path, bytes);
    else folderRules.set(path, { path: named, bytes });
    return [file];
  }

  /** Undefined for what is not there, no text, outside of the project, or not to be read unasked. */
  async #read(name: string, signal: AbortSignal): Promise<Read | undefined> {
    try {
      const path = await this.#workspace.resolve(name);
      if (!path.exists || !this.#workspace.mayShow(path) || isInGit(path)) return undefined;
      const file = await this.#workspace.readIfText(path, signal);
      return file === undefined ? undefined : { path: path.path, named: path.named, text: file.text };
    } catch (error) {
      if (error instanceof ToolError) return undefined;
      throw error;
    }
  }
}

/** "a/b/c.ts" → "a", "a/b", "a/b/c.ts": it may be a folder itself */
function foldersOf(name: string): readonly string[] {
  const parts = name.split("/");
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}
