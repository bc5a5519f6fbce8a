/** A turn: ask the model, run its calls, until it answers without any or a limit is reached. */
import { againstMode } from "../../../policy/decide_mode.ts";
import type { EditForm, EngineConfig, ListedModel } from "../../../protocol/config.ts";
import { CHOSEN, type Mode, MODES, within } from "../../context/modes.ts";
import type { Environment } from "../../context/sections.ts";
import { outline } from "../../context/outline.ts";
import { modeText, view } from "../../context/view.ts";
import { type ControlNote, type MessageEntry, wordsOf } from "../../log/entries.ts";
import { editFormOf, familyOf, thinksNever } from "../../../models/families.ts";
import type { AgentEvent, StopReason, UserMessage } from "../../log/events.ts";
import type { Initiator, Prompt } from "../../log/messages.ts";
import type { Model } from "../../llm/model.ts";
import { briefly } from "../../context/brief.ts";
import type { ClientAbilities, Tool } from "../../tools/define.ts";
import { askAside } from "../side/aside.ts";
import { type BatchPorts, runBatch } from "./batch.ts";
import { claimsChange } from "./claims.ts";
import { controlNote } from "./control.ts";
import { Continuations } from "./cut_off.ts";
import { summarize } from "./finish.ts";
import { maySpend, mayStepOn } from "./limits.ts";
import { ImageRoom } from "../../tools/files/image_room.ts";
import { partialAnswer } from "./interrupted.ts";
import { chooseMode } from "./intent.ts";
import type { Measured } from "./meter.ts";
import { causesOf, contextPage } from "../gather/context_page.ts";
import { editTurn } from "../side/edit_place.ts";
import { Nudges } from "./nudges.ts";
import { listNow, missingTools, oldSpecs, refusalOf, toolList } from "../settings/offered.ts";
import { Prefix } from "../gather/prefix.ts";
import { mergeTurn } from "../side/merge_worktree.ts";
import { rememberTurn } from "../side/remember.ts";
import { Repeats } from "./repeats.ts";
import { Room } from "../gather/room.ts";
import type { Runner, RunnerPorts, TurnEnd } from "./runner.ts";
import { runStep } from "./step.ts";
import { TextCalls } from "./text_calls.ts";
import { askTitle } from "../side/title.ts";
import { TurnWork } from "./turn_work.ts";
import { WriteChecks } from "./write_checks.ts";

/** Errors that are named when the turn may not end yet. */
const MOST_ERRORS = 20;

export interface LoopOptions {
  readonly config: EngineConfig;
  readonly model: Model;
  /** Writes summaries in the model's place. */
  readonly summarizer?: Model | undefined;
  /** Another one of the same provider. */
  modelOf(name: string, listed?: ListedModel): Model;
  readonly tools: readonly Tool[];
  readonly environment: Environment;
  /** What the client does for tools. */
  readonly abilities: Partial<ClientAbilities>;
}

/** A model with the tools as it is told of them. */
interface Asked {
  readonly model: Model;
  readonly form: EditForm;
  readonly tools: readonly Tool[];
  /** The same in few words. */
  readonly brief: readonly Tool[];
}

function withForm(tools: readonly Tool[], form: EditForm): readonly Tool[] {
  return tools.map((tool) => tool.forms === undefined ? tool : { ...tool, spec: tool.forms.spec(form) });
}

