/** Converts engine events to ACP version 1 updates. */
import {
  type AgentContext,
  methods,
  type SessionUpdate,
  type ToolCallContent,
  type ToolCallLocation,
} from "../../deps/acp_sdk.ts";
import { META, type TurnMeta } from "../../protocol/extensions.ts";
import { type RetoldMeta, type ToolMeta, type UsageMeta } from "../../protocol/update_meta.ts";
import { trace } from "../../protocol/trace.ts";
import { defined } from "../../shared/records.ts";
import { Screen } from "./screen.ts";
import type { AgentEvent, Diff, StopReason } from "../log/events.ts";

/** Characters of a tool's output that are sent to the screen. */
const LONGEST_OUTPUT = 20_000;

/** Characters of files' texts in one message; beyond this, the client reads the files. */
const LARGEST_TEXTS = 4_000_000;

/** The protocol's names for how turns end; the others are our own. */
export const STOP_REASONS = {
  end_turn: "end_turn",
  max_iterations: "max_turn_requests",
  max_tokens: "max_tokens",
  cancelled: "cancelled",
  refused: "refusal",
} as const satisfies Record<StopReason, string>;

/** The features that the client reported. */
export interface Capabilities {
  readonly extensions: ReadonlySet<string>;
  readonly notices: boolean;
  readonly readFiles: boolean;
  readonly writeFiles: boolean;
  readonly terminals: boolean;
  readonly questions: boolean;
}

/** Sends events as they happen. */
export class UpdateSender {
  readonly #client: AgentContext;
  readonly #sessionId: string;
  readonly screen: Screen;
  readonly #updates: Updates;

  constructor(client: AgentContext, sessionId: string, can: Capabilities) {
    this.#client = client;
    this.#sessionId = sessionId;
    this.screen = new Screen(client, sessionId, can.extensions);
    this.#updates = new Updates(can);
  }

  send(event: AgentEvent): void {
    if (event.type === "file_modified") {
      const { onDisk, before, after, ...change } = event.change;
      if (!onDisk) return;
      const size = (before?.length ?? 0) + (after?.length ?? 0);
      const texts = size > LARGEST_TEXTS ? {} : { before, after };
      return this.screen.tell("file_modified", { toolCallId: event.id, ...change, ...texts });
    }
    if (event.type === "retry" && this.screen.has("retry")) {
      const { type: _, ...retry } = event;
      return this.screen.tell("retry", retry);
    }
    if (event.type === "turn_files") {
      return this.screen.tell("turn_files", { turn: event.turn, files: [...event.files] });
    }
    const update = this.#updates.of(event);
    if (update !== undefined) this.sendUpdate(update);
  }

  sendUpdate(update: SessionUpdate): void {
    const params = { sessionId: this.#sessionId, update };
    const since = trace?.now();
    // A failed write means that the client is gone; the end of the connection is handled elsewhere.
    this.#client.notify(methods.client.session.update, params).catch(() => {});
    trace?.span("notify", since);
  }
}

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { type: Type }>;

/** A client that does not know sub-agents would show their text as the answer. */
const SAID: ReadonlySet<AgentEvent["type"]> = new Set(["token", "thought", "thought_done", "retold"]);

/** Converts events in order; a call is announced once. */
export class Updates {
  readonly #can: Pick<Capabilities, "notices" | "extensions">;
  /** Tool calls that the client knows; later updates change them. */
  readonly #announced = new Set<string>();
  /** The title that was sent last. */
  #title: string | undefined;
  /** Tokens that the last step of a turn has used. */
  #used = 0;

  constructor(can: Pick<Capabilities, "notices" | "extensions">) {
    this.#can = can;
  }

