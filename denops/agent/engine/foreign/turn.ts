/** One turn of another agent: its updates become events of the session, stored before they are shown. */
import type { RunnerPorts } from "../agent/turn/runner.ts";
import { ForeignCall, HELD } from "./call.ts";
import { callName, Spoken } from "./spoken.ts";
import type { AgentUpdate, CallUpdate, OfferedCommand } from "./updates.ts";

/** Characters of text and of thoughts, each. */
const MOST_SAID = 1_000_000;
const MOST_CALLS = 1_000;
const MOST_NOTICES = 20;

interface OpenMessage {
  readonly id: string;
  readonly kind: "text" | "thought";
  /** The beginning of a thought. */
  readonly since: number;
}

export class ForeignTurn {
  readonly spoken: Spoken;
  readonly #title: string;
  readonly #agent: string;
  readonly #ports: RunnerPorts;
  readonly #signal: AbortSignal;
  /** By the agent's ids. */
  readonly #calls = new Map<string, ForeignCall>();
  readonly #lengths = { text: 0, thought: 0 };
  readonly #left = { calls: new Set<string>(), text: false };
  #message: OpenMessage | undefined;
  /** Pieces of a message that are published together. */
  #piece = "";
  #usage: Extract<AgentUpdate, { type: "usage" }> | undefined;
  #shownUsage = "";
  #dollars: number | undefined;
  /** Not published yet. */
  #commands: readonly OfferedCommand[] | undefined;
  #notices = 0;

  /** @param agent its name @param title its name for the user */
  constructor(
    agent: { readonly name: string; readonly title: string },
    ports: RunnerPorts,
    signal: AbortSignal,
  ) {
    this.#agent = agent.name;
    this.#title = agent.title;
    this.#ports = ports;
    this.#signal = signal;
    this.spoken = new Spoken(ports);
  }

  /** @throws {TurnError} if storing fails */
  hear(update: AgentUpdate): void {
    switch (update.type) {
      case "text":
      case "thought":
        return this.#say(update.type, update.text);
      case "call":
        return this.#call(update.call);
      case "plan":
        this.#endMessage();
        this.#ports.state.plan = update.steps;
        return this.#ports.emit({ type: "plan", steps: update.steps });
      case "usage":
        this.#usage = update;
        this.#dollars = update.dollars ?? this.#dollars;
        return;
      case "notice":
        return this.#notice(update);
      case "commands":
        this.#commands = update.commands;
        return;
      case "mode":
      case "options":
      case "title":
        // The agent keeps them, whether a turn runs or not.
        return;
    }
  }

  /** Publishes what was heard so far. */
  flush(): void {
    const { emit } = this.#ports;
    if (this.#piece !== "" && this.#message !== undefined) {
      const { id: message, kind } = this.#message;
      const text = this.#piece;
      this.#piece = "";
      emit({ type: kind === "text" ? "token" : "thought", message, text });
    }
    this.#showUsage();
    if (this.#commands !== undefined) emit({ type: "commands", commands: [...this.#commands] });
    this.#commands = undefined;
  }

  /** The call with the agent's id; undefined if the turn has too many. */
  callOf(update: CallUpdate): ForeignCall | undefined {
    const known = this.#calls.get(update.id);
    if (known !== undefined) {
      if (known.end === undefined) known.merge(update);
      return known;
    }
    if (this.#calls.size >= MOST_CALLS) {
      if (this.#left.calls.size === 0) {
        this.#warn(`${this.#title} makes more than ${MOST_CALLS} calls; the others are not shown.`);
      }
      if (this.#left.calls.size < MOST_CALLS) this.#left.calls.add(update.id);
      return undefined;
    }
    const call = new ForeignCall(this.#ports.newCallId(""), this.#agent, this.#ports, this.#signal);
    call.parent = update.parent === undefined ? undefined : this.#calls.get(update.parent)?.id;
    call.merge(update);
    this.#calls.set(update.id, call);
    this.spoken.call(call);
    return call;
  }

  /** US dollars of the agent's session, if it has told them in this turn. */
  get dollars(): number | undefined {
    return this.#dollars;
  }

  /** The number of calls of each kind, under the names of the log. */
  get callCounts(): Readonly<Record<string, number>> {
    const names = Map.groupBy(this.#calls.values(), callName);
    return Object.fromEntries([...names].map(([name, { length }]) => [name, length]));
  }

  /** Our id of the agent's call; undefined if there was none. */
  idOf(theirs: string): string | undefined {
    return this.#calls.get(theirs)?.id;
  }

  /** Ends what the agent has left open. */
  end(): void {
    this.#endMessage();
    for (const call of this.#calls.values()) {
      // An announced call that never began has done nothing.
      if (call.end === undefined) call.finish("failed", true);
    }
    this.#showUsage();
  }

  #say(kind: "text" | "thought", text: string): void {
    if (this.#message?.kind !== kind) this.#begin(kind);
    const room = MOST_SAID - this.#lengths[kind];
    if (room <= 0) {
      if (!this.#left.text) {
        this.#warn(`${this.#title} says more than ${MOST_SAID} characters; the rest is not shown.`);
      }
      this.#left.text = true;
      return;
    }
    const part = text.slice(0, room);
    this.#lengths[kind] += part.length;
    if (kind === "text") this.spoken.say(part);
    this.#piece += part;
  }

  #begin(kind: "text" | "thought"): void {
    // An answer follows its thought under the same id.
    const id = this.#message?.kind === "thought" ? this.#message.id : crypto.randomUUID();
    this.#endMessage();
    this.#message = { id, kind, since: performance.now() };
  }

  #endMessage(): void {
    this.flush();
    const { id, kind, since } = this.#message ?? {};
    this.#message = undefined;
    if (kind !== "thought" || id === undefined || since === undefined) return;
    const milliseconds = Math.round(performance.now() - since);
    this.#ports.emit({ type: "thought_done", message: id, milliseconds });
  }

  #call(update: CallUpdate): void {
    const known = this.#calls.get(update.id);
    const isNew = known === undefined;
    // An answer continues beside a running call.
    if (known?.isStarted === true) this.flush();
    else this.#endMessage();
    const call = this.callOf(update);
    if (call === undefined || call.end !== undefined) return;
    const { status = "pending" } = update;
    // Some announce a call before they know its arguments.
    if (status === "pending" && !call.isStarted) {
      if (isNew) call.announce();
      return;
    }
    if (status === "in_progress") call.run(HELD);
    if (status === "completed" || status === "failed") call.finish(status);
  }

  #notice({ severity, text }: Extract<AgentUpdate, { type: "notice" }>): void {
    if (text === "" || ++this.#notices > MOST_NOTICES) return;
    this.#endMessage();
    this.#ports.emit({ type: "notice", severity, text: `${this.#title}: ${text}` });
  }

  #warn(text: string): void {
    this.#endMessage();
    this.#ports.emit({ type: "notice", severity: "warning", text });
  }

  #showUsage(): void {
    if (this.#usage === undefined) return;
    const { used, size, dollars } = this.#usage;
    const key = JSON.stringify([used, size, dollars]);
    this.#usage = undefined;
    if (key === this.#shownUsage) return;
    this.#shownUsage = key;
    this.#ports.emit({
      type: "usage",
      usage: { input: used, output: 0, cachedRead: 0, cachedWrite: 0 },
      window: size,
      ...(dollars === undefined ? {} : { sessionCost: dollars }),
    });
  }
}
