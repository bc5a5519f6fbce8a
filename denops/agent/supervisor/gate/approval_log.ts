/**
 * Logs every approval, including automatic ones, with the rule that decided: `:Agent log`. The chat shows with
 * each call how it was approved, also in stored sessions. Several Neovims write one log.
 */
import { dirname, join } from "node:path";
import * as z from "../../deps/zod.ts";
import { TAINTS } from "../../policy/proposals/cases.ts";
import { Access, RULE_KINDS } from "../../protocol/access.ts";
import { pauses } from "../../shared/pauses.ts";
import { defined } from "../../shared/records.ts";
import { oneLine, visible } from "../screen/visible.ts";
import type { ApprovalChoice } from "./outcome.ts";

const Entry = z.object({
  time: z.string(),
  root: z.string(),
  /** The requested access: "write .env", "npm test". */
  title: z.string(),
  /** An `ApprovalChoice`, "cancelled", "allowed by rule" or "denied by rule". */
  answer: z.string(),
  rule: z.string(),
  /** The user approved an edited command. */
  edited: z.boolean().optional(),
  /** Ids of the session and its call; absent if the supervisor itself asked, and in old entries. */
  session: z.string().optional(),
  call: z.string().optional(),
  /** The question to the user; absent if nobody was asked, and in old entries. */
  question: z.object({
    /** Only the user could answer, whatever rules say. */
    forced: z.boolean(),
    /** The session had used the network, or read foreign text. */
    taint: z.enum(TAINTS),
  }).optional(),
  /** Names of the call's tool. */
  tools: z.array(z.string()).optional(),
  /** Shortened. An unreadable access does not hide its line. */
  accesses: Access.catch({ kind: "nothing" }),
  /** The access was longer, or had line breaks. */
  shortened: z.boolean().optional(),
});
export type LoggedApproval = Readonly<z.infer<typeof Entry>>;

/** Entries on the screen. */
const MOST_SHOWN = 2_000;

/** Bytes after which a new file begins; the previous one is kept. */
const LARGEST = 1_000_000;

export class ApprovalLog {
  readonly #path: string;
  readonly #older: string;
  readonly #largest: number;
  #order: Promise<unknown> = Promise.resolve();

  /** @param stateDir a folder that no engine can write */
  constructor(stateDir: string, largest: number = LARGEST) {
    this.#path = join(stateDir, "approvals.jsonl");
    this.#older = join(stateDir, "approvals.1.jsonl");
    this.#largest = largest;
  }

  /** Logs the decision of a hook. @param answer such as "hook guard.sh" @param rule what it decided */
  addHook(entry: Omit<LoggedApproval, "time" | "accesses">): void {
    this.add({ ...entry, accesses: { kind: "nothing" } });
  }