  /** Undefined for events without an update. */
  of(event: AgentEvent): SessionUpdate | undefined {
    if (event.parent !== undefined && SAID.has(event.type) && this.#can.extensions.size === 0) {
      return undefined;
    }
    switch (event.type) {
      case "token":
      case "thought":
      case "thought_done":
      case "retold":
        return chunkUpdate(event);
      case "tool_writing":
      case "tool_start":
      case "tool_running":
      case "tool_progress":
      case "tool_done":
        return this.#toolUpdate(event);
      case "approval_answered":
        // A separate request covers the answer.
        return event.title === undefined
          ? undefined
          : this.#tool(event.id, { title: event.title }, parentOf(event));
      case "plan":
        // The plan of a sub-agent is not the session's plan.
        return event.parent === undefined ? planUpdate(event) : undefined;
      case "retry": {
        const { reason, waitMs, attempt, tries } = event;
        const next = `attempt ${attempt + 1} of ${tries}`;
        return this.#notice("warning", `${reason} Retrying in ${Math.ceil(waitMs / 1_000)} s, ${next}.`);
      }
      case "usage":
        return this.#usage(event);
      case "mode":
        return { sessionUpdate: "current_mode_update", currentModeId: event.mode };
      case "commands":
        return {
          sessionUpdate: "available_commands_update",
          availableCommands: event.commands.map((command) => ({ ...command })),
        };
      case "notice":
        return this.#notice(event.severity, event.text);
      case "title":
        return this.#titleUpdate(event);
      case "user_message":
        // The calls of a turn end with it.
        this.#announced.clear();
        return undefined;
      case "steered":
        return steeredUpdate(event);
      case "turn_files":
      case "turn_done":
      case "turn_failed":
      case "approval_requested":
      case "file_modified":
        // Separate requests or notifications cover these.
        return undefined;
    }
  }

  #titleUpdate({ title, began }: EventOf<"title">): SessionUpdate {
    const isNew = title !== this.#title;
    this.#title = title;
    return {
      sessionUpdate: "session_info_update",
      ...(isNew ? { title } : {}),
      ...(began === undefined ? {} : { _meta: { [META]: began } }),
    };
  }

  #usage(event: EventOf<"usage">): SessionUpdate {
    const { usage, window, cost, sessionCost, purpose } = event;
    // Side requests do not change the size of the session.
    if (purpose === undefined) this.#used = usage.input + usage.output;
    const meta: UsageMeta = { ...usage, ...(cost === undefined ? {} : { cost }) };
    return {
      sessionUpdate: "usage_update",
      used: this.#used,
      size: window,
      ...(sessionCost === undefined ? {} : { cost: { amount: sessionCost, currency: "USD" } }),
      _meta: { [META]: meta },
    };
  }

  #toolUpdate(
    event: EventOf<"tool_writing" | "tool_start" | "tool_running" | "tool_progress" | "tool_done">,
  ): SessionUpdate {
    switch (event.type) {
      case "tool_writing": {
        const { id, title, tool, lines, draft } = event;
        const meta = { tool, lines, ...defined({ draft }), ...parentOf(event) };
        return this.#tool(id, { title, status: "pending" }, meta);
      }
      case "tool_start": {
        const { id, tool, title, kind, paths } = event.call;
        const locations = paths.map((path) => ({ path }));
        const meta = { ...defined({ tool }), ...parentOf(event) };
        return this.#tool(id, { title, kind, status: "pending", locations }, meta);
      }
      case "tool_running":
        return this.#tool(event.id, { status: "in_progress" }, { rule: event.rule });
      case "tool_progress":
        return this.#tool(event.id, { status: "in_progress" }, { summary: event.summary });
      case "tool_done": {
        const { id, status, summary, output, diff, stopped } = event;
        const content: ToolCallContent[] = diff === undefined
          ? [{ type: "content", content: { type: "text", text: output.slice(0, LONGEST_OUTPUT) } }]
          : diffContents(diff);
        const locations = diff === undefined ? event.locations : diffLocations(diff);
        const fields = { status, content, ...defined({ locations: locations && [...locations] }) };
        return this.#tool(id, fields, { summary, ...diffCounts(diff), ...defined({ stopped }) });
      }
    }
  }

  #tool(id: string, fields: ToolFields, meta: ToolMeta): SessionUpdate {
    const _meta = { [META]: meta };
    if (this.#announced.has(id)) {
      return { sessionUpdate: "tool_call_update", toolCallId: id, ...fields, _meta };
    }
    this.#announced.add(id);
    return { sessionUpdate: "tool_call", toolCallId: id, title: "", ...fields, _meta };
  }

  #notice(severity: string, title: string): SessionUpdate {
    if (this.#can.notices) return { sessionUpdate: "notice", severity, title };
    return { sessionUpdate: "agent_message_chunk", ...chunk(crypto.randomUUID(), `\n\n${title}\n\n`) };
  }
}

