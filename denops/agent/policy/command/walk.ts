/**
 * Walks a parsed line, expands what the text determines, and judges each simple command at any depth.
 * Unresolvable text counts as unknown. Nothing here has to be complete, because the sandbox enforces the
 * level.
 */
import { posix } from "node:path";
import { forEachChild, parse } from "../../deps/unbash.ts";
import type * as shell from "../../deps/unbash.ts";
import { judgeWords, type Starts } from "./judge.ts";
import { judgeRead, judgeWrite, normalise, type Places, UNKNOWN } from "./places.ts";
import { printed } from "./printed.ts";
import type { Fact, Input, Scene } from "./scene.ts";
import { judgeAs, type Judgement, READS, worst } from "./severity.ts";
import { isTooComplex, leavesOut, PLAIN_SYNTAX, startsItself } from "./syntax.ts";
import { judgeVariable } from "./wrappers.ts";
import { BREAK, expandParts, expandText, expandWord, type ExpansionScope, isLiteral } from "./words.ts";

/** One simple command of a line, at any depth. */
export interface SimpleCommand extends Judgement {
  /** Expanded as far as possible; unknown text is the character U+FFFC. */
  readonly words: readonly string[];
  /** Its text in the line. */
  readonly text: string;
  /** Started by another command of the line: `timeout 5 ls`, `sh -c 'ls'`. That one is listed too. */
  readonly inner: boolean;
  readonly starts: Starts;
}

interface Scope {
  readonly source: string;
  readonly depth: number;
  readonly inner: boolean;
  readonly input: Input;
  readonly variables: Map<string, string>;
  folder: string;
}

/** Limit for the work of judging; no user could review a line that needs more. */
const MOST_STEPS = 3_000;
const MOST_TRIALS = 40;
const DEEPEST_TEXT = 10;
const LONGEST_SHOWN = 200;
const NOTHING: Input = { kind: "nothing" };
const ANYTHING: Input = { kind: "unknown" };

export class Reader {
  readonly #places: Places;
  readonly #work: { steps: number; trials: number };
  readonly commands: SimpleCommand[] = [];
  readonly #facts = new Set<Fact>();
  /** The base names of files that the line creates; true: from the network. */
  readonly #made = new Map<string, boolean>();
  readonly #functions = new Set<string>();
  /** False if a part is not valid shell syntax. */
  parsed = true;
  /** Only literal words and plain syntax. */
  plain = true;

  constructor(places: Places, work = { steps: 0, trials: 0 }) {
    this.#places = places;
    this.#work = work;
  }

  read(line: string): void {
    const variables = new Map([["HOME", "~"], ["PWD", "."], ["IFS", " "]]);
    this.#text(line, { source: line, depth: 0, inner: false, input: NOTHING, variables, folder: "" });
    const facts = this.#facts;
    if (facts.has("runs unknown text") && (facts.has("downloads") || facts.has("decodes"))) {
      const how = facts.has("downloads") ? "downloads" : "decodes";
      this.add(line, judgeAs("critical", `runs what it ${how}`, "write", facts.has("downloads")));
    }
    if (this.#work.steps > MOST_STEPS) {
      this.parsed = false;
      this.add(line.slice(0, LONGEST_SHOWN), judgeAs("critical", "is too complex to be judged"));
    }
  }

  /** Adds a finding without words: a redirection, an assignment, or one about the whole line. */
  add(text: string, judgement: Judgement, more: Partial<SimpleCommand> = {}): void {
    this.commands.push({ words: [], text, inner: false, starts: "nothing", ...judgement, ...more });
  }

  #text(text: string, scope: Scope): void {
    if (++this.#work.steps > MOST_STEPS) return;
    if (scope.depth > DEEPEST_TEXT || isTooComplex(text)) this.#work.steps = MOST_STEPS + 1;
    else this.#script(parse(text), scope);
  }

