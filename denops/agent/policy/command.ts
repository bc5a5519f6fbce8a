/**
 * How dangerous a command line is, and which permission rules cover it. Pure.
 *
 * The line is parsed as bash reads it, and every simple command in it is judged wherever it stands: in pipes, substitutions,
 * functions, here-documents, `sh -c`, `find -exec`. The worst of all is the line's severity. What a name or an argument
 * will be only when it runs is never taken for harmless.
 *
 * It holds for lines that bash runs. dash, zsh and fish read some lines otherwise: they must not be given lines that
 * were judged here.
 */
import { Findings, type SimpleCommand } from "./command/findings.ts";
import { isDeceptive } from "./command/limits.ts";
import type { Places } from "./command/places.ts";
import { knows } from "./command/judge.ts";
import { hasSubcommands } from "./command/programs.ts";
import { commandMatches, commandTouches, literalWords, quotePattern } from "./command/rules.ts";
import { rank, type Severity } from "./command/severity.ts";
import { type CommandAccess, commandAccess } from "../protocol/commands.ts";
import { Runner } from "./command/runner.ts";
import { suggestPatterns } from "./command/suggest.ts";

export { commandMatches, commandTouches, patternProblem, specificity } from "./command/rules.ts";
export type { SimpleCommand } from "./command/findings.ts";
export type { Places } from "./command/places.ts";
export type { Severity } from "./command/severity.ts";

export interface CommandVerdict {
  readonly severity: Severity;
  /** One line: which simple command, and what it does. */
  readonly reason: string;
  /** All simple commands, in the order in which they were met. */
  readonly commands: readonly SimpleCommand[];
  /** False if the line, or a part of it, is not what a shell can read: no rule covers it then. */
  readonly parsed: boolean;
  /** It looks as if it needs the network. */
  readonly network: boolean;
  /** What the line seems to need. */
  readonly access: CommandAccess;
  /** It looks as if it changes files. */
  readonly writesFiles: boolean;
}

/**
 * Never throws, and ends soon whatever the line is.
 *
 * @param places the project's root and the home folder, absolute, so that absolute paths into them are understood
 */
export function judgeCommand(line: string, places: Places = {}): CommandVerdict {
  const runner = new Runner(places);
  const { findings } = runner;
  try {
    runner.line(line);
  } catch (error) {
    // A line that the judges stumble over is not run unseen: the gate must hold even where they are wrong.
    findings.parsed = false;
    findings.addWordless(line.slice(0, 200), {
      severity: "critical",
      reason: `cannot be judged (${error instanceof Error ? error.message : "unknown error"})`,
      network: true,
      writes: true,
    });
  }
  if (isDeceptive(line)) {
    findings.parsed = false;
    findings.addWordless(line.slice(0, 200), {
      severity: "high",
      reason: "holds characters that hide or turn what is shown",
      network: false,
      writes: true,
    });
  }
  return verdict(findings);
}

function verdict(findings: Findings): CommandVerdict {
  const { commands, parsed } = findings;
  const [first] = commands;
  const worst = commands.reduce((a, b) => rank(b.severity) > rank(a?.severity ?? "none") ? b : a, first);
  return {
    severity: worst?.severity ?? "none",
    reason: worst === undefined ? "runs nothing" : `${oneLine(worst.text)}: ${worst.reason}`,
    commands,
    parsed,
    network: commands.some((command) => command.network),
    access: commandAccess(
      commands.some((command) => command.writesFiles || command.severity !== "none")
        ? commands.some(({ words }) => words[0] === "git") ? "git" : "write"
        : "look",
      commands.some((command) => command.network),
    ),
    writesFiles: commands.some((command) => command.writesFiles),
  };
}

function oneLine(text: string): string {
  const shown = text.replace(/\s+/g, " ").trim();
  return shown.length > 80 ? `${shown.slice(0, 79)}…` : shown;
}

const asVerdict = (line: string | CommandVerdict) => typeof line === "string" ? judgeCommand(line) : line;

/** For allow rules: true if the pattern covers every simple command of the line. */
export function lineMatches(pattern: string, line: string | CommandVerdict): boolean {
  return linesCovered([pattern], line);
}

/** As {@link lineMatches}, where each simple command may be covered by another pattern. */
export function linesCovered(patterns: readonly string[], line: string | CommandVerdict): boolean {
  const { commands, parsed } = asVerdict(line);
  const own = commands.filter((command) => !command.transparent);
  return parsed && own.length > 0 &&
    own.every((command) => patterns.some((pattern) => covers(pattern, command)));
}

/**
 * A rule on what only reads, such as `git diff *` or `rg *`, is meant for reading: it does not cover the options by
 * which that starts programs or writes files, unless it names them. `git *` is a rule on all that git does.
 */
function covers(pattern: string, command: SimpleCommand): boolean {
  if (!commandMatches(pattern, command)) return false;
  if (rank(command.severity) < rank("high")) return true;
  const words = literalWords(pattern);
  const [name = ""] = words;
  if (words.length === 0 || !pattern.includes("*")) return true;
  if (words.length === 1 && (hasSubcommands(name) || !knows(name))) return true;
  return judgeCommand(quotePattern(words)).severity !== "none";
}

/** For ask and deny rules: true if the pattern touches any simple command of the line. */
export function lineTouches(pattern: string, line: string | CommandVerdict): boolean {
  return asVerdict(line).commands.some((command) => commandTouches(pattern, command));
}

/**
 * The rules that "always allow" would write, such as `run(npm test *)`: one for each different command.
 *
 * @return undefined where none is sensible: critical lines, text that is only known when it runs, output into files
 */
export function suggestRules(line: string | CommandVerdict): readonly string[] | undefined {
  const { commands, parsed, severity } = asVerdict(line);
  if (!parsed || severity === "critical") return undefined;
  return suggestPatterns(commands)?.map((pattern) => `run(${pattern})`);
}
