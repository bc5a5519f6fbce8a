/**
 * The variables of a line: which values each may have, whatever the order in which things run.
 *
 * Collected before anything is judged, so that a value set later in a loop is known in its first round. Pure.
 */
import { type Assignment, type Command, forEachChild, type SyntaxNode, type Word } from "unbash";
import { Looseness } from "./looseness.ts";
import { UNKNOWN } from "./places.ts";
import { BREAK, expandText, expandWord, type Surroundings } from "./words.ts";

const MOST_VALUES = 6;
const LONGEST_VALUE = 4_000;

/** What is known of the environment in which commands run. */
const ENVIRONMENT: Readonly<Record<string, readonly string[]>> = {
  HOME: ["~"],
  PWD: ["."],
  SHELL: ["bash"],
  BASH: ["bash"],
  TMPDIR: ["/tmp"],
  "0": ["bash"],
};

/** Builtins that give variables values which no text shows: read x, printf -v x, mapfile x. */
const SETTERS = new Set([
  "read",
  "mapfile",
  "readarray",
  "getopts",
  "printf",
  "unset",
  "wait",
  "let",
  "local",
  "declare",
  "typeset",
  "export",
  "readonly",
]);
/** After these any variable may have any value. */
const ANYTHING = new Set(["eval", "source", "."]);
/** Those whose values come from files, the network or a person. */
const READS = /^(read|mapfile|readarray|getopts|printf)$/;
const REFERENCES = new Set(["declare", "typeset", "local"]);

export class Bindings {
  readonly #values = new Map<string, Set<string>>();
  readonly #open = new Set<string>();
  #anything = false;
  #odd: string[] = [];
  readonly loose = new Looseness();
  #shifts = false;
  readonly #positional: (readonly string[])[] = [];

  /** What `set -- …` makes of $1, $2, …. */
  get positional(): readonly (readonly string[])[] {
    return this.#positional;
  }

  get shifts(): boolean {
    return this.#shifts;
  }

