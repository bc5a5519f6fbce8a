/** Runs the turns of a session with another agent, and keeps what the gate lets pass of its changes. */
import { messageOf, TurnError } from "../../shared/errors.ts";
import type { RunnerPorts, TurnEnd } from "../agent/turn/runner.ts";
import { Permissions } from "../agent/permission/permission.ts";
import { settleEffects } from "../agent/permission/effects.ts";
import type { ResultEntry } from "../log/entries.ts";
import type { Diff, FileChange, StopReason, UserMessage } from "../log/events.ts";
import { lineDiff } from "../log/line_diff.ts";
import type { Questions } from "../ports/approvals.ts";
import type { ForeignPort } from "../ports/foreign.ts";
import { type AgentConfig, OtherAgent, type PromptEnd } from "./other_agent.ts";
import { PermissionAnswers } from "./permission.ts";
import { commandIn, earlierText, notesIn, promptBlocks, unsavedTexts } from "./prompt.ts";
import { ForeignTurn } from "./turn.ts";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  max_tokens: "max_tokens",
  max_turn_requests: "max_iterations",
  refusal: "refused",
};

/** Files, and characters of their texts, whose changes are shown with the call. */
const MOST_DIFFS = 20;
const LONGEST_DIFFS = 400_000;

export interface ForeignOptions {
  readonly config: AgentConfig;
  readonly port: ForeignPort;
  /** Undefined: the client cannot ask. */
  readonly questions: Questions | undefined;
}

export class ForeignWork {
  readonly #options: ForeignOptions;
  readonly #closing = new AbortController();
  #agent: OtherAgent | undefined;
  /** The last notice about its mode. */
  #warned: string | undefined;

  constructor(options: ForeignOptions) {
    this.#options = options;
  }

  get title(): string | undefined {
    return this.#agent?.title;
  }

  close(): void {
    this.#closing.abort();
    this.#agent?.close("the session was closed");
  }

  async runTurn(message: UserMessage, ports: RunnerPorts, signal: AbortSignal): Promise<TurnEnd> {
    try {
      const agent = await this.#ready(ports, signal);
      if (agent === undefined) return { type: "stopped", reason: "cancelled" };
      return await this.#run(agent, message, ports, signal);
    } catch (error) {
      if (signal.aborted) return { type: "stopped", reason: "cancelled" };
      if (error instanceof TurnError) return { type: "failed", error };
      return { type: "failed", error: new TurnError("setup", messageOf(error)) };
    }
  }

