/** Walks a parsed line as a shell would run it. Branches and subshells get copies of what is known so far. */
import {
  type Command,
  forEachChild,
  type Function as FunctionNode,
  parse,
  type ParsedScript,
  type Redirection,
  type Statement,
  type SyntaxNode,
} from "unbash";
import type { Findings } from "./findings.ts";
import { isEndlessSpawn } from "./forks.ts";
import { isTooComplex } from "./limits.ts";
import { judgeRedirects } from "./redirects.ts";
import type { Input, Scene } from "./scene.ts";
import { fork, isGuarded, joinFolders, type Scope } from "./scope.ts";
import { judged, type Judgement } from "./severity.ts";
import { inputOf, outputOf } from "./static_output.ts";
import type { Surroundings } from "./words.ts";

const DEEPEST_TEXT = 12;
export const LONGEST_SHOWN = 200;

/** The parser passes over some tokens that bash does not: `env (`. What is between statements must be nothing. */
function leavesOut({ commands, pos, end }: ParsedScript, source: string): boolean {
  // The bodies of here-documents stand there too.
  if (source.includes("<<")) return false;
  let at = pos;
  for (const statement of commands) {
    if (!NOTHING.test(source.slice(at, statement.pos))) return true;
    at = Math.max(at, statement.end);
  }
  return !NOTHING.test(source.slice(at, end));
}

