/** Runs the turns of a session with another agent, and keeps what the gate lets pass of its changes. */
import { messageOf, TurnError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { Clock } from "../agent/turn/meter.ts";
import { maySpend } from "../agent/turn/policies/limits.ts";
import type { RunnerPorts, TurnEnd } from "../agent/turn/runner.ts";
import { Permissions } from "../agent/permission/permission.ts";
import { settleEffects } from "../agent/permission/effects.ts";
import type { ResultEntry } from "../log/entries.ts";
import type { Diff, FileChange, StopReason, UserMessage } from "../log/events.ts";
import { lineDiff } from "../log/line_diff.ts";
import type { Questions } from "../ports/approvals.ts";
import { CHANGED_MEANWHILE, type Effects, type Keeper, type Kept } from "../ports/commands.ts";
import type {
  AgentLoginResult,
  AgentOptionChange,
  AgentOptionsResult,
  ForeignPort,
} from "../ports/foreign.ts";
import { type AgentConfig, OtherAgent, type PromptEnd } from "./other_agent.ts";
import { FormAnswers } from "./forms.ts";
import { PermissionAnswers } from "./permission.ts";
import { commandIn, earlierText, notesIn, promptBlocks, unsavedTexts } from "./prompt.ts";
import { AgentSettings } from "./settings.ts";
import { ForeignTurn } from "./turn.ts";
import { turnCost } from "./turn_usage.ts";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  max_tokens: "max_tokens",
  max_turn_requests: "max_iterations",
  refusal: "refused",
};

/** Files, and characters of their texts, whose changes are shown with the call. */
const MOST_DIFFS = 20;
const LONGEST_DIFFS = 400_000;
/** Further attempts at files that the user saves at the same time. */
const MOST_MERGES = 3;

export interface ForeignOptions {
  readonly config: AgentConfig;
  readonly port: ForeignPort;
  /** Undefined: the client cannot ask. */
  readonly questions: Questions | undefined;
}

/** The changes of an ended turn, and lines for the user. */
interface TurnChanges {
  readonly effects?: Effects;
  readonly notes: readonly string[];
}

interface CountedTurn {
  readonly turn: ForeignTurn;
  readonly end: PromptEnd;
  readonly clock: Clock;
}

interface StoppedTurn extends TurnChanges {
  readonly agent: OtherAgent;
}

export class ForeignWork {
  readonly #options: ForeignOptions;
  readonly #settings: AgentSettings;
  #agent: OtherAgent | undefined;
  /** Runs without a session, for its logins. */
  #waiting: OtherAgent | undefined;
  /** A login that the user may still be at. */
  #login: AbortController | undefined;
  #isInTurn = false;
  #order: Promise<unknown> = Promise.resolve();
  /** Notices about its mode and model. */
  readonly #warnings = new Set<string>();
  /** A stopped turn, whose changes the next one asks about. */
  #stopped: StoppedTurn | undefined;
  /** Texts about changes that the agent takes for kept. */
  #untold: string[] = [];

  constructor(options: ForeignOptions) {
    this.#options = options;
    this.#settings = new AgentSettings(options.config);
  }

  get title(): string | undefined {
    return this.#agent?.title;
  }

