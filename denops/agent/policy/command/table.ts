/** Data as text: one row a line, cells parted by "·"; what is indented goes on with the line before. Pure. */
import { CommandAccess, hasNetwork, levelOf } from "../../protocol/commands.ts";
import { judged, type Judgement, Severity } from "./severity.ts";

export function rows(text: string): readonly (readonly string[])[] {
  return text.trim().replaceAll("|\n  ", "|").replaceAll("\n  ", " ").split("\n").map((row) =>
    row.split(/ *· */)
  );
}

/** "high write+network runs in a cluster" */
export function judgementOf(cell: string): Judgement {
  const [severity = "", access = "", ...reason] = cell.split(" ");
  const needs = CommandAccess.parse(access);
  return judged(Severity.parse(severity), reason.join(" "), levelOf(needs), hasNetwork(needs));
}
