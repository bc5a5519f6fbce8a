/** The log's entries as requests that rules can be tried on. */
import type { LoggedCase } from "../../policy/proposals/cases.ts";
import type { Access } from "../../protocol/access.ts";
import { pauses } from "../../shared/pauses.ts";
import { oneLine } from "../screen/visible.ts";
import { accessOf, approvalPhrase, isRule, type LoggedApproval } from "./approval_log.ts";

/** In place of an index: several commands have this id. */
const SEVERAL = -1;

/** @param entries oldest first */
export async function loggedCases(entries: readonly LoggedApproval[]): Promise<readonly LoggedCase[]> {
  const pause = pauses();
  const cases: LoggedCase[] = [];
  /** By call: the index of its command. */
  const commands = new Map<string, number>();
  for (const entry of entries) {
    await pause();
    const { session, call, root } = entry;
    const id = call === undefined || call === "" ? undefined : JSON.stringify([root, session, call]);
    const access = accessOf(entry);
    if (access.kind === "effects") {
      const at = commands.get(id ?? "") ?? SEVERAL;
      const command = cases[at];
      if (command?.end === "unasked" && isOfUser(entry)) cases[at] = withChanges(command, entry);
      continue;
    }
    if (!isRuled(access) || isOfMode(entry)) continue;
    // The engine chooses the ids: of several commands with one id, it is unknown whose changes the user has seen.
    if (access.kind === "command" && id !== undefined) {
      commands.set(id, commands.has(id) ? SEVERAL : cases.length);
    }
    cases.push(caseOf(entry, access));
  }
  return cases;
}

function isRuled(access: Access): access is LoggedCase["access"] {
  return access.kind !== "effects" && access.kind !== "ask" && access.kind !== "nothing";
}

/** A mode refuses whatever rules say. */
function isOfMode({ answer, rule }: LoggedApproval): boolean {
  return answer === "denied by rule" && !isRule(rule);
}

function isOfUser(entry: LoggedApproval): boolean {
  const end = endOf(entry);
  return end !== "unasked" && end !== "refused";
}

function caseOf(entry: LoggedApproval, access: LoggedCase["access"]): LoggedCase {
  return {
    access,
    root: entry.root,
    time: Date.parse(entry.time),
    title: oneLine(entry.title),
    ...answerOf(entry),
    changes: "none",
    isWhole: entry.shortened !== true,
    tools: entry.tools ?? [],
  };
}

function answerOf(entry: LoggedApproval): Pick<LoggedCase, "end" | "note" | "taint" | "isForced"> {
  const { question } = entry;
  const end = endOf(entry);
  return {
    end,
    note: approvalPhrase(entry) ?? end,
    taint: question?.taint,
    isForced: question?.forced === true,
  };
}

/** The user was asked about the changes of a command that ran unasked. */
function withChanges(command: LoggedCase, entry: LoggedApproval): LoggedCase {
  const changes = entry.question?.forced === true ? "sensitive" : "plain";
  return { ...command, ...answerOf(entry), changes };
}

function endOf({ answer, rule }: LoggedApproval): LoggedCase["end"] {
  switch (answer) {
    case "allow_once":
    case "allow_session":
    case "allow_always":
      return "allowed";
    case "allowed by rule":
      return "unasked";
    case "cancelled":
      return "stopped";
    default:
      return answer === "reject" && rule === "asked" ? "rejected" : "refused";
  }
}