  close(): void {
    for (const agent of [this.#agent, this.#waiting, this.#stopped?.agent]) {
      agent?.close("the session was closed");
    }
  }

  async runTurn(message: UserMessage, ports: RunnerPorts, signal: AbortSignal): Promise<TurnEnd> {
    this.#isInTurn = true;
    try {
      if (!await maySpend(ports, ports.meter.spending, signal)) {
        return { type: "stopped", reason: signal.aborted ? "cancelled" : "end_turn" };
      }
      await this.#settleStopped(ports, signal);
      const agent = await this.#ready(ports, signal);
      if (agent === undefined) return { type: "stopped", reason: "cancelled" };
      return await this.#run(agent, message, ports, signal);
    } catch (error) {
      if (signal.aborted) return { type: "stopped", reason: "cancelled" };
      if (error instanceof TurnError) return { type: "failed", error };
      return { type: "failed", error: new TurnError("setup", messageOf(error)) };
    } finally {
      this.#isInTurn = false;
    }
  }

  /** The running agent in the right mode; undefined: the user has stopped the turn. */
  async #ready(ports: RunnerPorts, signal: AbortSignal): Promise<OtherAgent | undefined> {
    const stopped = new Promise<undefined>((resolve) => {
      if (signal.aborted) resolve(undefined);
      else signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    const ready = this.#inOrder(async () => {
      const agent = signal.aborted ? undefined : await this.#running(ports, signal);
      if (agent === undefined) return undefined;
      for (const text of await this.#settings.apply(agent, ports, signal)) this.#warn(text, ports.emit);
      return agent;
    });
    // A menu that comes before may wait for an agent that does not answer.
    return await Promise.race([ready, stopped]);
  }

  /** The options of the agent, which is started if necessary. @param change is made first, for the session @throws {TurnError} */
  async options(
    change: AgentOptionChange | undefined,
    ports: RunnerPorts,
    signal: AbortSignal,
  ): Promise<AgentOptionsResult | undefined> {
    return await this.#inOrder(async () => {
      const agent = await this.#running(ports, signal);
      return agent && await this.#settings.options(agent, change, ports, signal);
    }).catch(fail);
  }

  /** A turn and menus may want the agent at the same time. None waits for the user's login, which is stopped. */
  async #inOrder<Value>(act: () => Promise<Value>, login?: AbortController): Promise<Value> {
    this.#login?.abort();
    this.#login = login;
    const done = this.#order.then(act);
    this.#order = done.catch(() => {});
    return await done;
  }

  async #running(ports: RunnerPorts, signal: AbortSignal): Promise<OtherAgent | undefined> {
    if (this.#agent?.hasEnded === false) return this.#agent;
    this.#agent = undefined;
    this.#agent = await this.#start(ports, signal);
    if (this.#agent !== undefined) await this.#settings.repeat(this.#agent, ports, signal);
    return this.#agent;
  }

  /** The program that waits for a login, or a new one. Undefined: the user has stopped the turn. */
  async #reach(signal: AbortSignal): Promise<OtherAgent | undefined> {
    if (this.#waiting?.hasEnded === false) return this.#waiting;
    const { config, port } = this.#options;
    const pipe = await port.open(signal);
    if (pipe === undefined) return undefined;
    const agent = new OtherAgent(config, pipe);
    await agent.initialize(signal).catch((error) => {
      agent.close("it did not start");
      throw error;
    });
    return agent;
  }

  /** The agent's logins. @param id of the one that is run first; see the request `agent_login` @throws {TurnError} */
  async login(id: string | undefined, signal: AbortSignal): Promise<AgentLoginResult> {
    const login = new AbortController();
    const either = AbortSignal.any([signal, login.signal]);
    return await this.#inOrder(async () => {
      const agent = this.#agent?.hasEnded === false ? this.#agent : this.#waiting = await this.#reach(either);
      if (agent === undefined) return { methods: [] };
      const method = agent.logins.find((one) => one.id === id);
      if (method?.type === "agent") await agent.authenticate(method.id, either);
      else if (id !== undefined) this.#restart();
      return { methods: [...agent.logins] };
    }, login).catch((error) => {
      if (!login.signal.aborted) fail(error);
      throw new TurnError("setup", `The login at ${this.#options.config.title} was stopped.`);
    });
  }

  /** An agent may have read its login when it started. Changes that wait for the user need its overlay. */
  #restart(): void {
    if (this.#isInTurn || this.#stopped !== undefined) return;
    for (const agent of [this.#agent, this.#waiting]) agent?.close("the user has logged in");
  }

  /** Once, as long as nothing else is to be said. */
  #warn(text: string, emit: RunnerPorts["emit"]): void {
    if (!this.#warnings.has(text)) emit({ type: "notice", severity: "warning", text });
    this.#warnings.add(text);
  }

  async #start(
    { workspace, agentSessions }: RunnerPorts,
    signal: AbortSignal,
  ): Promise<OtherAgent | undefined> {
    const { config } = this.#options;
    const agent = await this.#reach(signal);
    this.#waiting = undefined;
    if (agent === undefined) return undefined;
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

  async #run(
    agent: OtherAgent,
    message: UserMessage,
    ports: RunnerPorts,
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const { config, questions } = this.#options;
    const blocks = await this.#blocks(agent, message, ports, signal);
    await agent.pipe.begin(signal);
    // Its questions are withdrawn when it ends.
    const over = new AbortController();
    const during = AbortSignal.any([signal, over.signal]);
    const turn = new ForeignTurn(config, ports, during);
    const { commands } = agent;
    if (commands.length > 0) turn.hear({ type: "commands", commands });
    const permissions = new PermissionAnswers({ turn, ports, questions, signal: during });
    const forms = new FormAnswers({ turn, questions, config, signal: during });
    const clock = new Clock();
    const end = await agent.prompt(blocks, {
      hear: (update) => {
        clock.heard();
        turn.hear(update);
      },
      flush: () => turn.flush(),
      permit: (request) => permissions.answer(request),
      ask: (request) => forms.answer(request),
    }, signal);
    over.abort();
    this.#count(agent, { turn, end, clock }, ports);
    turn.end();
    const isComplete = end.type === "ended" && end.reason !== "cancelled";
    try {
      const found = await this.#changes(agent, isComplete);
      for (const text of found.notes) ports.emit({ type: "notice", severity: "warning", text });
      if (end.type === "stopped") this.#stopped = { ...found, agent };
      const results = end.type === "stopped"
        ? []
        : await this.#settle({ ...found, agent }, isComplete, ports, signal);
      // The question was stopped, not answered.
      if (signal.aborted && results.some(({ isError }) => isError)) this.#stopped = { ...found, agent };
      turn.spoken.finish(results, !isComplete);
    } finally {
      // It reads its login again when it starts.
      const needsLogin = end.type === "failed" && end.error.kind === "auth";
      if ((agent.hasEnded || needsLogin) && this.#stopped?.effects === undefined) agent.close("it has ended");
    }
    return turnEnd(end);
  }

  /** Stores what the turn has cost, and how far the agent's own session is. */
  #count(agent: OtherAgent, { turn, end, clock }: CountedTurn, ports: RunnerPorts): void {
    const { name, title } = this.#options.config;
    const { agentSessions, history, meter, mode } = ports;
    const { session } = agent;
    const earlier = agentSessions.get(name);
    const before = earlier?.session === session ? earlier?.dollars : undefined;
    const { dollars = before } = turn;
    if (session !== undefined) {
      agentSessions.set(name, { session, turn: turnOf(ports), ...defined({ dollars }) });
    }
    if (end.type === "failed" && end.error.kind === "auth") return;
    const { firstToken, duration } = clock.read();
    meter.countTurn({
      model: agent.choices.model?.current ?? title,
      tools: turn.callCounts,
      duration: Math.round(duration),
      prompt: { ready: 0, messages: history.messages.length },
      ...defined({
        usage: end.type === "ended" ? end.usage : undefined,
        cost: turnCost(turn.dollars, before),
        firstToken: firstToken === undefined ? undefined : Math.round(firstToken),
      }),
    }, mode);
  }

  /** Before its next turn, which drops them. After a stop the client shows no question. */
  async #settleStopped(ports: RunnerPorts, signal: AbortSignal): Promise<void> {
    const stopped = this.#stopped;
    if (stopped === undefined) return;
    await this.#settle(stopped, false, ports, signal);
    if (signal.aborted) return;
    this.#stopped = undefined;
    if (stopped.agent.hasEnded) stopped.agent.close("it has ended");
  }

  async #changes({ pipe }: OtherAgent, isComplete: boolean): Promise<TurnChanges> {
    const { title } = this.#options.config;
    return await pipe.end(isComplete).catch((error) => ({
      notes: [`The changes of ${title} are lost: ${messageOf(error)}.`],
    }));
  }

  /** The message, and what the agent's own session lacks of this one. */
  async #blocks(agent: OtherAgent, message: UserMessage, ports: RunnerPorts, signal: AbortSignal) {
    const known = ports.agentSessions.get(this.#options.config.name)?.turn ?? 0;
    const messages = ports.messages();
    const earlier = earlierText(messages, turnOf(ports) - known - 1);
    const command = commandIn(message);
    const isCommand = command !== undefined && agent.commands.some(({ name }) => name === command);
    const more = isCommand ? [] : [
      earlier,
      ...this.#untold.splice(0).map((text) => `Of your last changes:\n${text}`),
      ...notesIn(messages),
      ...await unsavedTexts(ports, signal),
    ];
    return promptBlocks(message, more, agent.abilities, isCommand);
  }

  /** The changes of the turn are one call: judged, kept, shown and undone like those of a command. */
  async #settle(
    { agent, effects }: StoppedTurn,
    isComplete: boolean,
    ports: RunnerPorts,
    signal: AbortSignal,
  ): Promise<readonly ResultEntry[]> {
    const { name, title } = this.#options.config;
    if (effects === undefined) return [];
    const id = ports.newCallId("");
    const call = { id, tool: name, title: `changes of ${title}`, kind: "edit", paths: [] } as const;
    const changes: FileChange[] = [];
    const emit: RunnerPorts["emit"] = (event) => {
      if (event.type === "file_modified") changes.push(event.change);
      ports.emit(event);
    };
    const keep: Keeper["keep"] = async (first, toolCall, signal) =>
      await keepAll(ports.checkpoints, first, toolCall, signal, async () => {
        const { effects } = await agent.pipe.end(isComplete);
        return effects;
      });
    const own = { ...ports, emit, roots: ports.workspace.roots, checkpoints: { keep } };
    const permissions = new Permissions(own, () => call, signal);
    permissions.start();
    const settled = await settleEffects(id, { text: "", summary: "", effects }, permissions, own, signal, {
      author: title,
      isForced: !isComplete,
    });
    const summary = settled.summary.replace(/^, /, "");
    const output = settled.text.trim();
    const status = settled.failed === true ? "failed" : "completed";
    if (!signal.aborted && /\bnot kept\b|, \d+ not$/.test(summary)) this.#untold.push(output);
    const diff = diffOf(changes);
    ports.emit({ type: "tool_done", id, status, summary, output, ...(diff === undefined ? {} : { diff }) });
    return [{ type: "tool_result", id, name: `${name}_changes`, text: output, isError: status === "failed" }];
  }
}

/** @throws {TurnError} */
function fail(error: unknown): never {
  throw error instanceof TurnError ? error : new TurnError("setup", messageOf(error));
}

/** Merges the user's saves of the meantime with the changes, and keeps both. @param again lists the changes that are still missing */
async function keepAll(
  checkpoints: Keeper,
  first: Effects,
  toolCall: string,
  signal: AbortSignal,
  again: () => Promise<Effects | undefined>,
): Promise<Kept> {
  let kept = await checkpoints.keep(first, toolCall, signal);
  for (let tries = 0; tries < MOST_MERGES && kept.left.some(isChangedMeanwhile); tries++) {
    const effects = await again();
    if (effects === undefined) break;
    const more = await checkpoints.keep(effects, toolCall, signal);
    const done = new Set([...more.files, ...more.left].map(({ path }) => path));
    kept = {
      files: [...kept.files.filter(({ path }) => !done.has(path)), ...more.files],
      left: [...kept.left.filter((one) => !isChangedMeanwhile(one)), ...more.left],
      leftMore: kept.leftMore,
      changes: [...kept.changes, ...more.changes],
    };
  }
  return kept;
}

function isChangedMeanwhile({ why }: Kept["left"][number]): boolean {
  return why === CHANGED_MEANWHILE;
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
