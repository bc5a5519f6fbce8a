/**
 * Which variables may hold a text from elsewhere, so that arithmetic on them may run it: where a value is `a[$(id)]`,
 * bash runs id for `$((x))`, `[[ x -eq 1 ]]`, `${s:x}` and `${a[x]}`. Pure.
 */
import { type Assignment, forEachChild, type ParsedScript, type SyntaxNode, type Word } from "unbash";

/** Programs that print numbers, and those that pass on what they read. */
const NUMBERS =
  /^(wc|date|stat|nproc|seq|expr|id|du|df|sleep|ps|pgrep|tput|getconf|git rev-list|grep|rg|jot|stty)$/;
const PASSES = /^(tr|head|tail|sort|cut|awk|sed|xargs|uniq|wc)$/;

/** The output of these is a number, as far as their names say; of some only with an option that counts. */
function printsNumbers({ commands }: ParsedScript): boolean {
  const [statement, ...others] = commands;
  if (statement === undefined || others.length > 0) return false;
  const list = statement.command.type === "Pipeline" ? statement.command.commands : [statement.command];
  const last = list.at(-1);
  if (last?.type === "Command" && last.name?.value === "wc") return true;
  return list.every((command, index) => {
    if (command.type !== "Command") return false;
    const words = [command.name, ...command.args].flatMap((word) =>
      word?.type === "Word" ? [word.value] : []
    );
    const [name = "", first = ""] = words;
    if (index > 0) return PASSES.test(name) && !/^(awk|sed|xargs)$/.test(name);
    if (/^(grep|rg)$/.test(name)) return words.some((word) => /^-\w*c$|^--count/.test(word));
    if (name === "date") return words.some((word) => /^\+%[sYmdHMSjuNF%]+$/.test(word));
    if (name === "stat") return words.some((word) => /^(--format=|--printf=|-c)?%[sXYZhibBdg]$/.test(word));
    if (name === "git") return first === "rev-list" && words.includes("--count");
    return NUMBERS.test(name);
  });
}

interface Source {
  always: boolean;
  readonly from: Set<string>;
}

export class Looseness {
  readonly #sources = new Map<string, Source>();
  readonly #maps = new Set<string>();

  /** Its values come from files, the network or a person. */
  mark(name: string): void {
    this.#source(name).always = true;
  }

  /** `declare -A name`: its indices are texts, no arithmetic. */
  map(name: string): void {
    this.#maps.add(name);
  }

  isMap(name: string): boolean {
    return this.#maps.has(name);
  }

  assign({ name, value }: Assignment): void {
    const words = value.type === "ArrayValue" ? value.elements : [value];
    for (const word of words) this.add(name, word);
  }

  add(name: string, word: Word): void {
    const source = this.#source(name);
    if (word.parts === undefined) return this.#identifiers(word.value, source);
    for (const part of word.parts) this.#part(part, source);
  }

  #identifiers(text: string, source: Source): void {
    if (text.length > 200) return;
    for (const [name] of text.matchAll(/[A-Za-z_]\w*/g)) source.from.add(name);
  }

  #part(part: SyntaxNode, source: Source): void {
    switch (part.type) {
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        return this.#identifiers(part.value, source);
      case "SimpleExpansion":
        source.from.add(part.text.slice(1));
        return;
      case "ParameterExpansion":
        // The indices of a list are numbers.
        if (part.prefix === "!" && !(/^[@*]$/.test(part.index?.value ?? "") && !this.isMap(part.parameter))) {
          source.always = true;
        }
        if (part.prefix === undefined) source.from.add(part.parameter);
        break;
      case "CommandExpansion":
        if (part.script === undefined || !printsNumbers(part.script)) source.always = true;
        return;
      case "ArithmeticExpansion":
      case "ProcessSubstitution":
        return;
    }
    forEachChild(part, (child) => this.#part(child, source));
  }

  #source(name: string): Source {
    const known = this.#sources.get(name) ?? { always: false, from: new Set<string>() };
    this.#sources.set(name, known);
    return known;
  }

  /** Also through the variables from which it is made. */
  isLoose(name: string): boolean {
    const seen = new Set<string>();
    const open = [name];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      if (/^[1-9@*]$/.test(next)) return true;
      const source = this.#sources.get(next);
      if (source?.always) return true;
      open.push(...(source?.from ?? []));
    }
    return false;
  }

  /** @param text of an expression, as it stands in the line */
  isLooseText(text: string, scripts: readonly ParsedScript[] = []): boolean {
    if (scripts.some((script) => !printsNumbers(script))) return true;
    // Lengths are numbers, and what stands in a substitution has been looked at.
    const bare = text.replace(/\$\{#[^}]*\}/g, "").replace(/\$\((?!\()[^()]*\)/g, "");
    if (/\$\{?[1-9@*]/.test(bare)) return true;
    return [...new Set(bare.match(/[A-Za-z_]\w*/g) ?? [])].slice(0, 200).some((name) => this.isLoose(name));
  }
}

/** The substitutions that belong to an expression itself. */
export function scriptsIn(node: SyntaxNode): readonly ParsedScript[] {
  const found: ParsedScript[] = [];
  const visit = (child: SyntaxNode): void => {
    if (child.type === "Script") found.push(child);
    else if (child.type !== "Statement" && child.type !== "CompoundList") forEachChild(child, visit);
  };
  forEachChild(node, visit);
  return found;
}
