/**
 * Finds rules files for agents in the project. Each is read with the usual checks and sent once. They are data: the
 * model follows them, but they grant no permissions.
 */
import { dirname, isAbsolute, join } from "node:path";
import { isInGit } from "../../../policy/file_access.ts";
import { isCostly, matchesGlob } from "../../../policy/glob.ts";
import { nameInRoots } from "../../../policy/roots.ts";
import { conditionalRules, LOCAL_RULES, MAIN_RULES, OTHER_RULES } from "../../../protocol/rules/names.ts";
import type { RulesFile } from "../../context/project.ts";
import { type Conditions, conditionsOf, fitted, importsOf, MOST_RULES } from "../../context/rules.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { FolderRules } from "../permission/memory.ts";
import type { Workspace } from "../../tools/files/workspace.ts";

/** Files with conditions of their own that are read. */
const MOST_CONDITIONAL = 50;
/** Levels of nested imports. */
const DEEPEST_IMPORT = 5;
/** Imports of one file, including nested ones. */
const MOST_IMPORTS = 50;

/** The heading of the user's own rules. */
const OWN = "the user's, for all projects";
/** The heading of rules that only have a description. */
const DESCRIBED = "more rules: read one before you do what it is about";

interface Read {
  /** Absolute real path. */
  readonly path: string;
  readonly label: string;
  readonly text: string;
}

interface ConditionalFile {
  readonly file: Read;
  /** The folder of the file: "" for the project, or "src/". */
  readonly folder: string;
  readonly conditions: Conditions;
}

/** Rules that the model has, by real path: in the prompt, and sent with messages for touched folders. */
interface KnownRules {
  readonly rules: Map<string, number>;
  readonly folderRules: Map<string, FolderRules>;
}

export class RulesFiles {
  readonly #workspace: Workspace;
  readonly #known: KnownRules;
  /** Names of rules files in the project. */
  #listed: ReadonlySet<string> = new Set();

  constructor(workspace: Workspace, known: KnownRules) {
    this.#workspace = workspace;
    this.#known = known;
  }

  /** @param names of all rules files in the project, from which those of folders are found later */
  set listed(names: readonly string[]) {
    this.#listed = new Set(names);
  }