  /** @returns how the call was approved, for the chat; undefined if it was not */
  add(entry: Omit<LoggedApproval, "time" | "shortened">): string | undefined {
    const access = shorten(entry.accesses);
    const { value: tools } = shorten(entry.tools);
    const time = new Date().toISOString();
    const facts = { ...defined({ tools }), ...access.isWhole ? {} : { shortened: true } };
    const title = titleOf(entry);
    const line = JSON.stringify({ time, ...entry, title, ...facts, accesses: access.value }) + "\n";
    this.#order = this.#order.then(async () => {
      await Deno.mkdir(dirname(this.#path), { recursive: true });
      if (await this.#isFull()) await this.#rotate();
      await Deno.writeTextFile(this.#path, line, { append: true, mode: 0o600 });
    }).catch(() => {}); // A log that cannot be written must not stop the work.
    return approvalPhrase(entry);
  }

  /** Newest last. */
  async entries(): Promise<readonly LoggedApproval[]> {
    const pause = pauses();
    const entries: LoggedApproval[] = [];
    for (const line of await this.#lines()) {
      const entry = entryOf(line);
      if (entry !== undefined) entries.push(entry);
      await pause();
    }
    return entries;
  }

  /** How each call of a session was approved, as far as the log still has it. */
  async ofSession(root: string, session: string): Promise<ReadonlyMap<string, readonly string[]>> {
    const id = JSON.stringify(session);
    const approvals = new Map<string, string[]>();
    for (const line of (await this.#lines()).filter((line) => line.includes(id))) {
      const entry = entryOf(line);
      if (entry?.call === undefined || entry.session !== session || entry.root !== root) continue;
      const approval = approvalPhrase(entry);
      if (approval !== undefined) approvals.set(entry.call, [...approvals.get(entry.call) ?? [], approval]);
    }
    return approvals;
  }

  async #lines(): Promise<readonly string[]> {
    await this.#order;
    const texts = await Promise.all(
      [this.#older, this.#path].map((path) => Deno.readTextFile(path).catch(() => "")),
    );
    return texts.join("").split("\n");
  }

  async #isFull(): Promise<boolean> {
    const info = await Deno.stat(this.#path).catch(() => undefined);
    return (info?.size ?? 0) >= this.#largest;
  }

  /**
   * Locked: if two processes find the file full, the second would overwrite the old file with the new one.
   */
  async #rotate(): Promise<void> {
    using lock = await Deno.open(`${this.#path}.lock`, { create: true, write: true, mode: 0o600 });
    await lock.lock(true);
    if (await this.#isFull()) await Deno.rename(this.#path, this.#older);
  }
}

/** One line each, the newest last; the first line reports omitted entries. */
export function logLines(entries: readonly LoggedApproval[], most: number = MOST_SHOWN): readonly string[] {
  const left = entries.length - most;
  const note = left > 0 ? [`[the last ${most}; ${left} older ones are not shown]`] : [];
  const lines = entries.slice(-most).map(({ time, title, answer, rule, accesses: access }) => {
    const level = access.kind === "command"
      ? [access.access, ...access.hosts ?? []].join(" ")
      : access.kind === "effects"
      ? "what it changed"
      : undefined;
    const reasons = new Set([level, rule === "asked" ? undefined : rule].filter((one) => one !== undefined));
    const why = reasons.size === 0 ? "" : `  (${[...reasons].join(", ")})`;
    return `${time.slice(0, 19).replace("T", " ")}  ${answerText(answer, rule)}  ${title}${why}`;
  });
  // An edited command may have several lines.
  return [...note, ...lines.map((line) => visible(line).replace(/\s*\n\s*/g, " ⏎ "))];
}

const ANSWERS: ReadonlyMap<string, string> = new Map<ApprovalChoice | "cancelled", string>([
  ["allow_once", "allowed by you"],
  ["allow_session", "allowed by you for the session"],
  ["allow_always", "allowed by you from now on"],
  ["reject", "rejected by you"],
  ["cancelled", "stopped"],
]);

/** Only answers by rules of `:Agent rules` name a rule; modes and options answer too. */
function answerText(answer: string, rule: string): string {
  // No user rejected it.
  if (answer === "reject" && rule !== "asked") return "refused";
  return ANSWERS.get(answer) ?? (isRule(rule) ? answer : answer.replace(/ by rule$/, " automatically"));
}

/** Whether a rule of `:Agent rules` decided, not a mode or an option. */
export function isRule(rule: string): boolean {
  return RULE_KINDS.some((kind) => rule.startsWith(`${kind}(`));
}

/** The reasons of automatic approvals, except rules, as the chat shows them. */
const AUTOMATIC: ReadonlyMap<string, string | undefined> = new Map([
  ["look", "allowed: it only reads"],
  ["try", "allowed: it runs on a copy"],
  ["write", "allowed: it runs on a copy"],
  ["allowed for this session", "allowed for this session"],
  ["the command was allowed", "changes kept: the command was allowed"],
  ["commands = project", 'changes kept: shell.commands is "project"'],
  ["ordinary files", "changes kept: ordinary files"],
  ["nothing of it can be kept", undefined],
]);

export function accessOf({ accesses: access }: LoggedApproval): Access {
  return access;
}

/** How a call was approved, in one phrase; undefined if it was not. */
export function approvalPhrase(
  { answer, rule, edited, accesses: { kind } }: Omit<LoggedApproval, "time">,
): string | undefined {
  const done = kind === "effects" ? "changes kept" : edited === true ? "edited, allowed" : "allowed";
  switch (answer) {
    case "allow_once":
      return `${done} once`;
    case "allow_session":
      return `${done} for this session`;
    case "allow_always":
      return `${done} from now on, by rule ${oneLine(rule)}`;
    case "allowed by rule":
      if (isRule(rule)) return `${done} by rule ${oneLine(rule)}`;
      return AUTOMATIC.has(rule) ? AUTOMATIC.get(rule) : `${done}: ${oneLine(rule)}`;
    default:
      return undefined;
  }
}

/**
 * Limits the files of a call, and cuts their texts, so that an engine cannot push other entries out of the
 * log.
 */
const MOST_KEPT = 50;

/** Texts that no rule looks at. */
const FREE_TEXT: ReadonlySet<string> = new Set(["input", "query", "task", "text", "title"]);

function shorten(value: unknown): { readonly value: unknown; readonly isWhole: boolean } {
  let isWhole = true;
  const text = JSON.stringify(value, (name, part: unknown) => {
    const short = typeof part === "string"
      ? oneLine(part)
      : Array.isArray(part) && part.length > MOST_KEPT
      ? part.slice(0, MOST_KEPT)
      : part;
    if (short !== part && !FREE_TEXT.has(name)) isWhole = false;
    return short;
  });
  return { value: text === undefined ? undefined : JSON.parse(text), isWhole };
}

/** Names what was judged, because the engine chooses the titles of calls. */
function titleOf({ accesses: access, title }: Pick<LoggedApproval, "accesses" | "title">): string {
  switch (access.kind) {
    case "command":
      return oneLine(`run ${access.command.replace(/\s*\n\s*/g, " ⏎ ")}`);
    case "fetch":
      return oneLine(`fetch ${access.url}`);
    case "file": {
      const words = title.split(/[\s,]+/);
      const unnamed = access.files.filter((file) =>
        file.access !== "list" && !words.includes(file.path.named)
      )
        .map((file) => `${file.access} ${file.path.named}`);
      // A long title cuts no name off.
      return oneLine(unnamed.length === 0 ? title : `${unnamed.join(", ")} (${title})`);
    }
    default:
      return title;
  }
}

/** Undefined for a line that a crash has truncated. */
function entryOf(line: string): LoggedApproval | undefined {
  try {
    return Entry.parse(JSON.parse(line));
  } catch {
    return undefined;
  }
}
