/** Rebuilds the updates of a stored session, with each text and each call in one piece. */
import type { SessionUpdate } from "../../deps/acp_sdk.ts";
import { META, type TurnMeta } from "../../protocol/extensions.ts";
import type { HistoryEntry, TurnUndone } from "../../protocol/requests.ts";
import { type Capabilities, STOP_REASONS, Updates } from "./updates.ts";
import type { AgentEvent } from "../log/events.ts";
import { attachmentNames, wordsOf } from "../log/entries.ts";
import type { Store, Stored, WhichEntries } from "../ports/store.ts";
import { defined } from "../../shared/records.ts";

/** Events that the screen does not show. */
const UNSEEN = ["file_modified", "approval_requested", "approval_answered"] as const;

/** Characters of output in one part; of older calls only the line is shown. */
const LARGEST_OUTPUTS = 4_000_000;

/** As `history`, but with line counts instead of the texts of diffs, and with what the user undid. */
export function outline(
  store: Pick<Store, "events" | "checkpoints">,
  session: string,
  turns: Parameters<typeof history>[2],
  can: Parameters<typeof history>[3],
): readonly HistoryEntry[] {
  let room = LARGEST_OUTPUTS;
  const states = store.checkpoints.undone(session, turns.first, turns.last);
  const undone = new Map(states.map((state) => [state.turn, state]));
  const bare = {
    events: (session: string, which?: WhichEntries) => store.events(session, { ...which, bareDiffs: true }),
  };
  const calls = store.checkpoints.undoneCalls(session, turns.first, turns.last);
  // The newest calls first, because the user looks at them.
  const entries = history(bare, session, turns, can).toReversed().map((entry) => {
    if (entry.type === "turn_files") return withUndone(entry, undone.get(entry.turn));
    if (entry.type !== "update" || !Array.isArray(entry.update.content)) return entry;
    const content = entry.update.content.filter((part) => !isRecord(part) || part.type !== "diff");
    room -= JSON.stringify(content).length;
    return { ...entry, update: { ...entry.update, content: room < 0 ? [] : content } };
  }).toReversed();
  return calls.length === 0 ? entries : [...entries, { type: "calls_undone", calls: [...calls] }];
}

function withUndone(entry: Extract<HistoryEntry, { type: "turn_files" }>, state: TurnUndone | undefined) {
  const states = new Map(state?.files?.map(({ path, undone }) => [path, undone]));
  const files = entry.files.map((file) => ({ ...file, ...defined({ undone: states.get(file.path) }) }));
  return { ...entry, files, ...defined({ undone: state?.undone }) };
}

/** Returns turns `first` to `last`, oldest first. */
export function history(
  store: Pick<Store, "events">,
  session: string,
  { first, last }: { readonly first: number; readonly last: number },
  can: Pick<Capabilities, "notices" | "extensions">,
): readonly HistoryEntry[] {
  const pieces = new Pieces(can);
  // One turn at a time, so that the previous one can be garbage-collected.
  for (let turn = first; turn <= last; turn++) {
    for (const stored of store.events(session, { first: turn, last: turn, without: UNSEEN })) {
      pieces.add(stored);
    }
  }
  return pieces.entries;
}

/**
 * The newest `turns` turns before the cursor, and the cursor of the older ones; undefined at the beginning.
 */
export function pageOf(
  newest: number,
  before: number | undefined,
  turns: number,
): { readonly first: number; readonly last: number; readonly before: number | undefined } {
  const last = Math.min(newest, (before ?? newest + 1) - 1);
  const first = Math.max(1, last - turns + 1);
  return { first, last, before: first > 1 ? first : undefined };
}

type Update = Extract<HistoryEntry, { type: "update" }>["update"];

/** Joins the pieces of texts and calls. */
class Pieces {
  readonly entries: HistoryEntry[] = [];
  readonly #updates: Updates;
  /** Positions of the calls, and of the last turn's usage. */
  readonly #calls = new Map<string, number>();
  /** Position of a call → its id, and its order in the model's answer. */
  readonly #orders = new Map<number, { readonly id: string; readonly order: number }>();
  #usage: number | undefined;
  /** The next usage of a step is the first of its turn. */
  #fresh = true;

  constructor(can: Pick<Capabilities, "notices" | "extensions">) {
    this.#updates = new Updates(can);
  }

