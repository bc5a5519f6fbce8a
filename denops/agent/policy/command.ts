/**
 * Judges a command line: its simple commands, the most serious of them, the access that it needs, and the
 * rules that cover it. Pure.
 *
 * This is the basis for questions to the user and for rules. It does not guarantee that a line does no more:
 * the sandbox of its level enforces that.
 */
import { type CommandAccess, commandAccess } from "../protocol/commands.ts";
import { isDeceptive } from "./deceptive.ts";
import type { Places } from "./command/places.ts";
import { judgeAs, rank, type Risk, worst } from "./command/severity.ts";
import { Reader, type SimpleCommand } from "./command/walk.ts";

export type { Places } from "./command/places.ts";
export type { Risk } from "./command/severity.ts";
export type { SimpleCommand } from "./command/walk.ts";

export interface CommandVerdict {
  readonly severity: Risk;
  /** One line: the most serious simple command, and its effect. */
  readonly reason: string;
  /** All simple commands in the order of the walk. */
  readonly commands: readonly SimpleCommand[];
  /** False if the line, or a part of it, is not valid shell syntax; then no rule covers it. */
  readonly parsed: boolean;
  /** Consists only of literal words and plain syntax, so a rule may cover it. */
  readonly plain: boolean;
  /** The proposed level if the model requested none. */
  readonly access: CommandAccess;
}

/**
 * Never throws, and takes bounded time for any line.
 *
 * @param places the absolute paths of the project's root and the home folder, so that paths into them are
 * recognised
 */
export function judgeCommand(line: string, places: Places = {}): CommandVerdict {
  const reader = new Reader(places);
  try {
    reader.read(line);
  } catch (error) {
    // A line that makes a judge fail is never run without a question.
    const message = error instanceof Error ? error.message : "unknown error";
    reader.parsed = false;
    reader.add(line.slice(0, 200), judgeAs("critical", `cannot be judged (${message})`));
  }
  if (isDeceptive(line)) {
    reader.parsed = false;
    reader.add(line.slice(0, 200), judgeAs("high", "holds characters that hide or turn what is shown"));
  }
  const { commands, parsed } = reader;
  // The line may begin with the variables of earlier commands.
  const first = commands.find(({ words }) => words[0] !== "export") ?? commands[0];
  const riskiest = commands.reduce((a, b) => rank(b.severity) > rank(a?.severity ?? "none") ? b : a, first);
  const { severity, level, network } = worst(...commands);
  const text = riskiest?.text.replace(/\s+/g, " ").trim() ?? "";
  return {
    severity,
    reason: riskiest === undefined
      ? "runs nothing"
      : `${text.length > 80 ? `${text.slice(0, 79)}…` : text}: ${riskiest.reason}`,
    commands,
    parsed,
    plain: parsed && reader.plain,
    access: commandAccess(level, network),
  };
}
