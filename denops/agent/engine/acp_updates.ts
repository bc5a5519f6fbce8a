/** Engine events → ACP version 1 updates. */
import {
  type AgentContext,
  methods,
  type SessionUpdate,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import { FILE_MODIFIED, META, RETRY, type ToolMeta, type UsageMeta } from "../protocol/extensions.ts";
import type { AgentEvent, Diff } from "./core/events.ts";

/** Characters of a tool's output that the screen gets. */
const LONGEST_OUTPUT = 20_000;

/** What the client said that it understands. */
export interface ClientAbilities {
  readonly extensions: ReadonlySet<string>;
  readonly notices: boolean;
  readonly readFiles: boolean;
  readonly writeFiles: boolean;
  readonly terminals: boolean;
  readonly questions: boolean;
}

export class UpdateSender {
  readonly #client: AgentContext;
  readonly #sessionId: string;
  readonly #can: ClientAbilities;
  /** Tool calls that the client knows of; later updates change them. */
  readonly #announced = new Set<string>();

  constructor(client: AgentContext, sessionId: string, can: ClientAbilities) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.#can = can;
  }

  send(event: AgentEvent): void {
    const sessionId = this.#sessionId;
    switch (event.type) {
      case "token":
        return this.#update({ sessionUpdate: "agent_message_chunk", ...chunk(event.message, event.text) });
      case "thought":
        return this.#update({ sessionUpdate: "agent_thought_chunk", ...chunk(event.message, event.text) });
      case "thought_done": {
        const meta = { [META]: { milliseconds: event.milliseconds } };
        return this.#update({
          sessionUpdate: "agent_thought_chunk",
          ...chunk(event.message, ""),
          _meta: meta,
        });
      }
      case "tool_writing":
        return this.#tool(event.id, { title: event.title, status: "pending" }, {
          tool: event.tool,
          lines: event.lines,
        });
      case "tool_start": {
        const { id, tool, title, kind, paths } = event.call;
        const locations = paths.map((path) => ({ path }));
        return this.#tool(id, { title, kind, status: "pending", locations }, { tool });
      }
      case "tool_running":
        return this.#tool(event.id, { status: "in_progress" }, { rule: event.rule });
      case "tool_done":
        return this.#toolDone(event);
      case "file_modified": {
        const { onDisk, ...change } = event.change;
        if (!onDisk || !this.#can.extensions.has(FILE_MODIFIED)) return;
        return this.#notify(FILE_MODIFIED, { sessionId, toolCallId: event.id, ...change });
      }
      case "plan": {
        const entries = event.steps.map(({ step, status }) => ({
          content: step,
          status,
          priority: "medium" as const,
        }));
        return this.#update({ sessionUpdate: "plan", entries });
      }
      case "retry": {
        const { type: _, ...retry } = event;
        if (this.#can.extensions.has(RETRY)) return this.#notify(RETRY, { sessionId, ...retry });
        return this.#notice(
          "warning",
          `${event.reason} Trying again in ${Math.ceil(event.waitMs / 1_000)} s.`,
        );
      }
      case "usage": {
        const { usage, used, window, cost, sessionCost } = event;
        const meta: UsageMeta = { ...usage, ...(cost === undefined ? {} : { cost }) };
        return this.#update({
          sessionUpdate: "usage_update",
          used,
          size: window,
          ...(sessionCost === undefined ? {} : { cost: { amount: sessionCost, currency: "USD" } }),
          _meta: { [META]: meta },
        });
      }
      case "notice":
        return this.#notice(event.severity, event.text);
      case "turn_started":
      case "turn_done":
      case "turn_failed":
      case "approval_requested":
      case "approval_answered":
        // These are requests and answers of their own in the protocol.
        return;
    }
  }

  #toolDone(event: Extract<AgentEvent, { type: "tool_done" }>): void {
    const content: ToolCallContent[] = event.diff === undefined
      ? [{ type: "content", content: { type: "text", text: event.output.slice(0, LONGEST_OUTPUT) } }]
      : diffContents(event.diff);
    const meta = { summary: event.summary, ...diffCounts(event.diff) };
    this.#tool(event.id, { status: event.status, content }, meta);
  }

  #tool(
    id: string,
    fields:
      | Omit<Extract<SessionUpdate, { sessionUpdate: "tool_call" }>, "sessionUpdate" | "toolCallId">
      | {
        title?: string;
        status?: "pending" | "in_progress" | "completed" | "failed";
        content?: ToolCallContent[];
      },
    meta: ToolMeta,
  ): void {
    const _meta = { [META]: meta };
    if (this.#announced.has(id)) {
      return this.#update({ sessionUpdate: "tool_call_update", toolCallId: id, ...fields, _meta });
    }
    this.#announced.add(id);
    this.#update({ sessionUpdate: "tool_call", toolCallId: id, title: "", ...fields, _meta });
  }

  #notice(severity: string, title: string): void {
    if (this.#can.notices) return this.#update({ sessionUpdate: "notice", severity, title });
    this.#update({ sessionUpdate: "agent_message_chunk", ...chunk(crypto.randomUUID(), `\n\n${title}\n\n`) });
  }

  #update(update: SessionUpdate): void {
    this.#notify(methods.client.session.update, { sessionId: this.#sessionId, update });
  }

  #notify(method: string, params: unknown): void {
    // A failed write means that the client is gone; the connection's end says so too.
    this.#client.notify(method, params).catch(() => {});
  }
}

function chunk(messageId: string, text: string) {
  return { messageId, content: { type: "text", text } } as const;
}

/** One part for each file. */
export function diffContents(diff: Diff | undefined): ToolCallContent[] {
  if (diff === undefined) return [];
  return [diff, ...diff.others ?? []].map(({ path, before, after }) => ({
    type: "diff",
    path,
    oldText: before ?? null,
    newText: after,
  }));
}

/** Lines of all files together. */
export function diffCounts(diff: Diff | undefined): { added?: number; removed?: number } {
  if (diff === undefined) return {};
  const sum = (count: (one: Diff) => number) =>
    [diff, ...diff.others ?? []].reduce((all, one) => all + count(one), 0);
  return { added: sum(({ added }) => added), removed: sum(({ removed }) => removed) };
}