/** The loop as the runner of one session. */
export function loopRunner(options: LoopOptions): Runner {
  const { config, model: own, summarizer, tools, abilities } = options;
  const environment = { ...options.environment, sandboxed: config.sandboxed };
  // Those that this client makes possible.
  const offered = tools.filter(({ needs }) => needs === undefined || abilities[needs] !== undefined);
  const models = new Map<string, Asked>();
  const askedOf = ({ model: name = own.name, listed }: Pick<Mode, "model" | "listed">): Asked => {
    const key = JSON.stringify([name, listed]);
    const known = models.get(key);
    if (known !== undefined) return known;
    const form = config.model_options[name]?.edit_form ?? config.edit_form ?? editFormOf(name);
    const tools = withForm(offered, form);
    const brief = tools.map((tool) => ({ ...tool, spec: briefly(tool.spec) }));
    const isOwn = name === own.name && listed === undefined;
    const asked = { model: isOwn ? own : options.modelOf(name, listed), form, tools, brief };
    models.set(key, asked);
    return asked;
  };
  const room = new Room();
  const textCalls = new TextCalls();
  const prefix = new Prefix();
  const inputs = (ports: InputPorts) => {
    const { switches, offered: lists, hasServers, oldModel, project, mode, scratch, unattended } = ports;
    const { model, form, tools: all, brief } = askedOf(mode);
    const { name, small, oneByOne } = model;
    const tools = small ? brief : all;
    const list = [familyOf(name), form, ...small ? ["small"] : []].join(" ");
    const facts = { mode, small, form, thinks: !thinksNever(name), hasServers, switches };
    const isOld = oldModel !== undefined && familyOf(oldModel) === familyOf(name);
    const sent = lists.get(list) ??
      (isOld ? oldSpecs(tools, name, facts) : toolList(tools, facts).map(({ spec }) => spec));
    return {
      list,
      environment,
      model: name,
      small,
      oneByOne,
      isSubagent: unattended === true,
      tools: listNow(sent, tools, switches),
      project: project(),
      scratch,
    };
  };
  const portsOf = (ports: RunnerPorts): TurnPorts => {
    // As they are now: a switch counts from the next turn on.
    let given = inputs(ports);
    const { model, tools: all, brief } = askedOf(ports.mode);
    const tools = (given.small ? brief : all).filter((tool) => !ports.switches.isOff(tool));
    return {
      ...ports,
      ...{ model, summarizer, tools, room, textCalls },
      inMode: (mode) => {
        const { model, effort } = ports.mode;
        const kept = {
          ...(model === undefined ? {} : { model }),
          ...(effort === undefined ? {} : { effort }),
        };
        return portsOf({ ...ports, mode: { ...mode, ...kept } });
      },
      view: (row, more = []) =>
        view([...ports.messages(), ...more], within(row, ports.mode), { ...given, project: ports.project() }),
      listed: () => given.tools.map(({ name }) => name),
      missingTools: () => missingTools(ports.mode, given.tools, tools),
      modeText: () => modeText(ports.mode, { ...given, project: ports.project() }),
      decide: (accesses, granted) =>
        againstMode(accesses, ports.mode.access) ?? ports.decide(accesses, granted),
      refusalOf: (tool, args) => refusalOf(tool, args, ports.mode, all, ports.switches),
      toldLess() {
        const before = given.small;
        given = inputs(ports);
        return given.small && !before;
      },
      sent(prompt) {
        if (prompt.tools.length > 0) ports.offered.set(given.list, given.tools);
        prefix.note(prompt, causesOf(ports, model.name), model.price);
      },
      context: {
        ...{ workspace: ports.workspace, session: ports.state, access: ports.mode.access },
        ...abilities,
        agents: ports.agents,
      },
      tried: (edit) => ports.meter.tried(edit, model),
      claimsChange: async (request, answer, signal) => {
        if (ports.meter.spending.reached() !== undefined) return false;
        const count = (measured: Measured) => ports.meter.count(measured, MODES.claim, [], { model });
        return await claimsChange(request, answer, { model, environment, count }, signal);
      },
      checks: abilities.languages === undefined
        ? undefined
        : new WriteChecks(abilities.languages, ports.workspace),
      maxIterations: ports.mode.limits.iterations ?? config.max_iterations,
    };
  };
  /** The row that a turn runs in. */
  const rowOf = async (asked: UserMessage, ports: RunnerPorts, signal: AbortSignal): Promise<Mode> => {
    const { mode, meter, emit } = ports;
    // Over a cap nothing more is sent; the question of the cap comes with the first request.
    if (mode.name !== CHOSEN.auto.name || meter.spending.reached() !== undefined) return mode;
    const { model } = askedOf(mode);
    const count = (measured: Measured) => meter.count(measured, MODES.intent, [], { model });
    const before = ports.messages().findLast((one) => one.type === "assistant_message");
    // A model that is still being loaded would answer late.
    await model.prepare(signal);
    const row = await chooseMode(asked, before?.text ?? "", { model, environment, count }, signal);
    emit({ type: "notice", severity: "info", text: `Mode auto chose ${row.name} for this message.` });
    return { ...mode, ...row, ...(mode.model === undefined ? {} : { model: mode.model }) };
  };
  return {
    model: own,
    modelOf: (mode) => askedOf(mode).model,
    tools: offered,
    title: (exchange, count, signal) =>
      askTitle({ model: askedOf(exchange.mode ?? {}).model, environment, count }, exchange, signal),
    context(ports) {
      const given = inputs(ports);
      const { mode } = ports;
      const parts = outline(view(ports.messages(), mode, given), mode, given);
      const { contextWindow: window, windowFrom } = askedOf(mode).model;
      return {
        ...contextPage(parts, ports, { window, windowFrom, tools: offered }),
        ...prefix.broken,
      };
    },
    async runTurn(prompt, ports, signal) {
      const mode = await rowOf(prompt, ports, signal);
      await askedOf(mode).model.prepare(signal);
      return await runTurn(prompt, portsOf({ ...ports, mode }), signal);
    },
    instead({ remember, edit, merge }, ports, signal) {
      const own = portsOf(ports);
      if (remember !== undefined) return rememberTurn(remember, own, signal);
      if (merge !== undefined) return mergeTurn(merge, own, signal);
      const promptOf = (messages: readonly MessageEntry[]) =>
        view(messages, MODES.edit, { environment, tools: [] });
      return edit && own.model.prepare(signal).then(() => editTurn(edit, { ...own, promptOf }, signal));
    },
    aside: (question, told, ports, signal) => askAside(question, told, portsOf(ports), signal),
    subagent: (mode) =>
      loopRunner({
        ...options,
        model: askedOf(mode).model,
        tools: tools.filter(({ ofUser }) => !ofUser),
      }),
    compact: (focus, ports, signal) => room.make({ type: "asked", focus }, portsOf(ports), signal),
  };
}

