/** The finding about a command, how findings are combined, and the format of the tables. Pure. */
import * as z from "../../deps/zod.ts";
import {
  COMMAND_LEVELS,
  CommandAccess,
  type CommandLevel,
  hasNetwork,
  levelOf,
} from "../../protocol/commands.ts";

export const Risk = z.enum(["none", "medium", "high", "critical"]);
export type Risk = z.infer<typeof Risk>;

export interface Judgement {
  readonly severity: Risk;
  /** Half a sentence that follows the command's text: "deletes a folder". */
  readonly reason: string;
  /** The access that it seems to need; the sandbox enforces it. */
  readonly level: CommandLevel;
  readonly network: boolean;
}

export function rank(severity: Risk): number {
  return Risk.options.indexOf(severity);
}

/** @param level by default harmless commands are read-only, and all others write */
export function judgeAs(
  severity: Risk,
  reason: string,
  level: CommandLevel = severity === "none" ? "look" : "write",
  network = false,
): Judgement {
  return { severity, reason, level, network };
}

export const READS = judgeAs("none", "only reads");

/** The highest severity with its first reason; level and network of all. */
export function worst(...all: readonly Judgement[]): Judgement {
  return all.reduce((a, b) => ({
    ...(rank(b.severity) > rank(a.severity) ? b : a),
    level: COMMAND_LEVELS.indexOf(b.level) > COMMAND_LEVELS.indexOf(a.level) ? b.level : a.level,
    network: a.network || b.network,
  }), READS);
}

export function when(yes: boolean, ...found: readonly Judgement[]): readonly Judgement[] {
  return yes ? found : [];
}

/** Parses a table: one row per line, cells separated by "·"; an indented line continues the previous one. */
export function rows(text: string): readonly (readonly string[])[] {
  return text.trim().replaceAll("|\n  ", "|").replaceAll("\n  ", " ").split("\n").map((row) =>
    row.split(/ *· */)
  );
}

/** "high write+network runs in a cluster" */
export function judgementOf(cell: string): Judgement {
  const [severity = "", access = "", ...reason] = cell.split(" ");
  const needs = CommandAccess.parse(access);
  return judgeAs(Risk.parse(severity), reason.join(" "), levelOf(needs), hasNetwork(needs));
}
