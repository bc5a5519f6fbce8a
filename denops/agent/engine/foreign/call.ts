/** One tool call of another agent, put together from its updates, which come in any order. */
import { middleCut, plural, splitLines } from "../../shared/text/text.ts";
import { Permissions } from "../agent/permission/permission.ts";
import type { RunnerPorts } from "../agent/turn/runner.ts";
import type { Diff, FileLocation, ToolKind, ToolStart } from "../log/events.ts";
import { countsOf, lineDiff } from "../log/line_diff.ts";
import { cleanLine } from "../../policy/clean.ts";
import { type CallUpdate, type ClaimedDiff, LONGEST_TEXT } from "./updates.ts";

/** The reason why a call runs that no rule knows. */
export const HELD = "held by the sandbox";

const LONGEST_SUMMARY = 120;
/** Gemini's titles of commands end with their folder and a description. */
const PLACE = / \[current working directory [^\]]*\].*$/;

export type CallEnd = "completed" | "failed";

export class ForeignCall {
  readonly permissions: Permissions;
  readonly #ports: Pick<RunnerPorts, "emit">;
  /** Our id. */
  readonly id: string;
  /** The agent's name. */
  readonly agent: string;
  title = "";
  kind: ToolKind = "other";
  tool: string | undefined;
  command: string | undefined;
  mcp: CallUpdate["mcp"];
  diffs: readonly ClaimedDiff[] = [];
  locations: readonly FileLocation[] = [];
  /** Our id of the call above it. */
  parent: string | undefined;
  #text = "";
  #exitCode: number | undefined;
  #isForSession = false;
  #isStarted = false;
  #isRunning = false;
  #end: CallEnd | undefined;

  constructor(id: string, agent: string, ports: RunnerPorts, signal: AbortSignal) {
    this.id = id;
    this.agent = agent;
    const emit: RunnerPorts["emit"] = (event) =>
      ports.emit(this.parent === undefined ? event : { ...event, parent: this.parent });
    this.#ports = { emit };
    const allowForSession: RunnerPorts["allowForSession"] = (access) => {
      this.#isForSession = true;
      ports.allowForSession(access);
    };
    this.permissions = new Permissions({ ...ports, emit, allowForSession }, () => this.#describe(), signal);
  }

  /** The user has allowed such calls for the session. */
  get isForSession(): boolean {
    return this.#isForSession;
  }

  /** The text of its result so far. */
  get text(): string {
    return this.#text;
  }

  get isStarted(): boolean {
    return this.#isStarted;
  }

  get end(): CallEnd | undefined {
    return this.#end;
  }

  get paths(): readonly string[] {
    return [...new Set([...this.diffs, ...this.locations].map(({ path }) => path))];
  }

  merge(update: CallUpdate): void {
    this.title = update.title ?? this.title;
    this.kind = update.kind ?? this.kind;
    this.tool = update.tool ?? this.tool;
    this.command = update.command ?? this.command;
    this.mcp = update.mcp ?? this.mcp;
    this.diffs = update.diffs ?? this.diffs;
    this.#exitCode = update.exitCode ?? this.#exitCode;
    if (update.locations !== undefined && update.locations.length > 0) this.locations = update.locations;
    if (update.text !== undefined) this.#text = update.text;
    if (update.more !== undefined) this.#text = middleCut(this.#text + update.more, LONGEST_TEXT);
  }

  /** Shows it as a call whose arguments are being written. */
  announce(): void {
    const { id, title } = this;
    this.#ports.emit({ type: "tool_writing", id, tool: this.agent, title: title || this.kind, lines: 0 });
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.permissions.start();
  }

  /** It runs, without a question or after one. */
  run(rule: string): void {
    this.start();
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#ports.emit({ type: "tool_running", id: this.id, rule });
  }

  /** @param stopped by the user or by the end of the turn */
  finish(status: CallEnd, stopped = false): void {
    if (this.#end !== undefined) return;
    this.start();
    this.#end = status;
    const diff = this.#diff();
    const { id } = this;
    const locations = diff === undefined && this.locations.length > 0
      ? { locations: [...this.locations] }
      : {};
    this.#ports.emit({
      type: "tool_done",
      id,
      status,
      summary: stopped ? "stopped" : this.#summary(status, diff),
      output: this.#text,
      ...(diff === undefined ? {} : { diff }),
      ...locations,
      ...(stopped ? { stopped } : {}),
    });
  }

  #describe(): ToolStart {
    const { id, agent, kind, paths } = this;
    const command = cleanLine(this.command ?? "", LONGEST_SUMMARY);
    const title = this.title.replace(PLACE, "") || command || kind;
    // Some titles are the name of a file alone.
    const isBare = kind !== "other" && title !== kind && !/\s/.test(title);
    return { id, tool: agent, title: isBare ? `${kind} ${title}` : title, kind, paths: [...paths] };
  }

  #summary(status: CallEnd, diff: Diff | undefined): string {
    const [first = "", ...others] = splitLines(this.#text.trim());
    if (status === "failed" && first !== "") return cleanLine(first, LONGEST_SUMMARY);
    if (this.#exitCode !== undefined) return `exit code ${this.#exitCode}`;
    if (diff !== undefined) {
      return [diff, ...diff.others ?? []].length > 1
        ? `${1 + (diff.others?.length ?? 0)} files`
        : countsOf(diff);
    }
    if (first === "") return status === "failed" ? "failed" : "done";
    return others.length === 0 ? cleanLine(first, LONGEST_SUMMARY) : plural(others.length + 1, "line");
  }

  /** As the agent says; what it really changed is seen at the end of the turn. */
  #diff(): Diff | undefined {
    const [first, ...others] = this.diffs.map(({ path, before, after }) => {
      const { line: _, ...diff } = lineDiff(path, before, after);
      const at = this.locations.find((location) => location.path === path)?.line;
      return { ...diff, ...(at === undefined ? {} : { line: at }) };
    });
    return first === undefined ? undefined : { ...first, ...(others.length === 0 ? {} : { others }) };
  }
}