type InputPorts = Pick<
  RunnerPorts,
  "switches" | "offered" | "hasServers" | "oldModel" | "project" | "mode" | "scratch" | "unattended"
>;

interface TurnPorts extends RunnerPorts, BatchPorts {
  readonly model: Model;
  readonly summarizer: Model | undefined;
  readonly room: Room;
  readonly textCalls: TextCalls;
  readonly maxIterations: number;
  /** The same in another mode, with the model and the effort of this one. */
  inMode(mode: Mode): TurnPorts;
  /** What is sent in this mode at this moment. @param more messages that are in no log */
  view(mode: Mode, more?: readonly MessageEntry[]): Prompt;
  /** Tools that the mode names and the session's list does not have. */
  missingTools(): readonly string[];
  /** What the model is told of the mode. */
  modeText(): string;
  /** Once more, as the model is by now. @returns whether what is sent has become less */
  toldLess(): boolean;
  /** To be told of each prompt that is sent. */
  sent(prompt: Prompt): void;
  /** Asks the model whether an answer claims a change; over a cap it does not. */
  claimsChange(request: string, answer: string, signal: AbortSignal): Promise<boolean>;
}

async function runTurn(asked: UserMessage, given: TurnPorts, signal: AbortSignal): Promise<TurnEnd> {
  const work = new TurnWork();
  const emit = (event: AgentEvent) => {
    work.note(event);
    given.emit(event);
  };
  const ports: TurnPorts = { ...given, emit, acted: () => work.acted() };
  const { meter, model, tools, room, mode } = ports;
  // A call that the answer's end cut off has not failed: the model hears of that separately.
  const step = { model, tools, emit: given.emit, newCallId: ports.newCallId };
  let initiator: Initiator = asked.origin === "engine" ? "agent" : "user";
  let repeats = new Repeats();
  let refused = false;
  const continuations = new Continuations();
  let verified = false;
  const nudges = new Nudges();
  let limit = ports.maxIterations;
  for (let iteration = 1;; iteration++) {
    if (iteration > limit && ports.unattended === true) return await finished("", ports, work, signal);
    if (iteration > limit) {
      if (!await mayStepOn(ports, limit, ports.maxIterations, signal)) {
        return interrupted(ports, signal.aborted ? "cancelled" : "max_iterations");
      }
      limit += ports.maxIterations;
    }
    await ports.steering?.step(signal);
    if (iteration > 1) await ports.steering?.tell(ports, signal);
    // The last message is the user's, or a tool's: it gets an answer, as ever.
    if (!await maySpend(ports, meter.spending, signal)) {
      return interrupted(ports, signal.aborted ? "cancelled" : "end_turn");
    }
    const news = ports.agents?.news();
    if (news !== undefined) ports.append({ type: "control_note", reason: "agents", text: news });
    // What was just looked up may be folded.
    if (await room.make({ type: "full" }, ports, signal)) repeats = new Repeats();
    tellMode(ports);
    const begun = performance.now();
    const prompt = ports.view(mode);
    const build = performance.now() - begun;
    ports.sent(prompt);
    const facts = { build, ready: meter.waited, messages: prompt.messages.length };
    const count = (measured: Measured) => {
      room.learn(prompt, measured.usage?.input);
      meter.count(room.estimated(prompt, measured), mode, tools, { model, prompt: facts });
    };
    const end = await runStep({ ...step, count, initiator }, prompt, signal);
    if (end.type === "answered") initiator = "agent";
    if (end.type === "failed" && end.error.kind === "window_full") {
      if (ports.toldLess()) continue;
      const folded = !refused && await room.make({ type: "refused" }, ports, signal);
      refused = true;
      if (folded) {
        repeats = new Repeats();
        continue;
      }
    }
    if (end.type === "failed" && end.error.kind === "filtered") return refusedWith(end.text, ports);
    if (end.type !== "answered") {
      const stopped = interrupted(ports, "cancelled", end.text);
      return end.type === "failed" ? end : stopped;
    }
    if (end.finish === "refused") return refusedWith(end.message.text, ports);
    ports.append(end.message);
    const cut = continuations.next(end.finish);
    if (cut?.notice !== undefined) emit({ type: "notice", severity: "warning", text: cut.notice });
    if (cut !== undefined && cut.note === undefined) return { type: "stopped", reason: cut.end };
    if (cut?.note !== undefined) {
      ports.append(cut.note);
      if (end.finish === "window_full") await room.make({ type: "refused" }, ports, signal);
      continue;
    }
    if (end.message.calls.length === 0) {
      const fixes = verified ? undefined : await neededFixes(iteration, limit, ports, signal);
      verified = true;
      if (signal.aborted) return { type: "stopped", reason: "cancelled" };
      const nudge = fixes !== undefined ? undefined : await nudges.next({
        ...{ request: wordsOf(asked), answer: end.message.text, isComplete: end.message.complete === true },
        ...{ iteration, maxIterations: limit, mode, plan: ports.state.plan, work },
        canWrite: tools.some(({ readOnly }) => !readOnly),
        ...{ callsInText: model.textForm !== undefined, shownCall: end.shownCall },
        claimsChange: () => ports.claimsChange(wordsOf(asked), end.message.text, signal),
      });
      if (signal.aborted) return { type: "stopped", reason: "cancelled" };
      if (nudge?.notice !== undefined) emit({ type: "notice", severity: "info", text: nudge.notice });
      const note = fixes ?? nudge?.note;
      if (note === undefined) return await finished(end.message.text, ports, work, signal);
      ports.append(note);
      continue;
    }
    const { dropped } = end;
    const memory = { repeats, iteration, dropped, images: new ImageRoom(model.sees, prompt.messages) };
    const results = await runBatch(end.message.calls, ports, memory, signal);
    meter.begin();
    const { folds } = ports.history;
    for (const result of await room.fit(results, ports, signal)) ports.append(result);
    if (ports.history.folds !== folds) repeats = new Repeats();
    if (signal.aborted) return interrupted(ports, "cancelled");
    for (const rules of await ports.rulesOf(work.takeTouched(), signal)) ports.append(rules);
    const steps = model.small ? lastSteps(limit - iteration) : undefined;
    if (steps !== undefined) ports.append(steps);
    const { unreadable, isTooMany } = ports.textCalls.count(end.message);
    if (model.textForm !== undefined) {
      const form = unreadable > 0 ? model.textForm : undefined;
      ports.append(
        ports.textCalls.resultsNote({
          ...{ plan: ports.state.plan, repeated: repeats.takeRepeated(), form, isLoop: end.isLoop },
        }),
      );
    }
    if (isTooMany && mode.access !== "read") {
      emit({ type: "notice", severity: "warning", text: NARROWED });
      ports.narrow();
      return await runTurn(asked, given.inMode(CHOSEN.ask), signal);
    }
  }
}

