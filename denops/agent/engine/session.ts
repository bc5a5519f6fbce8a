/**
 * One conversation. Its prompts run one after the other, and it is the only writer of its log: an event is
 * appended, then published, so that the screen never shows what a resume would not.
 */
import { judgeCommand } from "../policy/command.ts";
import { allowKey, decide } from "../policy/decide.ts";
import { type Decision, mayRead } from "../policy/file_access.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { Spending } from "./agent/budget.ts";
import { runTurn, type TurnEnd } from "./agent/loop.ts";
import { Meter } from "./agent/meter.ts";
import { WriteChecks } from "./agent/write_checks.ts";
import type { AgentEvent, Emit } from "./core/events.ts";
import type { Message } from "./core/messages.ts";
import type { AskApproval, Editor, Store, UsageLog } from "./core/ports.ts";
import type { Model } from "./llm/model.ts";
import type { Offers, PreparedCall, SessionState, Tool } from "./tools/define.ts";
import { Workspace } from "./tools/files/workspace.ts";

export interface SessionPorts {
  readonly config: EngineConfig;
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly store: Store;
  readonly usage: UsageLog;
  readonly system: string;
  readonly editor: Editor;
  readonly ask: AskApproval;
  /** What the client does for tools. */
  readonly offers: Partial<Offers>;
  readonly publish: Emit;
}

/** Events of the moment: they are shown, but a resume does not need them. */
const TRANSIENT: ReadonlySet<AgentEvent["type"]> = new Set(["tool_writing", "retry"]);

export class Session {
  readonly id: string;
  readonly #ports: SessionPorts;
  readonly #workspace: Workspace;
  readonly #allowed = new Set<string>();
  readonly #state: SessionState = { folder: "", plan: [] };
  readonly #meter: Meter;
  /** Names of tools that are switched off. */
  readonly #off: Set<string>;
  /** As they are in the store. */
  readonly #history: Message[] = [];
  #running: AbortController | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #cancelled = 0;

  constructor(id: string, roots: readonly string[], ports: SessionPorts) {
    this.id = id;
    this.#ports = ports;
    const { deny_read } = ports.config;
    const mayReadPath = (path: Parameters<typeof mayRead>[0]) => mayRead(path, deny_read);
    this.#workspace = new Workspace({
      roots,
      editor: ports.editor,
      journal: ports.store.writes,
      mayRead: mayReadPath,
    });
    this.#off = new Set(ports.config.tools_off);
    const today = new Date().toISOString().slice(0, 10);
    const { spent } = ports.config;
    this.#meter = new Meter({
      session: id,
      provider: ports.config.provider.name,
      model: ports.model,
      price: ports.config.price,
      spending: new Spending(ports.config, spent?.date === today ? spent.amount : 0, today),
      log: ports.usage,
      emit: (event) => this.#emit(event),
    });
    ports.store.createSession({ id, root: roots[0] ?? "", model: ports.config.model });
  }

  /** Runs one turn, after those asked for before it. */
  prompt(text: string): Promise<TurnEnd> {
    const asked = this.#cancelled;
    const turn = this.#queue.then(() => {
      // A cancel ends what runs and what waits.
      if (asked !== this.#cancelled) return { type: "stopped", reason: "cancelled" } as const;
      return this.#turn(text);
    });
    this.#queue = turn.catch(() => {});
    return turn;
  }

  /** Switches a tool on or off from the next request on; the prompt's earlier bytes change once. */
  toggleTool(name: string): void {
    if (!this.#off.delete(name)) this.#off.add(name);
  }

  get tools(): readonly { readonly name: string; readonly on: boolean }[] {
    return this.#offered().map(({ name }) => ({ name, on: !this.#off.has(name) }));
  }

  /** The tools that this client makes possible. */
  #offered(): readonly Tool[] {
    const { tools, offers } = this.#ports;
    return tools.filter(({ needs }) => needs === undefined || offers[needs] !== undefined);
  }

  cancel(): void {
    this.#cancelled += 1;
    this.#running?.abort();
  }

  async #turn(text: string): Promise<TurnEnd> {
    const controller = new AbortController();
    this.#running = controller;
    this.#emit({ type: "turn_started", text });
    try {
      const end = await runTurn(text, this.#turnPorts(), controller.signal);
      this.#emit(
        end.type === "stopped"
          ? { type: "turn_done", reason: end.reason }
          : { type: "turn_failed", kind: end.error.kind, message: end.error.message },
      );
      return end;
    } finally {
      this.#running = undefined;
    }
  }

  #turnPorts() {
    const { config, store, model, system, ask, offers } = this.#ports;
    const tools = this.#offered().filter(({ name }) => !this.#off.has(name));
    return {
      model,
      system,
      tools,
      ask,
      context: { workspace: this.#workspace, session: this.#state, ...offers },
      checks: offers.languages === undefined ? undefined : new WriteChecks(offers.languages, this.#workspace),
      meter: this.#meter,
      maxIterations: config.max_iterations,
      emit: (event: AgentEvent) => this.#emit(event),
      decide: (prepared: PreparedCall) => this.#decide(prepared),
      allowForSession: ({ touches }: PreparedCall) => {
        for (const touch of touches) this.#allowed.add(allowKey(touch));
      },
      history: () => this.#history,
      append: (message: Message) => {
        store.appendMessage(this.id, message);
        this.#history.push(message);
      },
    };
  }

  /** A command always is a question: the other side's gate knows the rules, and answers for the user where it may. */
  #decide({ touches, command }: PreparedCall): Decision {
    if (command === undefined) return decide(touches, this.#ports.config, this.#allowed);
    return { verdict: "ask", rule: "command", reason: judgeCommand(command.command).reason };
  }

  #emit(event: AgentEvent): void {
    if (!TRANSIENT.has(event.type)) this.#ports.store.appendEvent(this.id, event);
    this.#ports.publish(event);
  }
}
