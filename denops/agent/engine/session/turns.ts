/** Runs the turns of one session. */
import { narrowed } from "../../protocol/modes.ts";
import type { Shown } from "../../protocol/surroundings.ts";
import { TurnError } from "../../shared/errors.ts";
import { askRead } from "../agent/gather/ask_read.ts";
import { type GatheredMessage, gatherMessage, type PromptPart } from "../agent/gather/attachments.ts";
import type { SurroundingsGatherer } from "../agent/gather/surroundings.ts";
import type { SessionModes } from "../agent/settings/session_modes.ts";
import type { SessionTools } from "../agent/settings/session_tools.ts";
import type { Subagents } from "../agent/subagents/subagents.ts";
import { Unpriced } from "../agent/turn/budget.ts";
import type { Meter, MeteredModel } from "../agent/turn/meter.ts";
import type { Instead, RunnerPorts, TurnEnd } from "../agent/turn/runner.ts";
import type { Steering } from "../agent/turn/steering.ts";
import { type Mode, MODES } from "../context/modes.ts";
import { withoutDroppedRules } from "../context/project.ts";
import type { ControlNote } from "../log/entries.ts";
import type { SessionFiles } from "./session_files.ts";
import type { SessionPorts } from "./session_ports.ts";
import type { SessionRecord } from "./session_record.ts";
import type { Titling } from "./titling.ts";

/** Optional parts of a user's message. */
export interface TurnRequest {
  /** The git branch that a new session is stored with. */
  readonly branch?: string | undefined;
  /** Buffers and windows that Neovim shows. */
  readonly view?: Shown | undefined;
  /** A turn without the model's loop: remember, edit or merge. */
  readonly instead?: Instead | undefined;
  /** The message's id in the log. */
  readonly messageId?: string | undefined;
  /** Addresses of pages that the user attaches. */
  readonly pages?: readonly string[] | undefined;
}

interface TurnParts {
  readonly record: SessionRecord;
  readonly files: SessionFiles;
  readonly modes: SessionModes;
  readonly tools: SessionTools;
  readonly meter: Meter;
  readonly surroundings: SurroundingsGatherer | undefined;
  readonly agents: Subagents;
  readonly steering: Steering;
  readonly titling: Titling;
  /** The model of the next turn. */
  model(): MeteredModel;
}

export class Turns {
  readonly #parts: TurnParts;
  readonly #ports: SessionPorts;
  readonly #unpriced = new Unpriced();
  /** Whether a language server may answer; true until Neovim reports otherwise. */
  #hasServers = true;
  /** The user's screen when the last turn began. */
  #screen: Shown | undefined;

  constructor(parts: TurnParts, ports: SessionPorts) {
    this.#parts = parts;
    this.#ports = ports;
  }

