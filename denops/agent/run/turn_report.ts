/** Reduces the supervisor's updates to the events of a run, and answers approvals: nobody else is there to do it. */
import { relative } from "node:path";
import { UNSANDBOXED } from "../protocol/access.ts";
import type { ApprovalUpdate, ToolUpdate, Update } from "../protocol/ui.ts";
import { defined } from "../shared/records.ts";
import type { Headless } from "../headless/headless.ts";
import { visible } from "../supervisor/screen/visible.ts";
import { EVENTS_VERSION, type RunEvent } from "./events.ts";
import {
  hasNoSandbox,
  limitReason,
  NO_APPROVAL,
  NO_SANDBOX,
  refusalReason,
  refusalRules,
} from "./refusal.ts";

type UpdateOf<Type extends Update["type"]> = Extract<Update, { type: Type }>;

interface ReportPorts {
  emit(event: RunEvent): void;
  act: Headless["act"];
  /** With `--unsandboxed`: why its rules do not cover a command line. */
  uncovered?: ((command: string) => string) | undefined;
}

const ENDS: ReadonlySet<string | undefined> = new Set(["completed", "failed", "stopped"]);

export class TurnReport {
  readonly #ports: ReportPorts;
  readonly #calls = new Map<string, ToolUpdate>();
  /** Calls whose start, or end, is an event. */
  readonly #started = new Set<string>();
  readonly #ended = new Set<string>();
  /** Texts that may continue, by their messages. */
  readonly #messages = new Map<string, UpdateOf<"text">>();
  #files: UpdateOf<"turn_files"> | undefined;
  #session: string | undefined;
  #root = "";
  #answer = "";
  #cost: number | undefined;
  /** A call was refused. */
  isRefused = false;
  /** A limit was reached, and nobody raised it. */
  isCapped = false;

  constructor(ports: ReportPorts) {
    this.#ports = ports;
  }

  /** The last message of the model, unless a call followed it. */
  get answer(): string {
    return this.#answer;
  }

  get session(): string | undefined {
    return this.#session;
  }

  /** US dollars of the session. */
  get cost(): number | undefined {
    return this.#cost;
  }

  /** Takes the updates of one chat. */
  take(update: Update): void {
    this.#endMessages(update);
    switch (update.type) {
      case "ready":
        return this.#start(update);
      case "text": {
        const text = (this.#messages.get(update.message)?.text ?? "") + update.text;
        this.#messages.set(update.message, { ...update, text });
        return;
      }
      case "tool":
        return this.#call(update);
      case "approval":
        return this.#approval(update);
      case "denied":
        return this.#refuse({ title: update.title, reason: update.reason });
      case "plan":
        return this.#ports.emit({ type: "plan", steps: [...update.steps] });
      case "notice":
        return this.#ports.emit({ type: "notice", severity: update.severity, text: update.text });
      case "retry": {
        const { attempt, tries, wait_ms, reason } = update;
        return this.#ports.emit({ type: "retry", attempt, tries, wait_ms, reason });
      }
      case "usage":
        this.#cost = update.cost ?? this.#cost;
        return;
      case "turn_files":
        this.#files = update;
        return;
      case "turn_done":
        return this.#listFiles();
    }
  }

  #start({ session, root, provider, model, sandbox }: UpdateOf<"ready">): void {
    if (this.#session !== undefined) return;
    this.#session = session;
    this.#root = root;
    const event = { type: "start", version: EVENTS_VERSION, session, root, sandbox } as const;
    this.#ports.emit({ ...event, ...defined({ provider, model }) });
  }

  /** A call or another message of the same agent ends a message; sub-agents work at the same time. */
  #endMessages(update: Update): void {
    if (update.type === "retold") this.#messages.delete(update.message);
    const isEnd = update.type === "turn_done";
    if (!isEnd && update.type !== "tool" && update.type !== "text") return;
    for (const [id, { parent, text }] of this.#messages) {
      const isOther = update.type === "text" ? update.message !== id : true;
      if (!isEnd && (update.parent !== parent || !isOther)) continue;
      this.#messages.delete(id);
      if (text.trim() === "") continue;
      if (parent === undefined) this.#answer = text.trim();
      this.#ports.emit({ type: "message", text: text.trim(), ...defined({ parent }) });
    }
  }

  #call(update: ToolUpdate): void {
    const call = { ...this.#calls.get(update.id), ...update };
    this.#calls.set(update.id, call);
    const { id, title = "a tool call", status, parent } = call;
    if (parent === undefined && !this.#started.has(id)) this.#answer = "";
    if (update.approvals?.some((approval) => approval.endsWith(UNSANDBOXED)) === true) {
      this.#ports.emit({ type: "notice", severity: "warning", text: `Runs ${UNSANDBOXED}: ${title}` });
    }
    if (status === "in_progress" && !this.#started.has(id)) {
      this.#ports.emit({
        type: "call",
        id,
        title,
        status: "running",
        ...defined({ kind: call.kind, parent }),
      });
    }
    if (status !== "pending") this.#started.add(id);
    if (!ENDS.has(status) || this.#ended.has(id)) return;
    this.#ended.add(id);
    const { kind, summary, added, removed, output } = call;
    const facts = defined({ kind, summary, added, removed, output, parent });
    this.#ports.emit({ type: "call", id, title, status: endOf(status), ...facts });
  }

  #approval(approval: ApprovalUpdate): void {
    const { request, title } = approval;
    if (approval.kind === "question") return this.#later({ type: "answer_question", request });
    if (approval.kind === "other" && approval.about === "limit") {
      this.isCapped = true;
      this.#ports.emit({
        type: "notice",
        severity: "warning",
        text: `Stopped at a limit: ${limitReason(approval)}`,
      });
      return this.#later({ type: "answer", request, option: "reject" });
    }
    const reason = refusalReason(approval, this.#ports.uncovered);
    const { command } = approval.kind === "command" || approval.kind === "effects" ? approval : {};
    const rules = refusalRules(approval);
    const rule = rules?.length === 1 ? rules[0] : undefined;
    this.#refuse({ title, reason, ...defined({ command, rule, rules }) });
    const why = hasNoSandbox(approval) ? NO_SANDBOX : NO_APPROVAL;
    this.#later({ type: "answer", request, option: "reject", reason: why, rule: "nobody to ask" });
  }

  /** The supervisor does not expect an action while it delivers an update. */
  #later(action: Parameters<Headless["act"]>[0]): void {
    setTimeout(() => this.#ports.act(action));
  }

  #refuse(refusal: Omit<Extract<RunEvent, { type: "refused" }>, "type">): void {
    this.isRefused = true;
    this.#ports.emit({ type: "refused", ...refusal });
  }

  #listFiles(): void {
    const files = this.#files?.files ?? [];
    if (files.length === 0) return;
    this.#ports.emit({
      type: "files",
      files: files.map(({ path, kind, from, added, removed }) => ({
        path: visible(relative(this.#root, path)),
        kind,
        added,
        removed,
        ...defined({ from }),
      })),
    });
  }
}

function endOf(status: ToolUpdate["status"]): "completed" | "failed" | "stopped" {
  return status === "completed" || status === "stopped" ? status : "failed";
}