  #script(script: shell.ParsedScript, outer: Scope): void {
    const scope = script.source === undefined ? outer : { ...outer, source: script.source };
    if ((script.errors ?? []).length > 0 || leavesOut(script, scope.source)) this.#unparsed(script, scope);
    this.#children(script, scope);
    outer.folder = scope.folder;
  }

  /** Each piece of unparsed text may be a command. */
  #unparsed({ pos, end }: shell.ParsedScript, scope: Scope): void {
    const text = scope.source.slice(pos, end);
    const first = this.parsed;
    this.parsed = false;
    this.add(text.slice(0, LONGEST_SHOWN), judgeAs("high", "cannot be parsed as shell"));
    for (const piece of first ? text.split(/[;&|\n(){}`]+|\$\(/) : []) {
      if (piece.trim() !== "") this.#text(piece, { ...fork(scope), source: piece, depth: scope.depth + 1 });
    }
  }

  #children(node: shell.SyntaxNode, scope: Scope): void {
    forEachChild(node, (child) => this.#node(child, scope));
  }

  #node(node: shell.SyntaxNode, scope: Scope): void {
    if (++this.#work.steps > MOST_STEPS) return;
    if (!scope.inner && !PLAIN_SYNTAX.has(node.type)) this.plain = false;
    switch (node.type) {
      case "Word":
        if (!scope.inner && !isLiteral(node)) this.plain = false;
        return this.#children(node, scope);
      case "Command":
        return this.#command(node, scope);
      case "Pipeline":
        return this.#pipeline(node, scope);
      case "ProcessSubstitution":
        return this.#children(node, { ...fork(scope), input: node.operator === ">" ? ANYTHING : NOTHING });
      case "Script":
        return this.#script(node, fork(scope));
      case "Subshell":
        return this.#children(node, fork(scope));
      case "Redirected":
        for (const redirect of node.redirects) this.#node(redirect, fork(scope));
        this.#redirects(node.redirects, scope.source.slice(node.pos, node.end), scope);
        return this.#node(node.command, { ...scope, input: this.#inputOf(node.redirects, scope) });
      case "For":
      case "Select": {
        const words = (node.wordlist ?? []).flatMap((word) => expandWord(word, this.#around(scope)));
        scope.variables.set(node.name.value, words.length > 0 ? words.join(BREAK) : UNKNOWN);
        return this.#children(node, scope);
      }
      case "Function":
        return this.#function(node, scope);
      case "Assignment":
        this.#children(node, scope);
        return this.#assign(node, scope);
      default:
        this.#children(node, scope);
    }
  }

  #pipeline({ commands, operators }: shell.Pipeline, scope: Scope): void {
    if (operators.includes("|&")) this.plain = false;
    let input = scope.input;
    for (const command of commands) {
      const inside = { ...fork(scope), input };
      this.#node(command, inside);
      if (commands.length === 1) scope.folder = inside.folder;
      input = command.type === "Command"
        ? printed(this.#words(command, scope), { ...inside, input: this.#inputOf(command.redirects, inside) })
        : ANYTHING;
    }
  }

  #function(node: shell.Function, scope: Scope): void {
    this.#functions.add(node.name.value);
    if (startsItself(node)) {
      this.add(`${node.name.value}()`, judgeAs("critical", "starts itself endlessly"));
    }
    this.#node(node.body, { ...fork(scope), variables: new Map(scope.variables).set("@", UNKNOWN) });
  }

  #command(node: shell.Command, scope: Scope): void {
    const text = scope.source.slice(node.pos, node.end);
    // An assignment before a command applies only to it, an export to the line.
    const declares = /^(export|declare|typeset|local|readonly)$/.test(node.name?.value ?? "");
    this.#children(node, node.name === undefined || declares ? scope : { ...fork(scope), input: NOTHING });
    const words = this.#words(node, scope);
    if (words.length === 0) return this.#redirects(node.redirects, text, scope);
    const hides = node.name !== undefined && !isLiteral(node.name) && !/^~?\//.test(node.name.text);
    this.#judge(words, { ...scope, input: this.#inputOf(node.redirects, scope) }, text, hides);
    this.#redirects(node.redirects, text, scope);
    const [name, to = "~"] = words;
    if (name !== "cd" && name !== "pushd") return;
    scope.folder = normalise(to === "-" ? UNKNOWN : to, scope.folder, this.#places);
  }

  #words(node: shell.Command, scope: Scope): readonly string[] {
    const around = this.#around(scope);
    const all = [...(node.name === undefined ? [] : [node.name]), ...node.args];
    return all.flatMap((one) =>
      one.type === "Word" ? expandWord(one, around) : [`${one.name}=${expandValue(one, around)}`]
    );
  }

  #judge(words: readonly string[], scope: Scope, text: string, hides = false): void {
    if (++this.#work.steps > MOST_STEPS) return;
    const { judgement, starts } = words.length === 1 && this.#functions.has(words[0] ?? "")
      ? { judgement: READS, starts: "words" as const }
      : judgeWords(words, this.#scene(scope, text));
    const whole = hides ? worst(judgement, judgeAs("high", "hides the name of the program")) : judgement;
    this.add(text, whole, { words, starts, inner: scope.inner });
  }

  #assign(node: shell.Assignment, scope: Scope): void {
    const value = expandValue(node, this.#around(scope));
    const before = node.append === true ? scope.variables.get(node.name) ?? "" : "";
    scope.variables.set(node.name, node.index === undefined ? before + value : UNKNOWN);
    const found = judgeVariable(`${node.name}=${value}`);
    if (found !== READS) this.add(node.text, found);
  }

  #redirects(redirects: readonly shell.Redirection[], text: string, scope: Scope): void {
    for (const redirect of redirects) {
      if (redirect.type !== "Redirect" || redirect.target === undefined) continue;
      const path = expandText(redirect.target, this.#around(scope));
      if (redirect.operator.endsWith("&") && /^\d*-?$/.test(path)) continue;
      const reads = redirect.operator === "<" || redirect.operator === "<&";
      const found = (reads ? judgeRead : judgeWrite)(path, { folder: scope.folder, places: this.#places });
      // bash and dash interpret "&>" differently.
      if (found.severity !== "none" || redirect.operator.startsWith("&")) this.plain = false;
      if (!reads) this.#scene(scope, text).made(path);
      if (found.severity !== "none") this.add(text, found, { inner: scope.inner });
    }
  }

  #inputOf(redirects: readonly shell.Redirection[], scope: Scope): Input {
    for (const redirect of redirects.toReversed()) {
      if (redirect.type === "HereDoc") {
        const { text, parts } = redirect.body;
        return { kind: "text", text: parts === undefined ? text : expandParts(parts, this.#around(scope)) };
      }
      if (redirect.type === "HereString" && redirect.target !== undefined) {
        return { kind: "text", text: expandText(redirect.target, this.#around(scope)) };
      }
      if (redirect.type === "Redirect" && redirect.operator === "<") return ANYTHING;
    }
    return scope.input;
  }

  #around(scope: Scope): ExpansionScope {
    return {
      variables: scope.variables,
      output: ({ commands: [only, ...more] }) => {
        if (only?.command.type !== "Command" || more.length > 0) return undefined;
        const input = printed(this.#words(only.command, scope), { folder: scope.folder, input: NOTHING });
        return input.kind === "text" ? input.text : undefined;
      },
    };
  }

  #scene(scope: Scope, text: string): Scene {
    const inner = { inner: true, depth: scope.depth + 1 };
    const within = (input = NOTHING): Scope => ({ ...fork(scope), ...inner, input });
    return {
      places: this.#places,
      folder: scope.folder,
      input: scope.input,
      note: (fact) => this.#facts.add(fact),
      made: (path) => {
        this.#made.set(
          posix.basename(path),
          this.#facts.has("downloads") || this.#made.get(posix.basename(path)) === true,
        );
      },
      runs: (path) => {
        const downloaded = this.#made.get(posix.basename(path));
        if (downloaded === undefined) return judgeAs("medium", "runs a file of the project");
        return downloaded
          ? judgeAs("critical", "runs what it downloads")
          : judgeAs("high", "runs a file that the line itself makes");
      },
      run: (words, input) => {
        if (words.length > 0 && scope.depth <= DEEPEST_TEXT) this.#judge(words, within(input), text);
      },
      shell: (inside, input) => {
        if (inside.includes(UNKNOWN)) {
          this.#facts.add("runs unknown text");
          this.add(text, judgeAs("high", "runs text known only at run time"), { inner: true });
        }
        this.#text(inside, { ...within(input), source: inside });
      },
      suppose: (command) => {
        if (++this.#work.trials > MOST_TRIALS) return "none";
        const trial = new Reader(this.#places, this.#work);
        if (typeof command === "string") trial.#text(command, { ...within(), source: command });
        else trial.#judge(command, within(), text);
        for (const fact of trial.#facts) this.#facts.add(fact);
        return worst(...trial.commands).severity;
      },
    };
  }
}

function fork(scope: Scope): Scope {
  return { ...scope, variables: new Map(scope.variables) };
}

function expandValue({ value }: shell.Assignment, around: ExpansionScope): string {
  return value.type === "ArrayValue"
    ? value.elements.flatMap((word) => expandWord(word, around)).join(BREAK)
    : expandText(value, around);
}