  /** @returns also a failure to store, without which the turn could not end normally */
  async run(
    prompt: readonly PromptPart[],
    request: TurnRequest,
    mode: Mode,
    controller: AbortController,
  ): Promise<TurnEnd> {
    const { record, meter, surroundings, steering } = this.#parts;
    const { signal } = controller;
    meter.begin();
    this.#ports.runner.wireLog?.begin();
    surroundings?.ask(signal);
    this.#ports.mcp?.start();
    steering.begin((prompt) => this.#gatherMessage(prompt, mode, signal));
    try {
      return await this.#run(prompt, request, mode, signal);
    } catch (error) {
      record.markCutOff();
      controller.abort();
      if (error instanceof TurnError) return { type: "failed", error };
      throw error;
    } finally {
      steering.end(signal.aborted ? "stopped" : "ended");
    }
  }

  /** The ports of a turn in this mode. */
  ports(mode: Mode): RunnerPorts {
    const { record, files, modes, tools, meter, surroundings, agents, steering } = this.#parts;
    const { memory, history } = record;
    return {
      mode,
      workspace: files.workspace,
      state: record.state,
      meter,
      checkpoints: files.checkpoints,
      traps: files.traps,
      ask: this.#ports.ask,
      emit: (event) => record.emit(event),
      refreshRules: () => files.access.refresh(),
      decide: (access, granted, tools) => files.access.decide(access, granted, tools),
      allowForSession: (access) => files.access.allow(access),
      switches: tools,
      offered: memory.offered,
      hasServers: this.#hasServers,
      screen: this.#screen,
      agentSessions: memory.agentSessions,
      agentOptions: memory.agentOptions,
      oldModel: record.oldModel,
      messages: () => history.seen,
      history,
      project: () => withoutDroppedRules(surroundings?.project, memory),
      chosen: memory,
      scratch: files.scratch?.folder,
      rulesOf: async (paths, signal) => await surroundings?.rulesOf(paths, signal) ?? [],
      rereadRules: async () => await surroundings?.rereadRules(),
      append: (message) => record.append([message]),
      fold: (entry) => record.fold(entry),
      newCallId: record.newCallId,
      narrow: () => {
        modes.narrow();
        record.emit({ type: "mode", mode: modes.current.name });
      },
      agents,
      steering,
    };
  }

  async #run(
    prompt: readonly PromptPart[],
    { branch, view, instead, messageId, pages }: TurnRequest,
    mode: Mode,
    signal: AbortSignal,
  ): Promise<TurnEnd> {
    const { record, files, agents, surroundings, meter, titling, model } = this.#parts;
    const { runner, store, config, mcp } = this.#ports;
    const notice = await store.ensure();
    await files.scratch?.make();
    const { parts, problems, note, toolSet } = await this.#gatherMessage(prompt, mode, signal, {
      view,
      pages,
    });
    meter.attach(pages?.length ?? 0);
    record.noteMessage(messageId);
    const userMessage = record.begin(parts, model().name, branch);
    for (const text of [notice, this.#unpriced.notice(config, model()), ...problems]) {
      if (text !== undefined) record.warn(text);
    }
    this.#note("context", note);
    for (const text of await files.begin(signal)) this.#note("files", text);
    this.#note("agents", agents.news());
    this.#hasServers = view?.servers ?? this.#hasServers;
    this.#screen = view;
    this.#note("context", await surroundings?.begin(view, signal));
    if (instead === undefined) {
      await record.noteMcp(mcp, { isSmall: model().small === true, switches: this.#parts.tools }, signal);
    }
    // The description of the project has read the rules.
    for (const text of files.access.unknownRules(runner.tools, config.mcp)) record.warn(text);
    meter.spending.beginTurn();
    const done = instead && runner.instead?.(instead, this.ports(MODES.agent), signal);
    const end = await (done ?? runner.runTurn(userMessage, this.ports(narrowed(mode, toolSet)), signal));
    record.closeCalls();
    await files.changed.end(signal);
    await surroundings?.end();
    const tidied = await files.scratch?.tidy();
    if (tidied !== undefined) record.warn(tidied);
    const wantsTitle = titling.take(end);
    record.emit(
      end.type === "stopped"
        ? { type: "turn_done", reason: end.reason }
        : { type: "turn_failed", kind: end.error.kind, message: end.error.message },
    );
    if (wantsTitle) titling.ask(userMessage, record.history.messages);
    return end;
  }

  #note(reason: ControlNote["reason"], text: string | undefined): void {
    if (text !== undefined) this.#parts.record.append([{ type: "control_note", reason, text }]);
  }

  /** Reads the user's attachments under the current rules. @throws {TurnError} if the user's words do not fit */
  async #gatherMessage(
    prompt: readonly PromptPart[],
    mode: Mode,
    signal: AbortSignal,
    { view, pages = [] }: Pick<TurnRequest, "view" | "pages"> = {},
  ): Promise<GatheredMessage> {
    const { record, files, tools, modes, model } = this.#parts;
    const hasTools = this.#ports.runner.hasTools?.(this.ports(mode)) ?? true;
    const asks = askRead({ ...this.ports(modes.current), emit: this.#ports.publish }, signal);
    const message = await gatherMessage(prompt, {
      abilities: {},
      ...this.#ports.attachments,
      workspace: files.workspace.forCall(asks),
      seen: record.history.seen,
      tools,
      pages,
      hasTools,
      active: !hasTools && view?.current?.text === true ? view.current : undefined,
      window: model().contextWindow,
      refreshRules: () => files.access.refresh(),
    }, signal);
    await this.#ports.runner.assertFits?.(message, mode, signal);
    return message;
  }
}