/** Steps before the limit at which a small model hears of it. */
const FEW_STEPS = 3;

/** What a small model hears with the results, so that it ends in time. @param left requests of this turn */
function lastSteps(left: number): ControlNote | undefined {
  if (left < 1 || left > FEW_STEPS) return undefined;
  const steps = left === 1 ? "1 step is" : `${left} steps are`;
  const text =
    `[${steps} left in this turn. Finish what matters most, then say what is done and what is left.]`;
  return { type: "control_note", reason: "steps", text };
}

const NARROWED =
  "Three calls of the model could not be read: this session switches to mode ask. Choose another mode to go back: " +
  "`:Agent mode agent`.";

/** The mode is told where the model was told another one last, or none that it still sees. */
function tellMode({ mode, modeText, missingTools, messages, append, emit }: TurnPorts): void {
  const text = modeText();
  const last = messages().findLast((entry) => entry.type === "control_note" && entry.reason === "mode");
  if (last?.type === "control_note" && last.text === text) return;
  append({ type: "control_note", reason: "mode", text });
  const missing = missingTools();
  if (missing.length === 0) return;
  const names = missing.join(", ");
  emit({
    type: "notice",
    severity: "info",
    text: `Mode ${mode.name} names tools that this session does not have: ${names}. :Agent tools adds them.`,
  });
}

