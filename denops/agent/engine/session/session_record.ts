/**
 * The log of one session, the part of it that the model sees, and the session's memory. Only this class
 * writes the log. It stores an event before it publishes it, so that the screen shows only what a resumed
 * session shows.
 */
import { HistoryWindow } from "../context/folding/window.ts";
import { withoutRepeats } from "../context/repeats.ts";
import { attachmentNames, type FoldEntry, type LogEntry } from "../log/entries.ts";
import { mcpNote, type McpNoteFacts } from "../agent/gather/mcp_notes.ts";
import type { McpPort } from "../ports/mcp.ts";
import { callIds } from "../agent/turn/call_ids.ts";
import { type AgentEvent, type Emit, type Part, TRANSIENT, type UserMessage } from "../log/events.ts";
import { type Facts, Memory } from "../agent/permission/memory.ts";
import { LEFT_OPEN, missing } from "../agent/turn/interrupted.ts";
import type { Store, TurnBegun } from "../ports/store.ts";
import { hasState, NEW_SHELL } from "../tools/commands/shell.ts";
import type { ToolMemory } from "../tools/define.ts";
import { defined } from "../../shared/records.ts";
import { LogWriter } from "./log_writer.ts";

/** The first request of a session waits this long for MCP servers. */
const MCP_MS = 2_000;

/** Reads the memory of a session; an empty one for a new session. */
export function memoryOf(id: string, store: Store): Memory {
  store.reopen(id);
  return new Memory(store.session(id) === undefined ? [] : store.remembered(id));
}

interface RecordPorts {
  readonly id: string;
  /** The project's folder. */
  readonly root: string;
  readonly store: Store;
  readonly memory: Memory;
  readonly publish: Emit;
  /** Tokens that fit into the model's window. */
  window(): number;
  /** Current facts from the session's other parts. */
  facts(): Omit<Facts, "folder" | "variables" | "plan" | "first">;
  /** Called with each event before it is stored. */
  hear(event: AgentEvent): void;
  /** Called after messages were appended. */
  appended(): void;
  /** Called when the model no longer sees its earlier messages. */
  forgotten(): void;
}

export class SessionRecord {
  readonly memory: Memory;
  /** The stored history. */
  readonly history: HistoryWindow;
  readonly state: ToolMemory;
  /** @param wanted the model's own id, or "" @returns a unique id in the session */
  readonly newCallId: (wanted: string) => string;
  readonly #ports: RecordPorts;
  readonly #log: LogWriter;
  /** Calls that have begun but not ended. */
  readonly #open = new Set<string>();
  #isStored: boolean;
  /** The last turn may lack an end, which is added before anything else. */
  #isCutOff = false;

