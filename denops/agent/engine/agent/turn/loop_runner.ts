/** The loop as the runner of a session. */
import { CHOSEN, type Mode, MODES } from "../../context/modes.ts";
import { view } from "../../context/view.ts";
import { TurnError } from "../../../shared/errors.ts";
import { bytesOf } from "../../context/estimate.ts";
import { type MessageEntry, wordsOf } from "../../log/entries.ts";
import type { UserMessage } from "../../log/events.ts";
import { askAside } from "../side/aside.ts";
import { editTurn } from "../side/edit_place.ts";
import { mergeTurn } from "../side/merge_worktree.ts";
import { rememberTurn } from "../side/remember.ts";
import { askTitle } from "../side/title.ts";
import { autoMode } from "./intent.ts";
import { runTurn } from "./loop.ts";
import { LoopModels, type LoopOptions } from "./loop_models.ts";
import { LoopPorts } from "./loop_ports.ts";
import type { Runner, RunnerPorts } from "./runner.ts";

/** Bytes of a message that every window has room for. */
const CERTAINLY_FITS = 4_000;
/** Code and prose have 3 to 5. */
const TYPICAL_BYTES_A_TOKEN = 4;

export function loopRunner(options: LoopOptions): Runner {
  const { config, tools } = options;
  const environment = { ...options.environment, sandboxed: config.sandboxed, shell: config.shell };
  const models = new LoopModels(options);
  const parts = new LoopPorts({ ...options, environment }, models);
  const modeOf = async (message: UserMessage, ports: RunnerPorts, signal: AbortSignal): Promise<Mode> => {
    const { mode, meter } = ports;
    const { model } = models.of(mode);
    // Above a cap nothing is sent; the first request asks about the cap.
    if (mode.name !== CHOSEN.auto.name || meter.spending.reached() !== undefined) return mode;
    return await autoMode(message, ports, { model, environment }, signal);
  };
  return {
    model: options.model,
    wireLog: options.wireLog,
    modelOf: (mode) => models.of(mode).model,
    get tools() {
      return models.offered;
    },
    title: (exchange, count, signal) =>
      askTitle({ model: models.of(exchange.mode ?? {}).model, environment, count }, exchange, signal),
    hasTools: (ports) => parts.hasTools(ports),
    context: (ports) => parts.context(ports),
    async assertFits(message, mode, signal) {
      const bytes = bytesOf(wordsOf(message));
      if (bytes < CERTAINLY_FITS) return;
      const { model } = models.of(mode);
      await model.prepare(signal);
      const tokens = Math.ceil(bytes / TYPICAL_BYTES_A_TOKEN);
      if (tokens > model.contextWindow) throw messageTooLarge(tokens, model.contextWindow);
    },
    async runTurn(message, ports, signal) {
      const mode = await modeOf(message, ports, signal);
      await models.of(mode).model.prepare(signal);
      return await runTurn(message, parts.of({ ...ports, mode }), signal);
    },
    instead({ remember, edit, merge }, ports, signal) {
      const turnPorts = parts.of(ports);
      if (remember !== undefined) return rememberTurn(remember, turnPorts, signal);
      if (merge !== undefined) return mergeTurn(merge, turnPorts, signal);
      const promptOf = (messages: readonly MessageEntry[]) =>
        view(messages, MODES.edit, { environment, tools: [] });
      return edit &&
        turnPorts.model.prepare(signal).then(() => editTurn(edit, { ...turnPorts, promptOf }, signal));
    },
    aside: (question, hear, ports, signal) => askAside(question, hear, parts.of(ports), signal),
    subagent: (mode) =>
      loopRunner({
        ...options,
        wireLog: undefined,
        model: models.of(mode).model,
        tools: tools.filter(({ ofUser }) => !ofUser),
      }),
    compact: (focus, ports, signal) => parts.room.make({ type: "request", focus }, parts.of(ports), signal),
  };
}

function messageTooLarge(tokens: number, window: number): TurnError {
  const [size, room] = [tokens, window].map((count) => `${Math.round(count / 1_000)}k`);
  const reason = `Cannot send the message: it has about ${size} tokens, and the model's window has ${room}.`;
  return new TurnError("window_full", reason, "Save the text as a file and mention it with @.");
}
