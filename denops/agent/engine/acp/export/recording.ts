/**
 * Exports a stored session as a recording: the model's answers as a script of the tests' model
 * (tests/model/), with the user's actions and the original texts of changed files in its comments.
 *
 * ```text
 * #@ file src/greet.ts
 * #| export function greet() {}
 * #@ prompt
 * #| rename greet to salute
 * #@ answer allow_once
 * say Done.
 * ---
 * ```
 *
 * It omits the results of tools and files that need a permission to read. It removes keys and passwords that
 * it recognises, and makes paths relative to the project.
 */
import { relative } from "node:path";
import type { LogEntry } from "../../log/entries.ts";
import { wordsOf } from "../../log/entries.ts";
import type { Store, Stored, StoredSession } from "../../ports/store.ts";
import { withoutSecrets } from "../../../shared/text/secrets.ts";
import { type Piece, pieces } from "./export.ts";

export interface Withheld {
  /** Whether the recording may contain this file. @param path absolute @param name relative to its root */
  mayTell(path: string, name: string): boolean;
  /** The provider's key. */
  readonly key: string | undefined;
}

const HEAD = [
  "# A session of agent.nvim. `deno task replay FILE` plays it, offline and in a folder of its own.",
  "# Read it before you pass it on: what looks like a key is left out, but not what looks like words.",
  "",
].join("\n");

/** Characters of a file. */
const LARGEST_FILE = 200_000;

const HOME = /(?:\/home|\/Users)\/[^/\s"'\\]+/g;

/** @param from 0, or `next` of the previous piece */
export function exportRecording(
  store: Pick<Store, "entries">,
  session: StoredSession,
  withheld: Withheld,
  from = 0,
): Piece {
  const { id, turns, root } = session;
  const clean = (text: string) => cleaned(text, root, withheld.key);
  const turn = (at: number) => store.entries(id, { first: at, last: at });
  return pieces(from, turns + 1, (at) => {
    if (at > 0) return turn(at).map(({ entry }) => entryText(entry, clean)).join("");
    const files = firstTexts(turns, turn);
    const parts = [...files].flatMap(([path, text]) => {
      const name = relative(root, path);
      const isTold = !name.startsWith("..") && text.length <= LARGEST_FILE && withheld.mayTell(path, name);
      return isTold ? [note(`file ${name}`, clean(text))] : [];
    });
    return HEAD + parts.join("");
  });
}

/** The texts of changed files before their first change; created files have none. */
function firstTexts(
  turns: number,
  entriesOf: (turn: number) => readonly Stored<LogEntry>[],
): ReadonlyMap<string, string> {
  const seen = new Set<string>();
  const texts = new Map<string, string>();
  for (let turn = 1; turn <= turns; turn++) {
    for (const { entry } of entriesOf(turn)) {
      if (entry.type !== "file_modified") continue;
      const { path, from = path, before } = entry.change;
      if (!seen.has(from) && before !== undefined) texts.set(from, before);
      seen.add(from).add(path);
    }
  }
  return texts;
}

function entryText(entry: LogEntry, clean: (text: string) => string): string {
  switch (entry.type) {
    case "user_message":
      return note("prompt", clean(wordsOf(entry)));
    case "approval_answered":
      return entry.parent === undefined ? note(`answer ${entry.answer.split(/\s/)[0]}`) : "";
    case "assistant_message": {
      const calls = entry.written === undefined ? entry.calls : [];
      return [
        ...lines("say", clean(entry.written ?? entry.text)),
        ...calls.map((call) => callLine(call.name, clean(call.arguments))),
        "---\n",
      ].join("");
    }
    case "tool_result":
      return `# ${oneLine(entry.name)} ${
        entry.isError ? "failed" : "answered"
      }, ${entry.text.length} characters\n`;
    case "control_note":
      return entry.reason === "nothing_done" || entry.reason === "plan_open"
        ? `${note("nudge")}expect "state":"${entry.reason}"\n`
        : "";
    case "turn_failed":
      return `status 400 ${JSON.stringify({ error: { message: oneLine(clean(entry.message)) } })}\n---\n`;
    case "turn_done":
      return note(`end ${entry.reason}`);
    default:
      return "";
  }
}

function callLine(name: string, text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return `call ${name} ${JSON.stringify(value)}\n`;
    }
  } catch {
    // As the model wrote it.
  }
  return `rawcall ${name} ${oneLine(text)}\n`;
}

/** An answer without text still needs a line. */
function lines(directive: string, text: string): readonly string[] {
  return text.split(/\r?\n/).map((line) => `${directive} ${line}`.trimEnd() + "\n");
}

/** A comment of the script, for everything that is not an answer of the model. */
function note(what: string, text?: string): string {
  const body = text === undefined ? "" : text.split("\n").map((line) => `#| ${line}\n`).join("");
  return `#@ ${oneLine(what)}\n${body}`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ");
}

function cleaned(text: string, root: string, key: string | undefined): string {
  return withoutSecrets(text.replaceAll(`${root}/`, "").replaceAll(root, ".").replace(HOME, "~"), key);
}