const NOTHING = /^(?:[\s;&]|\\\n|#[^\n]*)*$/;

/** What the walk meets, and whom it asks; see runner.ts. */
export interface Host {
  readonly findings: Findings;
  /** Collects the variables of a text before it is walked. */
  prepare(script: ParsedScript, scope: Scope): void;
  command(node: Command, scope: Scope): void;
  define(node: FunctionNode, scope: Scope): void;
  around(scope: Scope): Surroundings;
  scene(scope: Scope, input: Input): Scene;
}

/** `a[$(id)]`: where arithmetic is done, such an index is run, even out of quotes. */
export const RUNS_INDEX = /\[[^\]]*(\$\(|`)/;

export class Walker {
  readonly #host: Host;
  readonly #findings: Findings;
  /** Whether a part is being looked at that the parser could not make sense of. */
  #salvaging = false;

  constructor(host: Host) {
    this.#host = host;
    this.#findings = host.findings;
  }

  text(text: string, scope: Scope): void {
    if (!this.#findings.spend(2)) return;
    if (scope.depth > DEEPEST_TEXT || isTooComplex(text)) return this.#findings.exhaust();
    const script = parse(text);
    this.#host.prepare(script, scope);
    this.#script(script, scope);
  }

  #script(script: ParsedScript, outer: Scope): void {
    const scope = script.source === undefined ? outer : { ...outer, source: script.source };
    if ((script.errors !== undefined && script.errors.length > 0) || leavesOut(script, scope.source)) {
      this.#unparsed(scope.source.slice(script.pos, script.end), scope);
    }
    this.#statements(script.commands, scope);
    outer.folders = scope.folders;
  }

  /** Whatever the parser says about it, each piece of the text may be a command. */
  #unparsed(text: string, scope: Scope): void {
    this.#findings.parsed = false;
    const judgement = judged("high", "cannot be read as a shell would read it", { writes: true });
    this.#findings.addWordless(text.slice(0, LONGEST_SHOWN), judgement);
    if (this.#salvaging) return;
    this.#salvaging = true;
    for (const piece of text.split(/[;&|\n(){}`]+|\$\(/)) {
      if (piece.trim() !== "") this.text(piece, fork(scope, { source: piece }));
    }
    this.#salvaging = false;
  }

  #statements(statements: readonly Statement[], scope: Scope): void {
    for (const statement of statements) {
      if (!this.#findings.spend(1)) return;
      const before = scope.folders;
      this.node(statement.command, statement.background ? fork(scope) : scope);
      // A cd that fails leaves the shell where it was.
      if (before !== scope.folders && !scope.stopsOnError && !isGuarded(statement)) {
        scope.folders = joinFolders(before, scope.folders);
      }
    }
  }

  /** Branches: they may run or not. */
  #branch(scope: Scope, ...lists: readonly (readonly Statement[] | undefined)[]): void {
    const found = [scope.folders];
    for (const list of lists) {
      const branch = fork(scope);
      this.#statements(list ?? [], branch);
      if (branch.folders !== scope.folders) found.push(branch.folders);
    }
    if (found.length > 1) scope.folders = joinFolders(...found);
  }

  node(node: SyntaxNode, scope: Scope): void {
    switch (node.type) {
      case "Command":
        this.substitutions(node, scope);
        return this.#host.command(node, scope);
      case "Pipeline":
        return this.#pipeline(node.commands, scope);
      case "AndOr": {
        const [first, ...rest] = node.commands;
        if (first !== undefined) this.node(first, scope);
        const chain = fork(scope);
        for (const next of rest) this.node(next, chain);
        scope.folders = chain.folders;
        return;
      }
      case "Function":
        return this.#host.define(node, scope);
      case "Redirected":
        return this.#redirected(node.command, node.redirects, scope);
      case "Coproc":
        return this.node(node.body, fork(scope, { input: { kind: "unknown" } }));
      default:
        this.substitutions(node, scope);
        this.#compound(node, scope);
    }
  }

  #compound(node: SyntaxNode, scope: Scope): void {
    switch (node.type) {
      case "If":
        this.#statements(node.clause.commands, scope);
        for (const { clause } of node.elif) this.#branch(scope, clause.commands);
        return this.#branch(
          scope,
          node.then.commands,
          ...node.elif.map((one) => one.then.commands),
          node.else?.commands,
        );
      case "While":
        if (isEndlessSpawn(node)) {
          this.#whole(node, scope, judged("critical", "starts processes without end"));
        }
        this.#statements(node.clause.commands, scope);
        return this.#branch(scope, node.body.commands);
      case "For":
      case "Select": {
        const inner = { ...scope, assigned: new Set([...scope.assigned, node.name.value]) };
        this.#branch(inner, node.body.commands);
        scope.folders = inner.folders;
        return;
      }
      case "ArithmeticFor":
        return this.#branch(scope, node.body.commands);
      case "Case":
        return this.#branch(scope, ...node.items.map((item) => item.body.commands));
      case "Subshell":
        return this.#statements(node.body.commands, fork(scope));
      case "BraceGroup":
        return this.#statements(node.body.commands, scope);
      case "CompoundList":
        return this.#statements(node.commands, scope);
      case "ArithmeticCommand":
        return this.#arithmetic(node, node.body, scope);
    }
  }

  #pipeline(commands: readonly SyntaxNode[], scope: Scope): void {
    const [only, ...others] = commands;
    if (only !== undefined && others.length === 0) return this.node(only, scope);
    let input: Input = scope.input;
    for (const command of commands) {
      const inner = fork(scope, { input });
      this.node(command, inner);
      const output = command.type === "Command" && !inner.functions.has(command.name?.value ?? "")
        ? outputOf(command, input, this.#host.around(inner))
        : undefined;
      input = output === undefined ? { kind: "unknown" } : { kind: "text", text: output.join("\n") };
    }
  }

  #redirected(command: SyntaxNode, redirects: readonly Redirection[], scope: Scope): void {
    for (const redirect of redirects) this.substitutions(redirect, scope);
    const around = this.#host.around(scope);
    const { judgement, paths } = judgeRedirects(redirects, around, this.#host.scene(scope, scope.input));
    if (paths.length > 0 || judgement.severity !== "none") this.#whole(command, scope, judgement, paths);
    for (const path of paths) this.#findings.note({ kind: "writes to", path, text: undefined });
    const inner: Scope = { ...scope, input: inputOf(redirects, around) ?? scope.input };
    this.node(command, inner);
    scope.folders = inner.folders;
  }

  /** Walks all scripts inside of the words that belong to this node itself. */
  substitutions(node: SyntaxNode, scope: Scope): void {
    const visit = (child: SyntaxNode): void => {
      switch (child.type) {
        case "Statement":
        case "CompoundList":
          // Bodies are walked on their own, in their own scope.
          return;
        case "CaseItem":
        case "Elif":
          return forEachChild(child, (inner) => inner.type === "Word" ? visit(inner) : undefined);
        case "Script":
          return this.#script(child, fork(scope));
        case "ProcessSubstitution": {
          const change: Partial<Scope> = child.operator === ">" ? { input: { kind: "unknown" } } : {};
          if (child.script !== undefined) this.#script(child.script, fork(scope, change));
          return;
        }
        case "ParameterExpansion":
          if (child.operation?.type === "Replace") {
            this.#replacement(child, child.operation.operatorEnd, scope);
          }
          if (child.operation?.type === "Transform" && child.operation.operand.value.includes("P")) {
            this.#whole(child, scope, judged("high", "runs what a variable holds (@P)", { writes: true }));
          }
          break;
        case "ArithmeticExpansion":
          this.#arithmetic(child, child.text.slice(2), scope);
          break;
        case "TestUnary":
        case "TestBinary":
          forEachChild(child, (word) => {
            if (word.type === "Word" && RUNS_INDEX.test(word.value)) {
              this.#whole(word, scope, judged("high", "hides a command in an index", { writes: true }));
            }
          });
      }
      forEachChild(child, visit);
    };
    forEachChild(node, visit);
  }

  /**
   * The parser ends the pattern of `${x/$(cmd /a)/b}` at the slash inside of the substitution, bash does not: what
   * stands behind the operator is read once more, as a default, where slashes mean nothing.
   */
  #replacement(part: SyntaxNode & { readonly text: string }, operatorEnd: number, scope: Scope): void {
    const inner = part.text.slice(operatorEnd - part.pos, -1);
    if (!/\$\(|`|[<>]\(|\$\{/.test(inner) || !this.#findings.spend(5)) return;
    const source = `: \${x:-${inner}}`;
    this.#script(parse(source), fork(scope, { source }));
  }

  /** Where bash finds that `$((…))` is no arithmetic after all, it runs it as commands in a subshell. */
  #arithmetic(part: SyntaxNode, text: string, scope: Scope): void {
    const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
    const odd = count(/"/g) % 2 + count(/'/g) % 2 + count(/`/g) % 2 > 0;
    const plain = !odd && !/[\n;\\]|\$'|\b(case|esac)\b/.test(text);
    if (plain || !this.#findings.spend(5)) return;
    this.#whole(part, scope, judged("high", "may be read as arithmetic or as commands", { writes: true }));
    const source = text.replace(/^[([]+|[)\]]+$/g, "");
    this.#script(parse(source), fork(scope, { source }));
  }

  #whole(node: SyntaxNode, scope: Scope, judgement: Judgement, redirects: readonly string[] = []): void {
    const text = scope.source.slice(node.pos, Math.min(node.end, node.pos + LONGEST_SHOWN));
    this.#findings.addWordless(text, judgement, { redirects });
  }
}
