/**
 * One conversation. Its prompts run one after the other, and it is the only writer of its log: an event is
 * appended, then published, so that the screen never shows what a resume would not.
 */
import { judgeCommand } from "../policy/command.ts";
import { allowKey, decide } from "../policy/decide.ts";
import { type Decision, mayRead } from "../policy/file_access.ts";
import type { ResolvedPath } from "../policy/path.ts";
import type { EngineConfig, FileRules } from "../protocol/config.ts";
import { Spending } from "./agent/budget.ts";
import { runTurn, type TurnEnd } from "./agent/loop.ts";
import { WriteChecks } from "./agent/write_checks.ts";
import type { TakenBack } from "./checkpoint/history.ts";
import { SessionCheckpoints } from "./checkpoint/session_checkpoints.ts";
import { ToolError } from "./core/errors.ts";
import type { AgentEvent, Emit } from "./core/events.ts";
import type { Message } from "./core/messages.ts";
import type { AskApproval, Editor, Store, TurnBegun } from "./core/ports.ts";
import type { Model } from "./llm/model.ts";
import type { Offers, PreparedCall, SessionState, Tool, Touch } from "./tools/define.ts";
import { Workspace } from "./tools/files/workspace.ts";

export interface SessionPorts {
  readonly config: EngineConfig;
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly store: Store;
  readonly system: string;
  readonly editor: Editor;
  readonly ask: AskApproval;
  /** Makes a symbolic link, where the engine itself may not. @throws {Error} */
  makeLink(path: string, target: string): Promise<void>;
  /** The rules on files of this moment; undefined where only those of the configuration are known. */
  readonly fileRules?: (() => Promise<FileRules>) | undefined;
  /** What the client does for tools. */
  readonly offers: Partial<Offers>;
  readonly publish: Emit;
}

/** Events of the moment: they are shown, but a resume does not need them. */
const TRANSIENT: ReadonlySet<AgentEvent["type"]> = new Set(["tool_writing", "retry"]);

export class Session {
  readonly id: string;
  readonly checkpoints: SessionCheckpoints;
  readonly #ports: SessionPorts;
  readonly #workspace: Workspace;
  readonly #allowed = new Set<string>();
  /** As they were when the last tool call began. */
  #rules: FileRules;
  readonly #state: SessionState = { folder: "", plan: [] };
  readonly #spending: Spending;
  /** Names of tools that are switched off. */
  readonly #off: Set<string>;
  /** As they are in the store. */
  readonly #history: Message[] = [];
  #running: AbortController | undefined;
  #queue: Promise<unknown> = Promise.resolve();
  #cancelled = 0;
  /** Prompts that run or wait. */
  #prompts = 0;

  constructor(id: string, roots: readonly string[], ports: SessionPorts) {
    this.id = id;
    this.#ports = ports;
    this.#rules = ports.config;
    this.#workspace = new Workspace({
      roots,
      editor: ports.editor,
      journal: ports.store.writes,
      mayRead: (path) => this.#mayRead(path),
    });
    this.#off = new Set(ports.config.tools_off);
    const today = new Date().toISOString().slice(0, 10);
    const { spent } = ports.config;
    this.#spending = new Spending(ports.config, spent?.date === today ? spent.amount : 0, today);
    this.checkpoints = new SessionCheckpoints({
      session: id,
      roots,
      store: ports.store.checkpoints,
      editor: ports.editor,
      journal: ports.store.writes,
      turn: () => ports.store.turn(id),
      resolve: (path) => this.#workspace.resolve(path),
      makeLink: ports.makeLink,
      notice: (text) => this.#emit({ type: "notice", severity: "warning", text }),
    });
    ports.store.createSession({ id, root: roots[0] ?? "", model: ports.config.model });
  }

  /** Runs one turn, after those asked for before it. */
  prompt(text: string): Promise<TurnEnd> {
    const asked = this.#cancelled;
    this.#prompts += 1;
    const turn = this.#queue.then(() => {
      // A cancel ends what runs and what waits.
      if (asked !== this.#cancelled) return { type: "stopped", reason: "cancelled" } as const;
      return this.#turn(text);
    }).finally(() => this.#prompts -= 1);
    this.#queue = turn.catch(() => {});
    return turn;
  }

  /** Takes back, does again or goes back. Prompts that come meanwhile wait. @throws {ToolError} one line */
  async takeBack(action: Parameters<SessionCheckpoints["takeBack"]>[0]): Promise<TakenBack> {
    if (this.#prompts > 0) throw new ToolError("A turn is running. Stop it first.");
    // A cancel is for turns: half of an undo helps nobody.
    const { signal } = new AbortController();
    const taken = this.#queue.then(() => this.checkpoints.takeBack(action, signal));
    this.#queue = taken.catch(() => {});
    const done = await taken;
    for (const change of done.changes) {
      this.#ports.publish({ type: "file_modified", id: `${action.kind}-${done.turn}`, change });
    }
    return done;
  }

  /** What the user asked, and when, oldest first. */
  turnsBegun(): readonly TurnBegun[] {
    return this.#ports.store.turnsBegun(this.id);
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
      const note = this.checkpoints.takeNote();
      const told = note === undefined ? text : `${note}\n\n${text}`;
      const end = await runTurn(told, this.#turnPorts(), controller.signal);
      await this.#listFiles();
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

  /** What the turn has changed in all. */
  async #listFiles(): Promise<void> {
    for (const { toolCall: id, changes } of await this.checkpoints.late()) {
      for (const change of changes) this.#emit({ type: "file_modified", id, change });
    }
    const turn = this.#ports.store.turn(this.id);
    const files = await this.checkpoints.filesOf(turn);
    if (files.length > 0) this.#emit({ type: "turn_files", turn, files });
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
      checkpoints: this.checkpoints,
      spending: this.#spending,
      price: config.price,
      maxIterations: config.max_iterations,
      emit: (event: AgentEvent) => this.#emit(event),
      refreshRules: async () => {
        this.#rules = await this.#ports.fileRules?.() ?? this.#rules;
      },
      decide: (prepared: PreparedCall, granted: ReadonlySet<string>) => this.#decide(prepared, granted),
      allowForSession: (touches: readonly Touch[]) => {
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
  #decide({ touches, command }: PreparedCall, granted: ReadonlySet<string>): Decision {
    if (command === undefined) return decide(touches, this.#rules, this.#allowed.union(granted));
    return { verdict: "ask", rule: "command", reason: judgeCommand(command.command).reason };
  }

  #mayRead(path: ResolvedPath): Decision {
    const decision = mayRead(path, this.#rules);
    const allowed = decision.verdict === "ask" && this.#allowed.has(allowKey({ access: "read", path }));
    return allowed ? { verdict: "allow", rule: "allowed for this session" } : decision;
  }

  #emit(event: AgentEvent): void {
    if (!TRANSIENT.has(event.type)) this.#ports.store.appendEvent(this.id, event);
    this.#ports.publish(event);
  }
}
