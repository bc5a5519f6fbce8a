/** Judges a whole line: hands each simple command that the walk meets to its judge, in all ways it may come out. */
import type { Command, Function as FunctionNode, ParsedScript, Word } from "unbash";
import { looseArithmetic } from "./arithmetic.ts";
import { Bindings } from "./bindings.ts";
import { judgeCode } from "./code.ts";
import { Findings } from "./findings.ts";
import { Forks } from "./forks.ts";
import { judgeWords, knows } from "./judge.ts";
import { normalise, type Places, UNKNOWN } from "./places.ts";
import { judgeRedirects, judgeVariables } from "./redirects.ts";
import type { Inner, InnerText, Input, Scene } from "./scene.ts";
import { follow, fork, joinFolders, lookUp, outermost, type Scope } from "./scope.ts";
import { HARMLESS, judged, type Judgement, type Severity, worst } from "./severity.ts";
import { inputOf, outputOf, outputOfScript } from "./static_output.ts";
import { type Host, LONGEST_SHOWN, RUNS_INDEX, Walker } from "./walker.ts";
import { judgeNames } from "./shell_state.ts";
import { isPlainVariable, isSteering, judgeAssignment } from "./variables.ts";
import { combine, expandText, expandWord, type Field, type Surroundings } from "./words.ts";

