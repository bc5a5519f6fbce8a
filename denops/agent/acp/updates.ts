/** Converts the supervisor's updates of one session to ACP's session updates. Without effects. */
import type { ContentBlock, PlanEntry, SessionUpdate, ToolCallContent, ToolKind } from "../deps/acp_sdk.ts";
import type { Severity, ToolUpdate, Update } from "../protocol/ui.ts";
import { defined } from "../shared/records.ts";
import { fenced } from "../shared/text/text.ts";

const KINDS: ReadonlySet<string> = new Set<ToolKind>([
  "read",
  "edit",
  "delete",
  "move",
  "search",
  "execute",
  "think",
  "fetch",
  "switch_mode",
]);

/** A call that the client knows. */
interface KnownCall {
  readonly isOpen: boolean;
  /** For a permission request about the call. */
  readonly view: CallView;
}

export interface CallView {
  readonly kind?: ToolKind;
  readonly locations?: { readonly path: string; readonly line?: number }[];
  readonly diffs?: ToolCallContent[];
}

export class SessionUpdates {
  readonly #hasNotices: boolean;
  readonly #calls = new Map<string, KnownCall>();

  /** @param hasNotices whether the client shows notices; otherwise they are messages */
  constructor(hasNotices: boolean) {
    this.#hasNotices = hasNotices;
  }

  /** Empty for updates that the protocol does not have. */
  of(update: Update): readonly SessionUpdate[] {
    switch (update.type) {
      case "text":
      case "thought": {
        // A client does not know sub-agents and would show their text as the answer.
        if (update.parent !== undefined) return [];
        const sessionUpdate = update.type === "text" ? "agent_message_chunk" : "agent_thought_chunk";
        return [{ sessionUpdate, messageId: update.message, content: textBlock(update.text) }];
      }
      case "user":
        return [{ sessionUpdate: "user_message_chunk", content: textBlock(update.text) }];
      case "tool":
        return this.#call(update);
      case "plan":
        return [planUpdate(update)];
      case "usage":
        return [usageUpdate(update)];
      case "title":
        return [{
          sessionUpdate: "session_info_update",
          title: update.title,
          updatedAt: new Date().toISOString(),
        }];
      case "notice":
        return [this.notice(update.severity, update.text)];
      case "retry": {
        const next = `attempt ${update.attempt + 1} of ${update.tries}`;
        const wait = Math.ceil(update.wait_ms / 1_000);
        return [this.notice("warning", `${update.reason} Retrying in ${wait} s, ${next}.`)];
      }
      case "turn_started":
        // The calls of a turn end with it.
        this.#calls.clear();
        return [];
      case "turn_done":
        return this.#endCalls();
      default:
        return [];
    }
  }

  notice(severity: Severity, title: string): SessionUpdate {
    if (this.#hasNotices) return { sessionUpdate: "notice", severity, title };
    const messageId = crypto.randomUUID();
    return { sessionUpdate: "agent_message_chunk", messageId, content: textBlock(`\n\n${title}\n\n`) };
  }

  view(call: string): CallView {
    return this.#calls.get(call)?.view ?? {};
  }

  #call(update: ToolUpdate): readonly SessionUpdate[] {
    const { id, title, status } = update;
    const known = this.#calls.get(id);
    const seen = viewOf(update);
    const content = seen.diffs ?? outputOf(update);
    const fields = defined({
      title,
      kind: seen.kind,
      locations: seen.locations,
      status: status === "stopped" ? "failed" as const : status,
      content,
    });
    if (Object.keys(fields).length === 0) return [];
    const isOpen = status === undefined
      ? known?.isOpen ?? true
      : status === "pending" || status === "in_progress";
    this.#calls.set(id, { isOpen, view: { ...known?.view, ...seen } });
    return known === undefined
      ? [{ sessionUpdate: "tool_call", toolCallId: id, ...fields, title: title ?? id }]
      : [{ sessionUpdate: "tool_call_update", toolCallId: id, ...fields }];
  }

  /** After a stop, the engine's last updates are dropped. */
  #endCalls(): readonly SessionUpdate[] {
    const open = [...this.#calls].filter(([, { isOpen }]) => isOpen);
    this.#calls.clear();
    return open.map(([toolCallId]) => ({
      sessionUpdate: "tool_call_update",
      toolCallId,
      status: "failed",
    }));
  }
}

export function textBlock(text: string): ContentBlock {
  return { type: "text", text };
}

function viewOf({ kind, locations, diffs }: ToolUpdate): CallView {
  return defined({
    kind: kind === undefined ? undefined : toolKind(kind),
    locations: locations?.map((location) => ({ ...location })),
    diffs: diffs?.map(({ path, before, after }): ToolCallContent => ({
      type: "diff",
      path,
      oldText: before ?? null,
      newText: after,
    })),
  });
}

function toolKind(kind: string): ToolKind {
  return KINDS.has(kind) ? kind as ToolKind : "other";
}

/** Undefined if the update has no output. Clients render Markdown, and output is none. */
function outputOf({ output, summary }: ToolUpdate): ToolCallContent[] | undefined {
  const text = output === undefined ? summary : fenced(output);
  return text === undefined ? undefined : [{ type: "content", content: textBlock(text) }];
}

function planUpdate({ steps }: Extract<Update, { type: "plan" }>): SessionUpdate {
  const entries = steps.map(({ step, status }): PlanEntry => ({
    content: step,
    status: status === "completed" || status === "in_progress" ? status : "pending",
    priority: "medium",
  }));
  return { sessionUpdate: "plan", entries };
}

function usageUpdate({ used, size, cost }: Extract<Update, { type: "usage" }>): SessionUpdate {
  const money = cost === undefined ? undefined : { amount: cost, currency: "USD" };
  return { sessionUpdate: "usage_update", used, size, ...defined({ cost: money }) };
}