  constructor(ports: RecordPorts) {
    const { id, store, memory, window } = ports;
    this.#ports = ports;
    this.#log = new LogWriter(id, store, ports.publish);
    this.#isStored = store.session(id) !== undefined;
    this.memory = memory;
    const { folder, variables, plan, first } = this.memory.facts;
    this.state = { folder, plan, shell: variables ? undefined : NEW_SHELL };
    this.newCallId = callIds((call) => store.hasCall(id, call));
    const options = { store, session: id, window, chosen: this.memory };
    this.history = new HistoryWindow(options, this.#isStored ? first : undefined);
  }

  /** The session is stored, because it has a message. */
  get isStored(): boolean {
    return this.#isStored;
  }

  /** The number of the running or last turn. */
  get turn(): number {
    return this.#ports.store.turn(this.#ports.id);
  }

  /** The model that knows the tools under their old names; undefined: none does. */
  get oldModel(): string | undefined {
    if (this.memory.offered.size > 0) return undefined;
    const answers = this.history.messages.filter((entry) => entry.type === "assistant_message");
    return answers.findLast(({ by }) => by !== undefined)?.by?.model;
  }

  /** The user's messages with their times, oldest first, of these turns. */
  turnsBegun(first: number, last: number): readonly TurnBegun[] {
    return this.#ports.store.turnsBegun(this.#ports.id, first, last);
  }

  /** Stores the user's message as the first of a turn. @param model of a session that is not stored yet */
  begin(parts: readonly Part[], model: string, branch: string | undefined): UserMessage {
    const { id, root, store } = this.#ports;
    if (!this.#isStored) store.createSession({ id, root, model, ...defined({ branch }) });
    this.#isStored = true;
    this.#log.saveUnsaved();
    if (this.#isCutOff) this.mend();
    this.#isCutOff = false;
    const { slid, lost } = this.history.slide();
    const prompt: UserMessage = {
      type: "user_message",
      origin: "user",
      parts: withoutRepeats(parts, this.history.seen),
    };
    this.emit(prompt);
    if (slid) {
      this.#ports.forgotten();
      const last = this.history.first - 1;
      this.warn(`The session is longer than the model's window: it no longer sees turns 1 to ${last}.`);
    }
    if (lost) this.warn("A part of this session cannot be read; the model continues without it.");
    const title = store.session(id)?.title ?? "";
    this.emit({
      type: "title",
      title,
      began: { turn: this.turn, time: Date.now(), ...attachmentNames(prompt) },
    });
    return prompt;
  }

  /** Nothing more can be stored in this turn; it gets its end when the next one begins. */
  markCutOff(): void {
    this.#isCutOff = true;
  }

  /** Adds missing results of calls and answers to questions: without them, providers refuse the session. */
  mend(): void {
    const { id, store } = this.#ports;
    const events = store.events(id, { first: this.turn, last: this.turn, without: ["file_modified"] });
    const entries = missing(this.history.messages, events);
    if (entries.length > 0) this.append(entries);
  }

  /** Ends the unfinished calls of a turn. */
  closeCalls(): void {
    for (const id of this.#open) this.emit({ type: "tool_done", id, ...LEFT_OPEN });
  }

  /** Stores the memory of the session's parts, unless the session is not stored yet. */
  remember(): void {
    if (this.#isStored) this.append([]);
  }

  /** Stores messages together with the current memory, so that both match. @throws {TurnError} */
  append(entries: readonly LogEntry[]): void {
    const { folder, shell, plan } = this.state;
    const facts = {
      ...this.#ports.facts(),
      folder,
      variables: shell === undefined || hasState(shell),
      plan: [...plan],
      first: this.history.first,
    };
    const memory = this.memory.unstored(facts);
    this.#log.save({ entries, memory });
    this.memory.stored(memory);
    this.history.push(entries);
    this.#ports.appended();
  }

  /** Stores a fold of messages. @throws {TurnError} */
  fold(entry: FoldEntry): void {
    this.append([entry]);
    // The model may no longer see rules of folders and facts of the moment.
    if (entry.type !== "compaction") return;
    this.#ports.forgotten();
    this.remember();
  }

  /** Records that the log has the user's message with this id. */
  noteMessage(id: string | undefined): void {
    if (id !== undefined) this.memory.messages.set(id, true);
  }

  /**
   * Tells the model about tools of MCP servers. The first request of a session waits shortly for them: tools that come
   * later are not in its list.
   */
  async noteMcp(mcp: McpPort | undefined, facts: McpNoteFacts, signal: AbortSignal): Promise<void> {
    if (mcp === undefined) return;
    if (this.memory.offered.size === 0) await mcp.settled(MCP_MS, signal);
    const text = mcpNote(mcp, this.memory, facts);
    if (text !== undefined) this.append([{ type: "control_note", reason: "context", text }]);
  }

  warn(text: string): void {
    this.emit({ type: "notice", severity: "warning", text });
  }

  emit(event: AgentEvent): void {
    this.#ports.hear(event);
    if (event.type === "tool_start") this.#open.add(event.call.id);
    else if (event.type === "tool_done") this.#open.delete(event.id);
    if (event.type === "turn_done" || event.type === "turn_failed" || event.type === "user_message") {
      this.append([event]);
    } else if (!TRANSIENT.has(event.type)) this.#log.save({ entries: [event] });
    this.#ports.publish(event);
  }

  /** Stores earlier failed entries, if that is possible now. */
  close(): void {
    try {
      this.#log.saveUnsaved();
    } catch {
      // The user has already been notified.
    }
  }
}