  /** Rules for every turn: the user's, the roots' with their imports, and those for all files. */
  async general(own: string | undefined, signal: AbortSignal): Promise<readonly RulesFile[]> {
    const found: RulesFile[] = [];
    if (own !== undefined && !this.#isTold(OWN)) {
      found.push(...this.#fitted({ path: OWN, label: OWN, text: own }, "rules"));
    }
    for (const root of this.#workspace.roots) {
      found.push(...await this.#folder((name) => join(root, name), "rules", signal));
    }
    const { roots } = this.#workspace;
    const folders = new Set(roots.map((root) => nameInRoots(root, roots)));
    const described: string[] = [];
    for (const { file, folder, conditions } of await this.#conditional(signal)) {
      const { isGeneral, globs, description } = conditions;
      if (!folders.has(folder)) continue;
      if (isGeneral) found.push(...await this.#withImports(file, "rules", signal));
      else if (globs.length === 0 && description !== undefined) {
        described.push(`- ${file.label}: ${description}`);
      }
    }
    if (described.length > 0) {
      found.push(...this.#fitted({ path: DESCRIBED, label: DESCRIBED, text: described.join("\n") }, "rules"));
    }
    return found;
  }

  /** New rules for these files and their folders. @param paths absolute */
  async of(paths: readonly string[], signal: AbortSignal): Promise<readonly RulesFile[]> {
    const names = paths.flatMap((path) => nameInRoots(path, this.#workspace.roots) ?? []);
    if (names.length === 0 || this.#listed.size === 0) return [];
    const found: RulesFile[] = [];
    for (const folder of [...new Set(names.flatMap(foldersOf))].sort()) {
      const listed = (name: string) =>
        this.#listed.has(`${folder}/${name}`) ? `${folder}/${name}` : undefined;
      found.push(...await this.#folder(listed, "folderRules", signal));
    }
    for (const { file, folder, conditions: { isGeneral, globs } } of await this.#conditional(signal)) {
      const inside = names.flatMap((name) => name.startsWith(folder) ? [name.slice(folder.length)] : []);
      const isFor = (glob: string) => !isCostly(glob) && inside.some((name) => matchesGlob(glob, name));
      if (inside.length > 0 && (isGeneral || globs.some(isFor))) {
        found.push(...await this.#withImports(file, "folderRules", signal));
      }
    }
    return found;
  }

  /** The rules that apply in a folder. @param nameOf maps a file name in there; undefined: it does not exist */
  async #folder(
    nameOf: (name: string) => string | undefined,
    as: keyof KnownRules,
    signal: AbortSignal,
  ): Promise<readonly RulesFile[]> {
    const firstOf = (names: readonly string[]) =>
      this.#first(names.flatMap((name) => nameOf(name) ?? []), signal);
    const files: Read[] = [];
    for (const names of MAIN_RULES) {
      const file = await firstOf(names);
      if (file !== undefined && !await this.#importsOne(file, files)) files.push(file);
    }
    const other = files.length === 0 ? await firstOf(OTHER_RULES) : undefined;
    if (other !== undefined) files.push(other);
    for (const name of LOCAL_RULES) files.push(...await firstOf([name]).then((file) => file ? [file] : []));
    const texts = new Set<string>();
    const found: RulesFile[] = [];
    for (const file of files) {
      const text = file.text.trim();
      if (!texts.has(text) && !this.#isTold(file.path)) {
        found.push(...await this.#withImports(file, as, signal));
      }
      texts.add(text);
    }
    return found;
  }

  /** The first non-empty file. */
  async #first(names: readonly string[], signal: AbortSignal): Promise<Read | undefined> {
    for (const name of names) {
      const file = await this.#read(name, signal);
      if (file !== undefined && file.text.trim() !== "") return file;
    }
    return undefined;
  }

  /** Whether a file imports one of these, and so stands for the same rules. */
  async #importsOne({ path, text }: Read, files: readonly Read[]): Promise<boolean> {
    if (files.length === 0) return false;
    const paths = importsOf(text).filter((name) => !isAbsolute(name)).map((name) =>
      join(dirname(path), name)
    );
    for (const name of paths) {
      const { path: imported } = await this.#workspace.resolve(name).catch(() => ({ path: undefined }));
      if (files.some((file) => file.path === imported)) return true;
    }
    return false;
  }

  /** A file with its nested imports, without those already sent. */
  async #withImports(file: Read, as: keyof KnownRules, signal: AbortSignal): Promise<readonly RulesFile[]> {
    const found = [...this.#fitted(file, as)];
    let left = MOST_IMPORTS;
    let level = [file];
    for (let depth = 1; depth <= DEEPEST_IMPORT; depth++) {
      const names = level.flatMap(({ path, text }) =>
        importsOf(text).filter((name) => !isAbsolute(name)).map((name) => join(dirname(path), name))
      ).slice(0, left);
      left -= names.length;
      level = [];
      for (const name of names) {
        const imported = await this.#read(name, signal);
        if (imported === undefined || this.#isTold(imported.path)) continue;
        found.push(...this.#fitted(imported, as));
        level.push(imported);
      }
    }
    return found;
  }

  /** Files with conditions of their own, without those already sent. */
  async #conditional(signal: AbortSignal): Promise<readonly ConditionalFile[]> {
    const found: ConditionalFile[] = [];
    const known = [...this.#listed].flatMap((name) => {
      const kind = conditionalRules(name);
      return kind === undefined ? [] : [{ name, ...kind }];
    });
    for (const { name, kind, folder } of known.slice(0, MOST_CONDITIONAL)) {
      const file = await this.#read(name, signal);
      if (file === undefined || this.#isTold(file.path)) continue;
      const conditions = conditionsOf(kind, file.text);
      found.push({ file: { ...file, text: conditions.text }, folder, conditions });
    }
    return found;
  }

  #isTold(path: string): boolean {
    return this.#known.rules.has(path) || this.#known.folderRules.has(path);
  }

  /** Marks a file as sent, shortened to the remaining room; empty without room. */
  #fitted({ path, label, text }: Read, as: keyof KnownRules): readonly RulesFile[] {
    const { rules, folderRules } = this.#known;
    const sizes = [...rules.values(), ...folderRules.values().map(({ bytes }) => bytes)];
    const room = MOST_RULES - sizes.reduce((sum, bytes) => sum + bytes, 0);
    if (room <= 0) return [];
    const file = fitted(label, text, room);
    const bytes = Math.min(room, file.bytes);
    if (as === "rules") rules.set(path, bytes);
    else folderRules.set(path, { path: label, bytes });
    return [file];
  }

  /** Undefined if the file is missing, not text, outside of the project, or not freely readable. */
  async #read(name: string, signal: AbortSignal): Promise<Read | undefined> {
    try {
      const path = await this.#workspace.resolve(name);
      if (!path.exists || !this.#workspace.mayShow(path) || isInGit(path)) return undefined;
      const file = await this.#workspace.readIfText(path, signal);
      return file === undefined ? undefined : { path: path.path, label: path.named, text: file.text };
    } catch (error) {
      if (error instanceof ToolError) return undefined;
      throw error;
    }
  }
}

/** "a/b/c.ts" → "a", "a/b", "a/b/c.ts": the path may itself be a folder */
function foldersOf(name: string): readonly string[] {
  const parts = name.split("/");
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
}
