/** The modes and options that another agent offers for its session. Pure. */
import { z } from "../../deps/zod.ts";
import { cleanLine } from "../mcp/clean.ts";

const LONGEST_NAME = 200;
const MOST = 200;

/** How a choice is sent: as the session's mode, or as an option. */
export interface AgentChoice {
  /** Undefined: `session/set_mode`. */
  readonly option?: string;
  readonly current: string;
  readonly values: readonly string[];
}

const Modes = z.object({
  currentModeId: z.string(),
  availableModes: z.array(z.object({ id: z.string() })).max(MOST),
});

const Values = z.array(z.object({ value: z.string() })).max(MOST);
const Option = z.object({
  id: z.string(),
  category: z.string().nullish(),
  type: z.literal("select"),
  currentValue: z.string(),
  /** Plain, or in groups. */
  options: z.union([Values, z.array(z.object({ options: Values })).max(MOST)]),
});

/** The mode of a session, from the answer that opened it. */
export function modeIn(modes: unknown, options: unknown): AgentChoice | undefined {
  const { data } = Modes.safeParse(modes);
  if (data === undefined) return optionIn(options, "mode");
  return { current: name(data.currentModeId), values: data.availableModes.map(({ id }) => name(id)) };
}

/** @param category "mode", "model" */
export function optionIn(options: unknown, category: string): AgentChoice | undefined {
  const all = Array.isArray(options) ? options.slice(0, MOST) : [];
  for (const one of all) {
    const { data } = Option.safeParse(one);
    if (data?.category !== category) continue;
    const values = data.options.flatMap((entry) => "value" in entry ? [entry] : entry.options);
    return {
      option: data.id,
      current: name(data.currentValue),
      values: values.map(({ value }) => name(value)),
    };
  }
  return undefined;
}

function name(text: string): string {
  return cleanLine(text, LONGEST_NAME);
}
