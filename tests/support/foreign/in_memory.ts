/** Another agent in memory: it speaks ACP as a test says, and its changes are those of a copy of the project. */
import { isRecord } from "../../../denops/agent/shared/records.ts";
import type { ForeignPipe, ForeignPort } from "../../../denops/agent/engine/ports/foreign.ts";
import type { Effects } from "../../../denops/agent/engine/ports/commands.ts";

export type Message = Readonly<Record<string, unknown>>;

/** What a scripted agent can do while it answers. */
export interface AgentHand {
  /** Of the session that it opened last. */
  readonly session: string;
  /** Text, as it is. */
  raw(text: string): void;
  send(message: Message): void;
  update(update: Message, session?: string): void;
  say(text: string): void;
  think(text: string): void;
  call(id: string, fields?: Message): void;
  more(id: string, fields: Message): void;
  /** A request to the client. @returns its answer */
  ask(method: string, params: Message): Promise<Message>;
  /** @returns the outcome's option, or "cancelled" */
  permit(toolCall: Message, options?: readonly Message[]): Promise<string>;
  /** Changes the project as a shell would, over the overlay of the turn. */
  change(line: string): Promise<void>;
  /** Resolves when the client cancels the turn. */
  readonly cancelled: Promise<void>;
  /** The program ends. */
  exit(how: string): void;
}

export interface AgentScript {
  readonly capabilities?: Message;
  /** The answer to session/new, beside the id. */
  readonly opened?: Message;
  /** Answers a request instead of the agent; undefined: as usual. @throws an error message */
  answer?(method: string, params: Message, hand: AgentHand): unknown;
  /** Plays a turn. @returns its stop reason, "end_turn" unless told */
  turn?(text: string, hand: AgentHand, blocks: readonly Message[]): Promise<string | void> | string | void;
}

export interface PlayedAgent {
  readonly port: ForeignPort;
  /** Everything that the client sent, of all starts. */
  readonly received: readonly Message[];
  /** What the port was asked for: "open", "begin", "end complete", "close". */
  readonly steps: readonly string[];
  /** Text that waits to be read. */
  readonly waiting: number;
}

export const OPTIONS = [
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
] as const;

/** What the turn of an agent would change. */
export interface Changes {
  begin(): Promise<void>;
  change(line: string): Promise<void>;
  effects(): Promise<Effects | undefined>;
}

const NO_CHANGES: Changes = {
  begin: () => Promise.resolve(),
  change: () => Promise.resolve(),
  effects: () => Promise.resolve(undefined),
};

export function playAgent(
  scripts: AgentScript | readonly AgentScript[],
  { changes = NO_CHANGES, notes = [] }: { readonly changes?: Changes; readonly notes?: readonly string[] } =
    {},
): PlayedAgent {
  const all = Array.isArray(scripts) ? scripts as readonly AgentScript[] : [scripts as AgentScript];
  const received: Message[] = [];
  const steps: string[] = [];
  const programs: Program[] = [];
  return {
    received,
    steps,
    get waiting() {
      return programs.reduce((sum, { waiting }) => sum + waiting, 0);
    },
    port: {
      open() {
        steps.push("open");
        const program = new Program(all[programs.length] ?? all.at(-1) ?? {}, received, changes);
        programs.push(program);
        const pipe: ForeignPipe = {
          write: (text) => program.write(text),
          read: () => program.read(),
          async begin() {
            steps.push("begin");
            await changes.begin();
          },
          async end(complete) {
            steps.push(complete ? "end complete" : "end");
            const effects = await changes.effects();
            return effects === undefined ? { notes } : { effects, notes };
          },
          close() {
            steps.push("close");
            program.exit("closed");
          },
        };
        return Promise.resolve(pipe);
      },
    },
  };
}

class Program {
  readonly #script: AgentScript;
  readonly #received: Message[];
  readonly #changes: Changes;
  readonly #asked = new Map<unknown, (answer: Message) => void>();
  #out: string[] = [];
  #ended: string | undefined;
  #wake: () => void = () => {};
  #session = "";
  #cancel = Promise.withResolvers<void>();
  #sessions = 0;
  #ids = 0;

  constructor(script: AgentScript, received: Message[], changes: Changes) {
    this.#script = script;
    this.#received = received;
    this.#changes = changes;
  }

