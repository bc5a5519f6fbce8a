/** The mode, the model and the options of another agent's session. The agent may be hostile. */
import { methods } from "../../deps/acp_sdk.ts";
import * as z from "../../deps/zod.ts";
import type { AgentOption } from "../../protocol/results/agent_options.ts";
import { cleanLine } from "../../policy/clean.ts";
import { isRecord } from "../../shared/records.ts";
import type { AgentUpdate } from "./updates.ts";

const LONGEST_NAME = 200;
const LONGEST_DESCRIPTION = 300;
const MOST_MODES = 200;
const MOST_OPTIONS = 50;
/** Of one option; opencode lists hundreds of models. */
const MOST_VALUES = 1_000;
/** Entries that are looked at. */
const MOST_ENTRIES = 5_000;

/** The values of an option that is on or off. */
const SWITCH = ["on", "off"] as const;

/** How a mode is sent: as the session's mode, or as an option. */
interface AgentMode {
  /** Undefined: `session/set_mode`. */
  readonly option?: string;
  readonly current: string;
  readonly values: readonly string[];
}

/** An option, and how its values are sent. */
type SentOption = AgentOption & { readonly isSwitch: boolean };

const Modes = z.object({
  currentModeId: z.string(),
  availableModes: z.array(z.object({ id: z.string() })).max(MOST_MODES),
});

const text = z.string().nullish().catch(undefined);
const Facts = z.object({ id: z.string(), name: text, description: text, category: text });
const Select = z.object({
  type: z.literal("select"),
  currentValue: z.string(),
  options: z.array(z.unknown()),
});
const Switch = z.object({ type: z.literal("boolean"), currentValue: z.boolean() });
const Value = z.object({ value: z.string(), name: text, description: text });
const Group = z.object({ name: text, options: z.array(z.unknown()) });

/** Sends a request about the session. @throws {TurnError} */
type Send = (method: string, params: object, signal: AbortSignal) => Promise<unknown>;

/** The agent's last values. It may change them at any time. */
export class AgentChoices {
  readonly #send: Send;
  #mode: AgentMode | undefined;
  #firstMode: string | undefined;
  #all: readonly SentOption[] = [];
  #firstModel: string | undefined;

  constructor(send: Send) {
    this.#send = send;
  }

  get mode(): AgentMode | undefined {
    return this.#mode;
  }

  /** The mode that the session began in. */
  get firstMode(): string | undefined {
    return this.#firstMode;
  }

  get model(): SentOption | undefined {
    return this.options.find(({ category }) => category === "model");
  }

  /** The model that the session began with. */
  get firstModel(): string | undefined {
    return this.#firstModel;
  }

  /** Without its mode. */
  get options(): readonly SentOption[] {
    return this.#all.filter((option) => !isMode(option));
  }

  /** @param answer to the request that opened the session */
  open(answer: unknown): void {
    const { modes, configOptions } = isRecord(answer) ? answer : {};
    this.#all = [];
    const mode = this.#mode = modeIn(modes);
    this.#learnOptions(configOptions);
    this.#firstMode = mode?.current ?? this.#mode?.current;
    this.#firstModel = this.model?.current;
  }

  hear(update: Extract<AgentUpdate, { type: "mode" | "options" }>): void {
    if (update.type === "options") this.#learnOptions(update.options);
    else if (this.#mode !== undefined) this.#mode = { ...this.#mode, current: update.mode };
  }

  /** @returns whether the agent is in this mode now, as far as it says */
  async setMode(mode: string, signal: AbortSignal): Promise<boolean> {
    const choice = this.#mode;
    if (choice === undefined || !choice.values.includes(mode)) return false;
    const { current, option, values } = choice;
    if (current === mode) return true;
    if (option !== undefined) await this.#choose(option, { value: mode }, signal);
    else {
      // An update that arrives meanwhile counts: it may name another mode.
      const wanted = this.#mode = { current: mode, values };
      await this.#send(methods.agent.session.setMode, { modeId: mode }, signal).catch((error) => {
        if (this.#mode === wanted) this.#mode = choice;
        throw error;
      });
    }
    return this.#mode?.current === mode;
  }

  /** @returns whether the agent uses this model now, as far as it says */
  async setModel(model: string, signal: AbortSignal): Promise<boolean> {
    const { id } = this.model ?? {};
    return id !== undefined && await this.setOption(id, model, signal);
  }

