/**
 * One conversation. Its prompts run one after the other, and it is the only writer of its log: an event is
 * appended, then published, so that the screen never shows what a resume would not.
 */
import { decide } from "../policy/decide.ts";
import { allowKey } from "../policy/decide.ts";
import { mayRead } from "../policy/file_access.ts";
import type { EngineConfig } from "../protocol/config.ts";
import { runTurn, type TurnEnd } from "./agent/loop.ts";
import { WriteChecks } from "./agent/write_checks.ts";
import type { AgentEvent, Emit } from "./core/events.ts";
import type { AskApproval, Editor, LanguageServers, Store } from "./core/ports.ts";
import type { Model } from "./llm/model.ts";
import type { Tool } from "./tools/define.ts";
import { Workspace } from "./tools/files/workspace.ts";

export interface SessionPorts {
  readonly config: EngineConfig;
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly store: Store;
  readonly system: string;
  readonly editor: Editor;
  /** Undefined if the client has none: then the tools that need them do not exist either. */
  readonly servers: LanguageServers | undefined;
  readonly ask: AskApproval;
  readonly publish: Emit;
}

/** Events of the moment: they are shown, but a resume does not need them. */
const TRANSIENT: ReadonlySet<AgentEvent["type"]> = new Set(["tool_writing", "retry"]);

export class Session {
  readonly id: string;
  readonly #ports: SessionPorts;
  readonly #workspace: Workspace;
  readonly #allowed = new Set<string>();
  #running: AbortController | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #cancelled = 0;

  constructor(id: string, root: string, ports: SessionPorts) {
    this.id = id;
    this.#ports = ports;
    const { deny_read } = ports.config;
    const mayReadPath = (path: Parameters<typeof mayRead>[0]) => mayRead(path, deny_read);
    const { editor, servers } = ports;
    this.#workspace = new Workspace({ root, editor, servers, mayRead: mayReadPath });
    ports.store.createSession({ id, root });
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
    const { config, store, model, system, tools, ask, servers } = this.#ports;
    return {
      model,
      system,
      tools: tools.filter(({ needs }) => needs === undefined || this.#ports[needs] !== undefined),
      ask,
      workspace: this.#workspace,
      checks: servers === undefined ? undefined : new WriteChecks(servers, this.#workspace),
      maxIterations: config.max_iterations,
      emit: (event: AgentEvent) => this.#emit(event),
      decide: (touches: Parameters<typeof decide>[0]) => decide(touches, config, this.#allowed),
      allowForSession: (touches: Parameters<typeof decide>[0]) => {
        for (const touch of touches) this.#allowed.add(allowKey(touch));
      },
      history: () => store.messages(this.id),
      append: (message: Parameters<Store["appendMessage"]>[1]) => store.appendMessage(this.id, message),
    };
  }

  #emit(event: AgentEvent): void {
    if (!TRANSIENT.has(event.type)) this.#ports.store.appendEvent(this.id, event);
    this.#ports.publish(event);
  }
}