  /** Where unquoted expansions are split; a line may set IFS. */
  get separators(): RegExp {
    const own = [...(this.#values.get("IFS") ?? [])].join("").replace(/[^!-\/:-@[-`{-~\w]/g, "");
    return own === "" ? /[ \t\n\0]+/ : new RegExp(`[ \\t\\n\\0${own.replace(/[\]\\^-]/g, "\\$&")}]+`);
  }

  /** The values that the line gives; with UNKNOWN if there may be others. */
  values(name: string): readonly string[] {
    const environment = ENVIRONMENT[name] ?? [];
    const own = this.#values.get(name);
    const known = [...(own ?? []), ...environment];
    const open = this.#anything || this.#open.has(name) || known.length === 0;
    return open && !known.includes(UNKNOWN) ? [...known, UNKNOWN] : known;
  }

  isSet(name: string): boolean {
    return this.#values.has(name) || this.#open.has(name);
  }

  add(name: string, values: readonly string[]): void {
    const own = this.#values.get(name) ?? new Set<string>();
    this.#values.set(name, own);
    for (const value of values) {
      if (own.size < MOST_VALUES && value.length < LONGEST_VALUE) own.add(value);
      else if (!own.has(value)) this.#open.add(name);
    }
  }

  /** The variable may have other values than those in the text. */
  open(name: string): void {
    this.#open.add(name);
  }

  /** The variables set since the last call by other ways than `NAME=value`: a loop, a default, a coprocess. */
  takeOdd(): readonly string[] {
    const found = this.#odd;
    this.#odd = [];
    return found;
  }

  /** @param around in which the values are expanded; its variables are these */
  collect(node: SyntaxNode, around: Surroundings): void {
    switch (node.type) {
      case "Assignment":
        this.#assign(node, around);
        break;
      case "For":
      case "Select":
        this.#odd.push(node.name.value);
        this.#loop(node.name.value, node.type === "For" ? node.wordlist : undefined, around);
        break;
      case "Command":
        this.#command(node, around);
        break;
      case "ParameterExpansion":
        if (node.operation?.type === "Default" && node.operation.operator.endsWith("=")) {
          this.#odd.push(node.parameter);
          this.add(node.parameter, expandText(node.operation.operand, around));
        }
        break;
      case "ArithmeticCommand":
        this.#arithmetic(node.body);
        break;
      case "ArithmeticExpansion":
        this.#arithmetic(node.text);
        break;
      case "ArithmeticFor":
        for (const part of [node.initialize, node.update]) {
          if (part?.type === "ArithmeticBinary" && part.left.type === "ArithmeticWord") {
            this.#arithmetic(`${part.left.value}=`);
          }
        }
        break;
      case "Coproc":
        this.#odd.push(node.name?.value ?? "");
        this.open(node.name?.value ?? "COPROC");
        break;
      case "FileDescriptorVariable":
        this.#odd.push(node.name);
        this.open(node.name);
        break;
      default:
    }
    forEachChild(node, (child) => this.collect(child, around));
  }

  #assign(node: Assignment, around: Surroundings): void {
    this.loose.assign(node);
    if (node.index !== undefined) this.open(node.name);
    const given = node.value.type === "ArrayValue"
      ? [node.value.elements.flatMap((word) => this.#first(word, around)).join(BREAK)]
      : expandText(node.value, around);
    if (!node.append) return this.add(node.name, given);
    const before = this.values(node.name);
    const joint = node.value.type === "ArrayValue" ? BREAK : "";
    this.add(node.name, before.flatMap((old) => given.map((value) => old + joint + value)));
  }

  #first(word: Word, around: Surroundings): readonly string[] {
    const [first = []] = expandWord(word, around);
    return first.map((field) => field.value);
  }

  #loop(name: string, list: readonly Word[] | undefined, around: Surroundings): void {
    if (list === undefined) return this.open(name);
    for (const word of list) this.loose.add(name, word);
    const values = list.flatMap((word) => expandWord(word, around).flat().map((field) => field.value));
    this.add(name, values);
  }

  #command(node: Command, around: Surroundings): void {
    if (node.name?.value === "shift") this.#shifts = true;
    if (node.name?.value === "set") {
      const args = node.args.flatMap((word) => word.type === "Word" ? this.#first(word, around) : []);
      const [first = "", ...rest] = args[0] === "--" ? args.slice(1) : args;
      if (first !== "" && !/^[-+]/.test(first) && this.#positional.length < 8) {
        this.#positional.push([first, ...rest]);
      }
    }
    const words = [node.name, ...node.args].flatMap((word) => word?.type === "Word" ? [word.value] : []);
    if (words.some((word) => ANYTHING.has(word))) this.#anything = true;
    // `env X=rm`: it may yet reach what is expanded elsewhere.
    for (const word of words) {
      const [, name, value] = /^([A-Za-z_]\w*)=([^\s;]*)$/.exec(word) ?? [];
      if (name === undefined || value === undefined || name === "IFS") continue;
      this.add(name, [value]);
      this.open(name);
    }
    if (!words.some((word) => SETTERS.has(word))) return;
    const reads = words.some((word) => READS.test(word));
    const maps = words.some((word) => REFERENCES.has(word)) && words.some((word) => /^-\w*A/.test(word));
    // declare -n makes one variable another's name.
    if (words.some((word) => REFERENCES.has(word)) && words.some((word) => /^-\w*n/.test(word))) {
      this.#anything = true;
    }
    for (const word of words) {
      const [name] = /^[A-Za-z_]\w*/.exec(word) ?? [];
      if (name === undefined) continue;
      this.open(name);
      if (reads) this.loose.mark(name);
      if (maps) this.loose.map(name);
    }
    if (reads) { for (const name of ["REPLY", "MAPFILE", "OPTARG"]) this.loose.mark(name); }
    if (words.includes("mapfile") || words.includes("readarray")) this.open("MAPFILE");
    if (words.includes("read")) this.open("REPLY");
  }

  #arithmetic(text: string): void {
    if (!/[^=!<>]=[^=]?|\+\+|--/.test(text)) return;
    for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) this.open(name);
  }
}