  /** The running agent in the right mode; undefined: the user has stopped the turn. */
  async #ready(ports: RunnerPorts, signal: AbortSignal): Promise<OtherAgent | undefined> {
    if (this.#agent?.hasEnded !== false) {
      this.#agent = undefined;
      this.#agent = await this.#start(ports, signal);
    }
    const agent = this.#agent;
    if (agent === undefined) return undefined;
    await this.#setMode(agent, ports, signal);
    const { model } = ports.mode;
    if (model !== undefined) await agent.setModel(model, signal);
    return agent;
  }

  async #start(
    { workspace, agentSessions }: RunnerPorts,
    signal: AbortSignal,
  ): Promise<OtherAgent | undefined> {
    const { config, port } = this.#options;
    const pipe = await port.open(signal);
    if (pipe === undefined) return undefined;
    const agent = new OtherAgent(config, pipe);
    try {
      const earlier = agentSessions.get(config.name);
      const isKnown = await agent.open({ roots: workspace.roots, earlier: earlier?.session }, signal);
      if (!isKnown) agentSessions.delete(config.name);
      return agent;
    } catch (error) {
      agent.close("it did not start");
      throw error;
    }
  }

  /** Some agents begin in a mode in which a model of theirs approves. The sandbox holds them all the same. */
  async #setMode(agent: OtherAgent, { mode, emit }: RunnerPorts, signal: AbortSignal): Promise<void> {
    const { title, asking_mode } = this.#options.config;
    const plans = mode.plans === true && agent.mode?.values.includes("plan") === true;
    const wanted = plans ? "plan" : asking_mode;
    if (wanted === undefined) return;
    const isSet = await agent.setMode(wanted, signal).catch((error) => {
      if (agent.hasEnded || signal.aborted) throw error;
      return false;
    });
    if (isSet) return;
    const now = agent.mode === undefined ? "" : ` It is in its mode "${agent.mode.current}".`;
    const text = `${title} does not ask before it acts: it has no mode "${wanted}".${now} ` +
      "Its sandbox holds it, and nothing is kept that your rules do not let pass.";
    if (text !== this.#warned) emit({ type: "notice", severity: "warning", text });
    this.#warned = text;
  }

  async #run(
    agent: OtherAgent,
    message: UserMessage,
    ports: RunnerPorts,
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const { config, questions } = this.#options;
    const blocks = await this.#blocks(agent, message, ports, signal);
    await agent.pipe.begin(signal);
    const turn = new ForeignTurn(config, ports, signal);
    const permissions = new PermissionAnswers({ turn, ports, questions, signal });
    const end = await agent.prompt(blocks, {
      hear: (update) => turn.hear(update),
      flush: () => turn.flush(),
      permit: (request) => permissions.answer(request),
    }, signal);
    if (agent.session !== undefined) {
      ports.agentSessions.set(config.name, { session: agent.session, turn: turnOf(ports) });
    }
    try {
      // The answer stays open while the user decides what is kept.
      turn.end();
      const isComplete = end.type === "ended" && end.reason !== "cancelled";
      const results = await this.#settle(agent, ports, isComplete, end, signal);
      turn.spoken.finish(results, !isComplete);
    } finally {
      if (agent.hasEnded) agent.close("it has ended");
    }
    return turnEnd(end);
  }

  /** The message, and what the agent's own session lacks of this one. */
  async #blocks(agent: OtherAgent, message: UserMessage, ports: RunnerPorts, signal: AbortSignal) {
    const known = ports.agentSessions.get(this.#options.config.name)?.turn ?? 0;
    const messages = ports.messages();
    const earlier = earlierText(messages, turnOf(ports) - known - 1);
    const command = commandIn(message);
    const isCommand = command !== undefined && agent.commands.some(({ name }) => name === command);
    const more = isCommand ? [] : [earlier, ...notesIn(messages), ...await unsavedTexts(ports, signal)];
    return promptBlocks(message, more, agent.abilities, isCommand);
  }

  /** The changes of the turn are one call: judged, kept, shown and undone like those of a command. */
  async #settle(
    agent: OtherAgent,
    ports: RunnerPorts,
    isComplete: boolean,
    end: PromptEnd,
    turnSignal: AbortSignal,
  ): Promise<readonly ResultEntry[]> {
    const { name, title } = this.#options.config;
    const { effects, notes } = await agent.pipe.end(isComplete);
    for (const text of notes) ports.emit({ type: "notice", severity: "warning", text });
    if (effects === undefined) return [];
    // A stopped turn still asks about what was done until then.
    const signal = end.type === "stopped" ? this.#closing.signal : turnSignal;
    const id = ports.newCallId("");
    const call = { id, tool: name, title: `changes of ${title}`, kind: "edit", paths: [] } as const;
    const changes: FileChange[] = [];
    const emit: RunnerPorts["emit"] = (event) => {
      if (event.type === "file_modified") changes.push(event.change);
      ports.emit(event);
    };
    const own = { ...ports, emit, roots: ports.workspace.roots };
    const permissions = new Permissions(own, () => call, signal);
    permissions.start();
    const settled = await settleEffects(id, { text: "", summary: "", effects }, permissions, own, signal, {
      author: title,
      isForced: !isComplete,
    });
    const summary = settled.summary.replace(/^, /, "");
    const output = settled.text.trim();
    const status = settled.failed === true ? "failed" : "completed";
    const diff = diffOf(changes);
    ports.emit({ type: "tool_done", id, status, summary, output, ...(diff === undefined ? {} : { diff }) });
    return [{ type: "tool_result", id, name: `${name}_changes`, text: output, isError: status === "failed" }];
  }
}

function turnOf({ history }: RunnerPorts): number {
  return history.placeOf(history.messages.length - 1).turn;
}

function turnEnd(end: PromptEnd): TurnEnd {
  if (end.type === "failed") return end;
  if (end.type === "stopped" || end.reason === "cancelled") return { type: "stopped", reason: "cancelled" };
  return { type: "stopped", reason: STOP_REASONS[end.reason] ?? "end_turn" };
}

function diffOf(changes: readonly FileChange[]): Diff | undefined {
  let room = LONGEST_DIFFS;
  const diffs = changes.flatMap(({ path, before, after, kind }) => {
    if (after === undefined && (before === undefined || kind !== "deleted")) return [];
    room -= (before?.length ?? 0) + (after?.length ?? 0);
    return room < 0 ? [] : [lineDiff(path, before, after ?? "")];
  }).slice(0, MOST_DIFFS);
  const [first, ...others] = diffs;
  return first === undefined ? undefined : { ...first, ...(others.length === 0 ? {} : { others }) };
}