const DECLARES = /^(export|declare|typeset|readonly|local)$/;
const COUNTS =
  /^(let|test|\[|read|unset|declare|typeset|local|export|readonly|mapfile|readarray|wait|getopts)$/;

/** What comes with the words of a simple command. */
interface Around {
  readonly text: string;
  readonly dynamic: boolean;
  readonly extra: Judgement;
  readonly assignments: readonly string[];
  readonly redirects: readonly string[];
}

const NOTHING_AROUND = { dynamic: false, extra: HARMLESS, assignments: [], redirects: [] };

export class Runner implements Host {
  readonly findings = new Findings();
  readonly #walker = new Walker(this);
  readonly #bindings = new Bindings();
  readonly #forks = new Forks();
  readonly #uncalled = new Map<FunctionNode, Scope>();
  readonly #places: Places;
  #supposing = false;

  constructor(places: Places) {
    this.#places = places;
  }

  /** Judges a whole line; {@link findings} has the result. */
  line(text: string): void {
    this.#walker.text(text, outermost(text));
    // A call may define further ones, which then come last in the map.
    for (const [node, scope] of this.#uncalled) this.#call(node, undefined, scope);
    this.#ownFiles(text);
    const shown = text.slice(0, LONGEST_SHOWN);
    const bomb = this.#forks.bomb();
    if (bomb !== undefined) {
      this.findings.addWordless(shown, judged("critical", `multiplies itself without end (${bomb})`));
    }
    const hidden = this.findings.hidden;
    if (hidden !== undefined) {
      const reason = hidden === "downloads" ? "runs what it downloads" : "runs text that it decodes first";
      const effects = { network: hidden === "downloads", writes: true };
      this.findings.addWordless(shown, judged("critical", reason, effects));
    }
    if (this.findings.exhausted) {
      this.findings.addWordless(shown, judged("critical", "is too long or too deep to be judged"));
    }
  }

  /** Files that the line makes and then runs: what is known of them is judged as if it stood in the line. */
  #ownFiles(line: string): void {
    for (const { path, language, downloaded, texts } of this.findings.ownFiles()) {
      const judgement = downloaded
        ? judged("critical", `runs ${path}, which it downloads`, { network: true, writes: true })
        : judged("high", `runs ${path}, which it writes itself`, { writes: true });
      this.findings.addWordless(path, judgement);
      for (const text of texts) {
        const scope = { ...outermost(line), source: text, depth: 1 };
        if (language === "shell" && !/^#!.*(python|node|perl|ruby|php)/.test(text)) {
          this.#walker.text(text, scope);
        } else this.findings.addWordless(path, judgeCode(text, "script", this.scene(scope, scope.input)));
      }
    }
  }

  prepare(script: ParsedScript, scope: Scope): void {
    this.#bindings.collect(script, this.around(scope));
    const place = looseArithmetic(script, this.#bindings.loose);
    if (place !== undefined) {
      const reason = "does arithmetic with a text from elsewhere, which may hold a command";
      this.findings.addWordless(place.slice(0, LONGEST_SHOWN), judged("medium", reason, { writes: true }));
    }
    for (const name of this.#bindings.takeOdd()) {
      const reason = `sets ${name}, which other programs obey`;
      if (isSteering(name)) {
        this.findings.addWordless(scope.source.slice(0, LONGEST_SHOWN), judged("high", reason));
      }
    }
    // There are many ways to set a number, arithmetic's among them; whoever means them says the name.
    if (/GIT_CONFIG_/.test(scope.source)) {
      const judgement = judged("medium", "names settings that git obeys");
      this.findings.addWordless(scope.source.slice(0, LONGEST_SHOWN), judgement);
    }
  }

  define(node: FunctionNode, scope: Scope): void {
    scope.functions.set(node.name.value, node);
    this.#forks.define(node);
    this.#uncalled.set(node, fork(scope));
  }

  command(node: Command, scope: Scope): void {
    const around = this.around(scope);
    const text = scope.source.slice(node.pos, node.end);
    const set = node.prefix.flatMap((part) => part.type === "Assignment" ? [part] : []);
    const input = inputOf(node.redirects, around) ?? scope.input;
    const { judgement, paths } = judgeRedirects(node.redirects, around, this.scene(scope, input));
    const output = paths.length > 0 ? outputOf(node, input, around, true)?.join("\n") : undefined;
    for (const path of paths) this.findings.note({ kind: "writes to", path, text: output });
    // `IFS= read -r line` is how lines are read; it holds for that alone.
    const judgedSet = node.name?.value === "read" ? set.filter(({ name }) => name !== "IFS") : set;
    const extra = worst(judgement, judgeVariables(judgedSet, around));
    const assignments = set.map((assignment) => assignment.name);
    if (node.name === undefined) return this.#nameless(text, extra, assignments, paths, scope);
    for (const fields of this.#ways(node.name, node.args, around)) {
      if (!this.findings.spend(1 + fields.length / 8)) return;
      const [first] = fields;
      if (first === undefined) continue;
      const words = fields.map((field) => field.value);
      const dynamic = first.expanded || first.glob;
      const ways = { text, dynamic, extra, assignments, redirects: paths };
      if (!this.#own(words, ways, scope, input)) this.#judgeEach(words, ways, scope, input);
    }
  }

  /** `X=1` or `> file` alone. */
  #nameless(
    text: string,
    extra: Judgement,
    assignments: readonly string[],
    redirects: readonly string[],
    scope: Scope,
  ): void {
    for (const name of assignments) scope.assigned.add(name);
    if (text.trim() === "") return;
    const transparent = assignments.every(isPlainVariable) && redirects.length === 0;
    const shown = extra.severity === "none" ? judged("none", "sets variables") : extra;
    this.findings.addWordless(text.slice(0, LONGEST_SHOWN), shown, { assignments, redirects, transparent });
  }

  #ways(name: Word, args: Command["args"], around: Surroundings): readonly (readonly Field[])[] {
    const words = [name, ...args].map((word) => {
      if (word.type === "Word") return expandWord(word, around);
      const values = word.value.type === "Word" ? expandText(word.value, around) : [UNKNOWN];
      return values.map((value) => [{ value: `${word.name}=${value}`, expanded: false, glob: false }]);
    });
    return combine(words);
  }

  /** Functions and aliases that the line itself defines. True if nothing else can be meant. */
  #own(words: readonly string[], around: Around, scope: Scope, input: Input): boolean {
    const [name = "", ...args] = words;
    const alias = scope.aliases.get(name);
    if (alias !== undefined) {
      const source = [alias, ...args].join(" ");
      this.#walker.text(source, fork(scope, { source, depth: scope.depth + 1 }));
    }
    const node = scope.functions.get(name);
    if (node === undefined || around.dynamic) return false;
    this.#call(node, args, { ...scope, input });
    // A function of a known program's name may not be the one that is called, in ways that are not followed.
    if (knows(name)) return false;
    this.#add(words, around, { judgement: HARMLESS, transparent: true });
    return true;
  }

  #call(node: FunctionNode, args: readonly string[] | undefined, scope: Scope): void {
    if (scope.calling.has(node)) return;
    this.#uncalled.delete(node);
    const calling = new Set([...scope.calling, node]);
    const inner = fork(scope, { positional: args, calling });
    this.#walker.node(node.body, inner);
    scope.folders = joinFolders(scope.folders, inner.folders);
  }

  /** An unset variable vanishes, and the next word is the command: `$X rm -rf /` is judged both ways. */
  #judgeEach(words: readonly string[], around: Around, scope: Scope, input: Input): void {
    this.#judge(words, around, scope, input);
    const rest = words.filter((word, index) => index > 1 || word !== UNKNOWN);
    if (rest.length > 0 && rest.length < words.length) this.#judge(rest, around, scope, input);
  }

  #judge(words: readonly string[], around: Around, scope: Scope, input: Input): void {
    const scene = this.scene(scope, input);
    const found = judgeWords(words, around.dynamic, scene);
    const extra: Judgement[] = [];
    const [name = "", ...args] = words;
    if (COUNTS.test(name) && args.some((arg) => RUNS_INDEX.test(arg))) {
      extra.push(judged("high", "hides a command in an index", { writes: true }));
    }
    const names = judgeNames(words);
    if (names.severity !== "none") extra.push(names);
    if (DECLARES.test(name)) {
      for (const arg of args) {
        if (arg.includes("=")) extra.push(judgeAssignment(arg));
        scope.assigned.add(arg.replace(/\+?=.*$/s, ""));
      }
    }
    if (name === "alias") {
      for (const arg of args.filter((one) => one.includes("="))) {
        extra.push(judged("medium", "gives a name another meaning"));
        scene.shell(arg.slice(arg.indexOf("=") + 1));
      }
    }
    follow(words, scope, this.#places);
    this.#add(words, around, {
      judgement: worst(found.judgement, ...extra),
      transparent: found.transparent && extra.length === 0,
    });
  }

  #add(
    words: readonly string[],
    around: Around,
    found: { judgement: Judgement; transparent: boolean },
  ): void {
    const { severity, reason, network, writes } = worst(found.judgement, around.extra);
    const { dynamic, assignments, redirects } = around;
    const transparent = found.transparent && redirects.length === 0 && assignments.every(isPlainVariable);
    const text = around.text.slice(0, LONGEST_SHOWN);
    this.findings.add({
      words,
      text,
      severity,
      reason,
      network,
      writesFiles: writes,
      assignments,
      redirects,
      dynamic,
      transparent,
    });
  }

  around(scope: Scope): Surroundings {
    return {
      variable: (name) => lookUp(name, scope, this.#bindings),
      output: (script) => {
        const command = script.commands[0]?.command;
        const name = command?.type === "Command" ? command.name?.value ?? "" : "";
        const own = scope.functions.has(name) || scope.aliases.has(name);
        return own ? undefined : outputOfScript(script, this.around(scope));
      },
      separators: this.#bindings.separators,
    };
  }

  scene(scope: Scope, input: Input): Scene {
    return {
      folders: scope.folders,
      places: this.#places,
      input,
      run: (words, inner) => this.#run(words, scope, input, inner),
      shell: (text, inner) => this.#shell(text, scope, inner),
      suppose: (what) => this.#suppose(what, scope),
      note: (fact) => this.findings.note(fact),
    };
  }

  #run(words: readonly string[], scope: Scope, input: Input, inner: Inner = {}): void {
    if (words.length === 0 || !this.findings.spend(1 + words.length / 8)) return;
    const at = inner.folder === undefined
      ? scope
      : fork(scope, { folders: this.#enter(inner.folder, scope) });
    this.#judgeEach(words, { ...NOTHING_AROUND, text: words.join(" ") }, at, inner.input ?? input);
  }

  #enter(folder: string, scope: Scope): readonly string[] {
    return scope.folders.map((one) => normalise(folder, one, this.#places));
  }

  /** Text for a shell. Another one sees neither this one's functions nor, for sure, its variables. */
  #shell(text: string, scope: Scope, inner: InnerText = {}): void {
    const same = inner.positional === "same";
    if (text.includes(UNKNOWN)) {
      this.findings.note({ kind: "runs unknown text" });
      const judgement = judged("high", "runs text that is only known when it runs", { writes: true });
      this.findings.addWordless(text.slice(0, LONGEST_SHOWN), judgement);
    }
    const [zero, ...args] = inner.positional === undefined || same ? [] : inner.positional;
    const positional = args.length > 0 ? args : undefined;
    const child = fork(scope, {
      source: text,
      depth: scope.depth + 1,
      input: inner.input ?? { kind: "nothing" },
      ...(inner.folder === undefined ? {} : { folders: this.#enter(inner.folder, scope) }),
      ...(same ? {} : { assigned: new Set(), functions: new Map(), aliases: new Map(), positional, zero }),
    });
    this.#walker.text(text, child);
    if (same) scope.folders = joinFolders(scope.folders, child.folders);
  }

  /** Only one level deep: what is supposed within a supposition adds nothing. */
  #suppose(what: readonly string[] | string, scope: Scope): Severity {
    if (this.#supposing) return "none";
    this.#supposing = true;
    try {
      return this.findings.suppose(() => {
        if (typeof what !== "string") this.#run(what, fork(scope), { kind: "nothing" });
        else this.#walker.text(what, fork(scope, { source: what, depth: scope.depth + 1 }));
      });
    } finally {
      this.#supposing = false;
    }
  }
}