  add({ entry: event, turn, time }: Stored): void {
    switch (event.type) {
      case "user_message":
        this.#fresh = true;
        return this.#push(userMessage(wordsOf(event), { turn, time, ...attachmentNames(event) }));
      case "turn_files":
        return void this.entries.push({ type: "turn_files", turn: event.turn, files: [...event.files] });
      case "turn_done": {
        const reason = event.reason === "interrupted" ? event.reason : STOP_REASONS[event.reason];
        return void this.entries.push({ type: "turn_done", reason });
      }
      case "turn_failed":
        return void this.entries.push({ type: "turn_done", reason: "error", error: event.message });
      default:
        return this.#update(event);
    }
  }

  #update(event: AgentEvent): void {
    const update = this.#updates.of(event);
    if (update === undefined) return;
    if (event.type === "retold") return this.#retell(event);
    switch (update.sessionUpdate) {
      case "agent_message_chunk":
      case "agent_thought_chunk": {
        const last = this.entries.at(-1);
        if (last?.type !== "update" || !goesOn(last.update, update)) return this.#push(update);
        const text = textOf(last.update) + textOf(update);
        return this.#replace(this.entries.length - 1, { ...update, content: { type: "text", text } });
      }
      case "tool_call":
        return this.#insert(update.toolCallId, update, orderOf(event));
      case "tool_call_update": {
        const at = this.#calls.get(update.toolCallId);
        const before = at === undefined ? undefined : this.#at(at);
        if (at === undefined || before === undefined) return this.#push(update);
        const _meta = { [META]: { ...metaOf(before), ...metaOf(update) } };
        return this.#replace(at, { ...before, ...update, sessionUpdate: before.sessionUpdate, _meta });
      }
      case "usage_update": {
        // Keep the last usage of a turn. A side request may end in the next turn.
        if (this.#fresh && event.type === "usage" && event.purpose === undefined) this.#usage = undefined;
        this.#fresh = false;
        if (this.#usage !== undefined) return this.#replace(this.#usage, update);
        this.#usage = this.entries.length;
        return this.#push(update);
      }
      default:
        return this.#push(update);
    }
  }

  #retell({ message, was }: Extract<AgentEvent, { type: "retold" }>): void {
    const kind = was === "text" ? "agent_message_chunk" : "agent_thought_chunk";
    const at = this.entries.findLastIndex((entry) =>
      entry.type === "update" && entry.update.sessionUpdate === kind && entry.update.messageId === message
    );
    const update = this.#at(at);
    if (update === undefined) return;
    const content = was === "text" ? update.content : { type: "text", text: "" };
    this.#replace(at, { ...update, content, sessionUpdate: "agent_thought_chunk" });
  }

  #at(place: number): Update | undefined {
    const entry = this.entries[place];
    return entry?.type === "update" ? entry.update : undefined;
  }

  #push(update: Update): void {
    this.entries.push({ type: "update", update });
  }

  /** Inserts a call in the model's order, regardless of which started first. A call without an order stays last. */
  #insert(id: string, update: Update, order = 0): void {
    let place = this.entries.length;
    this.#push(update);
    for (; order > 0 && (this.#orders.get(place - 1)?.order ?? 0) > order; place--) {
      this.#move(place - 1, place);
    }
    this.#replace(place, update);
    this.#calls.set(id, place);
    if (order > 0) this.#orders.set(place, { id, order });
  }

  #move(from: number, to: number): void {
    const [update, call] = [this.#at(from), this.#orders.get(from)];
    if (update === undefined || call === undefined) return;
    this.#replace(to, update);
    this.#calls.set(call.id, to);
    this.#orders.set(to, call);
  }

  #replace(place: number, update: Update): void {
    this.entries[place] = { type: "update", update };
  }
}

function userMessage(text: string, meta: TurnMeta): SessionUpdate {
  return {
    sessionUpdate: "user_message_chunk",
    messageId: `user-${meta.turn}`,
    content: { type: "text", text },
    _meta: { [META]: meta },
  };
}

/** The end of a thought is a piece of its own. */
function goesOn(last: Update, next: Update): boolean {
  return last.sessionUpdate === next.sessionUpdate && last.messageId === next.messageId &&
    metaOf(last).milliseconds === undefined && metaOf(next).milliseconds === undefined;
}

/** Calls below another call keep their order of arrival. */
function orderOf(event: AgentEvent): number | undefined {
  return event.type === "tool_start" && event.parent === undefined ? event.order : undefined;
}

function textOf({ content }: Update): string {
  return isRecord(content) && typeof content.text === "string" ? content.text : "";
}

function metaOf({ _meta }: Update): Readonly<Record<string, unknown>> {
  const meta = isRecord(_meta) ? _meta[META] : undefined;
  return isRecord(meta) ? meta : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