function chunkUpdate(event: EventOf<"token" | "thought" | "thought_done" | "retold">): SessionUpdate {
  switch (event.type) {
    case "token":
      return { sessionUpdate: "agent_message_chunk", ...chunk(event.message, event.text), ...under(event) };
    case "thought":
      return { sessionUpdate: "agent_thought_chunk", ...chunk(event.message, event.text), ...under(event) };
    case "thought_done": {
      const _meta = { [META]: { milliseconds: event.milliseconds, ...parentOf(event) } };
      return { sessionUpdate: "agent_thought_chunk", ...chunk(event.message, ""), _meta };
    }
    case "retold": {
      const meta: RetoldMeta = { was: event.was, ...parentOf(event) };
      return { sessionUpdate: "agent_thought_chunk", ...chunk(event.message, ""), _meta: { [META]: meta } };
    }
  }
}

function planUpdate({ steps }: EventOf<"plan">): SessionUpdate {
  const entries = steps.map(({ step, status }) => ({ content: step, status, priority: "medium" as const }));
  return { sessionUpdate: "plan", entries };
}

function steeredUpdate({ id, text, given: labels }: EventOf<"steered">): SessionUpdate {
  return {
    sessionUpdate: "user_message_chunk",
    messageId: `steered-${id}`,
    content: { type: "text", text },
    ...(labels === undefined ? {} : { _meta: { [META]: { given: labels } satisfies Partial<TurnMeta> } }),
  };
}

type ToolFields =
  | Omit<Extract<SessionUpdate, { sessionUpdate: "tool_call" }>, "sessionUpdate" | "toolCallId">
  | {
    title?: string;
    status?: "pending" | "in_progress" | "completed" | "failed";
    content?: ToolCallContent[];
    locations?: ToolCallLocation[];
  };

function parentOf({ parent }: AgentEvent): { readonly parent?: string } {
  return parent === undefined ? {} : { parent };
}

function under(event: AgentEvent) {
  return event.parent === undefined ? {} : { _meta: { [META]: parentOf(event) } };
}

function chunk(messageId: string, text: string) {
  return { messageId, content: { type: "text", text } } as const;
}

/** One part for each file, up to the size of a message. */
export function diffContents(diff: Diff | undefined): ToolCallContent[] {
  if (diff === undefined) return [];
  let size = 0;
  const fits = ({ before, after }: Diff) => (size += (before?.length ?? 0) + after.length) <= LARGEST_TEXTS;
  return [diff, ...diff.others ?? []].filter(fits).map(({ path, before, after }) => ({
    type: "diff",
    path,
    oldText: before ?? null,
    newText: after,
  }));
}

/** The first changed line of each file. */
export function diffLocations(diff: Diff): ToolCallLocation[] {
  return [diff, ...diff.others ?? []].map(({ path, line }) => ({ path, ...defined({ line }) }));
}

/** Line counts of all files together. */
function diffCounts(diff: Diff | undefined): { added?: number; removed?: number } {
  if (diff === undefined) return {};
  const sum = (count: (one: Diff) => number) =>
    [diff, ...diff.others ?? []].reduce((all, one) => all + count(one), 0);
  return { added: sum(({ added }) => added), removed: sum(({ removed }) => removed) };
}