  /** @returns whether the option has this value now, as far as the agent says */
  async setOption(id: string, value: string, signal: AbortSignal): Promise<boolean> {
    const find = () => this.options.find((option) => option.id === id);
    const option = find();
    if (option === undefined || !option.values.some((one) => one.value === value)) return false;
    if (option.current === value) return true;
    await this.#choose(id, option.isSwitch ? { type: "boolean", value: value === "on" } : { value }, signal);
    return find()?.current === value;
  }

  async #choose(configId: string, value: object, signal: AbortSignal): Promise<void> {
    const answer = await this.#send(methods.agent.session.setConfigOption, { configId, ...value }, signal);
    if (isRecord(answer)) this.#learnOptions(answer.configOptions);
  }

  /** The agent sends all of them each time. */
  #learnOptions(options: unknown): void {
    if (!Array.isArray(options)) return;
    this.#all = optionsIn(options);
    const mode = modeOption(this.#all);
    if (mode === undefined) return;
    if (this.#mode === undefined || this.#mode.option !== undefined) this.#mode = mode;
    // Some send their mode in both ways. If the two differ, it has to be set again.
    else if (this.#mode.current !== mode.current) {
      this.#mode = { ...this.#mode, current: `${this.#mode.current}, ${mode.current}` };
    }
  }
}

/** The mode of a session, from the answer that opened it. */
function modeIn(modes: unknown): AgentMode | undefined {
  const { data } = Modes.safeParse(modes);
  return data && { current: name(data.currentModeId), values: data.availableModes.map(({ id }) => name(id)) };
}

/** The same as an option of the session. */
function modeOption(options: readonly AgentOption[]): AgentMode | undefined {
  const option = options.find(isMode);
  return option &&
    { option: option.id, current: option.current, values: option.values.map(({ value }) => value) };
}

function isMode({ category, id }: Pick<AgentOption, "category" | "id">): boolean {
  return category === "mode" || id === "mode";
}

/** Of equal ids and values the first counts. Those that would look different on screen are left out. */
function optionsIn(options: unknown): readonly SentOption[] {
  const all = (Array.isArray(options) ? options : []).slice(0, MOST_ENTRIES).flatMap(optionOf);
  return firsts(all, ({ id }) => id).slice(0, MOST_OPTIONS);
}

function optionOf(entry: unknown): readonly SentOption[] {
  const { data: facts } = Facts.safeParse(entry);
  if (facts === undefined || !isClean(facts.id)) return [];
  const { data: select } = Select.safeParse(entry);
  const { data: toggle } = Switch.safeParse(entry);
  const known = {
    id: facts.id,
    name: nameOf(facts.name, facts.id),
    ...described(facts.description),
    category: name(facts.category ?? "other"),
  };
  if (toggle !== undefined) {
    const current = SWITCH[toggle.currentValue ? 0 : 1];
    return [{ ...known, current, values: SWITCH.map((value) => ({ value, name: value })), isSwitch: true }];
  }
  if (select === undefined) return [];
  const values = firsts(select.options.slice(0, MOST_ENTRIES).flatMap(valuesOf), ({ value }) => value);
  return [{
    ...known,
    current: name(select.currentValue),
    values: values.slice(0, MOST_VALUES),
    isSwitch: false,
  }];
}

/** Plain, or in groups. */
function valuesOf(entry: unknown): AgentOption["values"] {
  const { data: group } = Group.safeParse(entry);
  if (group !== undefined) return group.options.slice(0, MOST_ENTRIES).flatMap(valueOf);
  return valueOf(entry);
}

function valueOf(entry: unknown): AgentOption["values"] {
  const { data } = Value.safeParse(entry);
  if (data === undefined || !isClean(data.value)) return [];
  return [{ value: data.value, name: nameOf(data.name, data.value), ...described(data.description) }];
}

/** It is sent back as it is. */
function isClean(id: string): boolean {
  return id !== "" && name(id) === id;
}

function nameOf(text: string | null | undefined, id: string): string {
  return name(text ?? "") || id;
}

function described(text: string | null | undefined): { readonly description?: string } {
  const description = cleanLine(text ?? "", LONGEST_DESCRIPTION);
  return description === "" ? {} : { description };
}

function firsts<Item>(items: readonly Item[], key: (item: Item) => string): readonly Item[] {
  const known = new Map<string, Item>();
  for (const item of items) if (!known.has(key(item))) known.set(key(item), item);
  return [...known.values()];
}

function name(text: string): string {
  return cleanLine(text, LONGEST_NAME);
}