/** The turn is over; an answer of nothing is followed by a summary. */
async function finished(
  answer: string,
  ports: TurnPorts,
  work: TurnWork,
  signal: AbortSignal,
): Promise<TurnEnd> {
  const cut = answer.trim() === "" ? await summarize(ports, work, signal) : undefined;
  return cut === undefined
    ? { type: "stopped", reason: "end_turn" }
    : interrupted(ports, "cancelled", cut.stopped);
}

/** What was refused is not sent again: with it everything that follows would be refused too. */
function refusedWith(text: string, ports: TurnPorts): TurnEnd {
  ports.append({ type: "assistant_message", text, calls: [], reasoning: [], refused: true });
  return { type: "stopped", reason: "refused" };
}

/** Every question keeps an answer, so that roles alternate in what the model gets next. */
function interrupted(ports: TurnPorts, reason: StopReason, text = ""): TurnEnd {
  ports.append(partialAnswer(text));
  return { type: "stopped", reason };
}

/** The verification gate: what to tell the model if the turn has added errors to the files that it wrote. */
async function neededFixes(
  iteration: number,
  maxIterations: number,
  { checks, emit }: TurnPorts,
  signal: AbortSignal,
): Promise<ControlNote | undefined> {
  if (checks === undefined || iteration >= maxIterations) return undefined;
  const errors = await checks.remaining(signal).catch(() => []);
  if (errors.length === 0) return undefined;
  const added = errors.length === 1 ? "1 error" : `${errors.length} errors`;
  emit({
    type: "notice",
    severity: "info",
    text: `The edits added ${added}; the model is told to fix them.`,
  });
  const more = errors.length > MOST_ERRORS ? `\n[${errors.length - MOST_ERRORS} more]` : "";
  const note = "Your edits added errors that are still there. Fix them, or say why they are to stay:\n" +
    errors.slice(0, MOST_ERRORS).join("\n") + more;
  return controlNote({ state: "need_fixes", iteration, maxIterations, filesChanged: checks.files, note });
}
