/** What is known at one point of a line: the folder, the functions, the input. */
import type { Command, Function as FunctionNode, Statement } from "unbash";
import type { Bindings } from "./bindings.ts";
import { normalise, type Places, UNKNOWN } from "./places.ts";
import type { Input } from "./scene.ts";
import { BREAK } from "./words.ts";

export interface Scope {
  /** The text that positions refer to. */
  readonly source: string;
  /** How many texts this one is inside of: sh -c '…'. */
  readonly depth: number;
  readonly input: Input;
  /** $1, $2, …; undefined if not known. */
  readonly positional: readonly string[] | undefined;
  /** $0, where the text was started with one. */
  readonly zero: string | undefined;
  /** The functions that are being run, so that recursion ends. */
  readonly calling: ReadonlySet<FunctionNode>;
  /** The folders that a command here may be in. */
  folders: readonly string[];
  /** Variables that surely have been set by now. */
  readonly assigned: Set<string>;
  readonly functions: Map<string, FunctionNode>;
  readonly aliases: Map<string, string>;
  /** `set -e`: what follows a failed cd does not run. */
  stopsOnError: boolean;
}

export function outermost(source: string): Scope {
  return {
    source,
    depth: 0,
    input: { kind: "nothing" },
    positional: undefined,
    zero: undefined,
    calling: new Set(),
    folders: [""],
    assigned: new Set(),
    functions: new Map(),
    aliases: new Map(),
    stopsOnError: false,
  };
}

/** A copy for a branch or a subshell: what is set there does not count outside. */
export function fork(scope: Scope, change: Partial<Scope> = {}): Scope {
  return {
    ...scope,
    assigned: new Set(scope.assigned),
    functions: new Map(scope.functions),
    aliases: new Map(scope.aliases),
    ...change,
  };
}

const MOST_FOLDERS = 6;

/** All folders once; of too many those outside of the project, and one that is not known. */
export function joinFolders(...lists: readonly (readonly string[])[]): readonly string[] {
  const all = [...new Set(lists.flat())];
  if (all.length <= MOST_FOLDERS) return all;
  const outside = all.filter((folder) => folder === "" || /^([/~]|\.\.)/.test(folder));
  return [...new Set([...outside.slice(0, MOST_FOLDERS - 1), UNKNOWN])];
}

/** What `$name` may be at this point. */
export function lookUp(name: string, scope: Scope, bindings: Bindings): readonly string[] {
  if (/^[1-9]$/.test(name) || name === "@" || name === "*") return positional(name, scope, bindings);
  if (/^[#?$!-]$/.test(name)) return [UNKNOWN];
  if (name === "0" && scope.zero !== undefined) return [scope.zero];
  const values = bindings.values(name);
  const unsure = bindings.isSet(name) && !scope.assigned.has(name) && !values.includes(UNKNOWN);
  return unsure ? [...values, UNKNOWN] : values;
}

function positional(name: string, scope: Scope, bindings: Bindings): readonly string[] {
  const all = [...(scope.positional === undefined ? [] : [scope.positional]), ...bindings.positional];
  if (all.length === 0) return [UNKNOWN];
  if (name === "@" || name === "*") return all.map((words) => words.join(BREAK));
  const at = Number(name) - 1;
  // After a shift, $1 may be any of them.
  const found = all.flatMap((words) => bindings.shifts ? words.slice(at) : words.slice(at, at + 1));
  return found.length > 0 ? found : [UNKNOWN];
}

/** Follows cd, set, unset and the like. */
export function follow(words: readonly string[], scope: Scope, places: Places): void {
  const [name, ...args] = words;
  switch (name) {
    case "cd":
    case "pushd":
    case "popd": {
      const target = args.find((arg) => !/^-[LPe@]+$|^--$/.test(arg)) ?? (name === "cd" ? "~" : UNKNOWN);
      const known = target === "-" || /^[+-]\d+$/.test(target) ? UNKNOWN : target;
      scope.folders = joinFolders(scope.folders.map((folder) => normalise(known, folder, places)));
      break;
    }
    case "set":
      if (args.some((arg) => /^-\w*e/.test(arg)) || args.includes("errexit")) scope.stopsOnError = true;
      if (args.some((arg) => /^\+\w*e/.test(arg))) scope.stopsOnError = false;
      break;
    case "unset":
      for (const arg of args) scope.functions.delete(arg);
      break;
    case "unalias":
      for (const arg of args) scope.aliases.delete(arg);
      break;
    case "alias":
      for (const arg of args) {
        const [, alias, text] = /^([^=]+)=(.*)$/s.exec(arg) ?? [];
        if (alias !== undefined && text !== undefined) scope.aliases.set(alias, text);
      }
  }
}

/** `cd x || exit`: whatever follows runs in x only. */
export function isGuarded({ command }: Statement): boolean {
  if (command.type !== "AndOr" || command.operators.at(-1) !== "||") return false;
  const last = command.commands.at(-1);
  const leaves = (node: Command) => /^(exit|return|break|continue)$/.test(node.name?.value ?? "");
  if (last?.type === "Command") return leaves(last);
  if (last?.type !== "BraceGroup") return false;
  const end = last.body.commands.at(-1)?.command;
  return end?.type === "Command" && leaves(end);
}
