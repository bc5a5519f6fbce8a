/** The outcomes of a turn's calls. */
import type { AgentEvent, ToolKind, ToolStart } from "../../log/events.ts";
import { oneLine } from "../../llm/failures/text.ts";

/** Calls in the summary. */
const MOST_NAMED = 6;

/** Characters of each result in the summary. */
const LONGEST_SUMMARY = 120;

const EDITS: ReadonlySet<ToolKind> = new Set(["edit", "delete", "move"]);

export class TurnWork {
  readonly #calls = new Map<string, ToolStart>();
  readonly #refused = new Set<string>();
  readonly #done: string[] = [];
  readonly #touched = new Set<string>();
  #failedEdit: string | undefined;
  #hasPlanned = false;
  #hasWritten = false;

  note(event: AgentEvent): void {
    switch (event.type) {
      case "tool_start":
        this.#calls.set(event.call.id, event.call);
        event.call.paths.forEach((path) => this.#touched.add(path));
        break;
      case "approval_answered":
        if (!event.answer.startsWith("allow")) this.#refused.add(event.id);
        this.#rename(event);
        break;
      case "plan":
        this.#hasPlanned = true;
        break;
      case "file_modified":
        this.#hasWritten = true;
        break;
      case "tool_done":
        this.#end(event);
        break;
      default:
    }
  }

  /** Records a successful call that may have changed more than files. */
  acted(): void {
    this.#hasWritten = true;
  }

  get hasCalled(): boolean {
    return this.#calls.size > 0;
  }

  /** The plan was written or updated. */
  get hasPlanned(): boolean {
    return this.#hasPlanned;
  }

  /** Something was changed. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** Title of the last failed edit, unless the user or a rule refused it. */
  get failedEdit(): string | undefined {
    return this.#failedEdit;
  }

  /** @returns the paths of all calls since the last time */
  takeTouched(): readonly string[] {
    const touched = [...this.#touched];
    this.#touched.clear();
    return touched;
  }

  /** One line about the last calls; undefined if there were none. */
  summary(): string | undefined {
    const last = this.#done.slice(-MOST_NAMED);
    return last.length === 0 ? undefined : `Done: ${last.join("; ")}.`;
  }

  #rename({ id, title }: Extract<AgentEvent, { type: "approval_answered" }>): void {
    const call = this.#calls.get(id);
    if (call !== undefined && title !== undefined) this.#calls.set(id, { ...call, title });
  }

  #end({ id, status, summary }: Extract<AgentEvent, { type: "tool_done" }>): void {
    const call = this.#calls.get(id);
    if (call?.tool === undefined) return;
    const isFailed = status === "failed";
    if (isFailed && EDITS.has(call.kind) && !this.#refused.has(id)) this.#failedEdit = call.title;
    const line = oneLine(summary, LONGEST_SUMMARY).replace(/\.$/, "");
    const result = isFailed ? ` failed: ${line}` : /^[+−]/.test(line) ? ` ${line}` : `: ${line}`;
    this.#done.push(line === "" ? call.title : call.title + result);
  }
}
