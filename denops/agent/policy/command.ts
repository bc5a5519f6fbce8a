/**
 * What a command line is about: the simple commands in it, how bad the worst of them looks, what it will have to be
 * allowed, and which permission rules cover it. Pure.
 *
 * This is what people are told and asked, and the key of their rules. That a line does no more is not promised here: the
 * sandbox of its level holds that.
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
  /** One line: the worst simple command, and what it does. */
  readonly reason: string;
  /** All simple commands, in the order in which they were met. */
  readonly commands: readonly SimpleCommand[];
  /** False if the line, or a part of it, is not what a shell can read: no rule covers it then. */
  readonly parsed: boolean;
  /** Made of literal words and plain syntax alone: a rule may cover it. */
  readonly plain: boolean;
  /** The proposed level if the model requested none. */
  readonly access: CommandAccess;
}

/**
 * Never throws, and ends soon whatever the line is.
 *
 * @param places the project's root and the home folder, absolute, so that absolute paths into them are understood
 */
export function judgeCommand(line: string, places: Places = {}): CommandVerdict {
  const reader = new Reader(places);
  try {
    reader.read(line);
  } catch (error) {
    // A line that the judges stumble over is not run unseen.
    const message = error instanceof Error ? error.message : "unknown error";
    reader.parsed = false;
    reader.add(line.slice(0, 200), judgeAs("critical", `cannot be judged (${message})`));
  }
  if (isDeceptive(line)) {
    reader.parsed = false;
    reader.add(line.slice(0, 200), judgeAs("high", "holds characters that hide or turn what is shown"));
  }
  const { commands, parsed } = reader;
  const [first] = commands;
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
