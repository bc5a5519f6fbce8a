/** The modes and options that another agent offers for its session. They may be hostile. Pure. */
import { z } from "../../deps/zod.ts";
import type { AgentOption } from "../../protocol/results/agent_options.ts";
import { cleanLine } from "../../policy/clean.ts";

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
export interface AgentMode {
  /** Undefined: `session/set_mode`. */
  readonly option?: string;
  readonly current: string;
  readonly values: readonly string[];
}

/** An option, and how its values are sent. */
export type SentOption = AgentOption & { readonly isSwitch: boolean };

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

/** The mode of a session, from the answer that opened it. */
export function modeIn(modes: unknown): AgentMode | undefined {
  const { data } = Modes.safeParse(modes);
  return data && { current: name(data.currentModeId), values: data.availableModes.map(({ id }) => name(id)) };
}

/** The same as an option of the session. */
export function modeOption(options: readonly AgentOption[]): AgentMode | undefined {
  const option = options.find(isMode);
  return option &&
    { option: option.id, current: option.current, values: option.values.map(({ value }) => value) };
}

export function isMode({ category, id }: Pick<AgentOption, "category" | "id">): boolean {
  return category === "mode" || id === "mode";
}

/** All options. An id or a value that is told twice counts once; one that reads as another is left out. */
export function optionsIn(options: unknown): readonly SentOption[] {
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