  get waiting(): number {
    return this.#out.reduce((sum, text) => sum + text.length, 0);
  }

  async read(): Promise<{ text: string; ended?: string }> {
    while (this.#out.length === 0 && this.#ended === undefined) {
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    const text = this.#out.splice(0, 1_000).join("");
    return this.#ended === undefined || this.#out.length > 0 ? { text } : { text, ended: this.#ended };
  }

  write(text: string): Promise<void> {
    if (this.#ended !== undefined) return Promise.reject(new Error("the pipe is closed"));
    for (const line of text.split("\n").filter((one) => one !== "")) this.#take(JSON.parse(line));
    return Promise.resolve();
  }

  exit(how: string): void {
    this.#ended ??= how;
    this.#cancel.resolve();
    this.#wake();
  }

  #raw(text: string): void {
    if (this.#ended !== undefined) return;
    this.#out.push(text);
    this.#wake();
  }

  #send(message: Message): void {
    this.#raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }

  #take(message: Message): void {
    this.#received.push(message);
    const { id, method, params } = message;
    if (typeof method !== "string") {
      this.#asked.get(id)?.(message);
      return;
    }
    if (method === "session/cancel") return this.#cancel.resolve();
    if (id === undefined) return;
    this.#answer(method, isRecord(params) ? params : {}).then(
      (result) => result === NEVER || this.#send({ id, result }),
      (error) => this.#send({ id, error: errorOf(error) }),
    );
  }

  async #answer(method: string, params: Message): Promise<unknown> {
    const own = await this.#script.answer?.(method, params, this.#hand());
    if (own !== undefined) return own;
    const { capabilities = {}, opened = {} } = this.#script;
    switch (method) {
      case "initialize":
        return { protocolVersion: 1, agentCapabilities: capabilities };
      case "session/new":
        this.#session = `theirs-${++this.#sessions}`;
        return { sessionId: this.#session, ...opened };
      case "session/load":
      case "session/resume":
        this.#session = String(params.sessionId);
        return opened;
      case "session/prompt": {
        this.#cancel = Promise.withResolvers();
        const blocks = Array.isArray(params.prompt) ? params.prompt.filter(isRecord) : [];
        const text = blocks.flatMap((block) => typeof block.text === "string" ? [block.text] : []).join(
          "\n\n",
        );
        return { stopReason: await this.#script.turn?.(text, this.#hand(), blocks) ?? "end_turn" };
      }
      default:
        return {};
    }
  }

  #hand(): AgentHand {
    const update = (fields: Message, sessionId = this.#session) =>
      this.#send({ method: "session/update", params: { sessionId, update: fields } });
    const chunk = (kind: string, text: string) =>
      update({ sessionUpdate: kind, content: { type: "text", text } });
    const ask = (method: string, params: Message) => {
      const id = `theirs-${++this.#ids}`;
      const answer = new Promise<Message>((resolve) => this.#asked.set(id, resolve));
      this.#send({ id, method, params: { sessionId: this.#session, ...params } });
      return answer;
    };
    return {
      session: this.#session,
      raw: (text) => this.#raw(text),
      send: (message) => this.#send(message),
      update,
      say: (text) => chunk("agent_message_chunk", text),
      think: (text) => chunk("agent_thought_chunk", text),
      call: (id, fields = {}) => update({ sessionUpdate: "tool_call", toolCallId: id, title: id, ...fields }),
      more: (id, fields) => update({ sessionUpdate: "tool_call_update", toolCallId: id, ...fields }),
      ask,
      async permit(toolCall, options = OPTIONS) {
        const { result } = await ask("session/request_permission", { toolCall, options });
        const outcome = isRecord(result) && isRecord(result.outcome) ? result.outcome : {};
        return String(outcome.optionId ?? outcome.outcome);
      },
      change: (line) => this.#changes.change(line),
      cancelled: this.#cancel.promise,
      exit: (how) => this.exit(how),
    };
  }
}

/** The request gets no answer. */
export const NEVER = Symbol("never");

/** An error of the protocol. */
export class AgentError extends Error {
  constructor(readonly code: number, message: string, readonly data?: unknown) {
    super(message);
  }
}

function errorOf(error: unknown): Message {
  if (error instanceof AgentError) return { code: error.code, message: error.message, data: error.data };
  return { code: -32603, message: String(error) };
}
