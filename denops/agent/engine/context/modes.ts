/** What runs a model: one row for each purpose. */
import type { Effort, ListedModel } from "../../protocol/config.ts";
import { covers, MODE_FACTS, type ModeAccess, type ModeName, type OwnMode } from "../../protocol/modes.ts";
import { modeSection } from "./mode_sections.ts";
import type { ToolPart } from "../calls/old_names.ts";
import { AGENT_SECTIONS, fixed, type PromptSection } from "./sections.ts";
import { CLAIM, EDIT, INTENT, TITLES } from "./side_prompts.ts";

export interface Mode {
  /** Under this name stands what its requests have used up. */
  readonly name: string;
  /** Of those that a user or a model may choose. */
  readonly title?: string;
  readonly description?: string;
  /** Of the system prompt, from stable to volatile. */
  readonly sections: readonly PromptSection[];
  /** What is told with the first message in this mode: the system prompt is the same in all of them. */
  readonly messageSections?: readonly PromptSection[];
  /** What its calls may change, whatever is agreed to: see policy/decide_mode.ts. */
  readonly access: ModeAccess;
  /**
   * Which of the session's tools its calls may use: "all" that its access has a use for, or those of them with one of these
   * names or kinds, and without those behind a "!". They stand in the request all the same, which is in the provider's cache
   * with them. "listed": so they do, and the answer is to be text. "none": not even that.
   */
  readonly tools: "all" | "listed" | "none" | readonly string[];
  /** In mode auto the model has read the user's message as an order. */
  readonly isOrder?: true;
  /** A turn that looks around is to end in a plan. */
  readonly plans?: true;
  /** The model's name; the session's unless told. */
  readonly model?: string;
  /** What is known of that model beside the options. */
  readonly listed?: ListedModel;
  /** How much the model is to think; undefined leaves it to the provider. Of one that is chosen: as the user wants it. */
  readonly effort?: Effort;
  readonly limits: {
    /** Requests of one turn before the user is asked whether to go on; by the options unless told. */
    readonly iterations?: number;
    /** Of one request. */
    readonly milliseconds?: number;
    /** It is given up instead of tried again. */
    readonly tries?: 1;
  };
  /** Its messages are its own: the session's history is as long as it was. */
  readonly aside?: true;
}

/** One that is chosen. */
function chosen<Name extends ModeName>(
  name: Name,
  more: Partial<Pick<Mode, "tools" | "limits" | "plans">> = {},
) {
  const facts = MODE_FACTS.find((one) => one.name === name) ?? MODE_FACTS[0];
  const own = { name, sections: AGENT_SECTIONS, messageSections: [modeSection(name)] };
  return { tools: "all", limits: {}, ...facts, ...own, ...more } as const satisfies Mode;
}

/** The modes that a user or a model may choose. */
export const CHOSEN: Readonly<Record<ModeName, Mode>> = {
  agent: chosen("agent"),
  ask: chosen("ask", { limits: { iterations: 10 } }),
  plan: chosen("plan", { limits: { iterations: 10 }, plans: true }),
  explore: chosen("explore", { limits: { iterations: 10 } }),
  "deep-explore": chosen("deep-explore", { limits: { iterations: 20 } }),
  "deep-explore-write": chosen("deep-explore-write", { limits: { iterations: 20 } }),
  review: chosen("review", { limits: { iterations: 15 } }),
  orchestrator: chosen("orchestrator"),
  chat: chosen("chat", { tools: "listed" }),
  /** Each turn is run as one of the others: see agent/intent.ts. */
  auto: chosen("auto"),
};

/** A mode that a file describes: its base with words, tools or a model of its own. */
export function ownMode({ name, description, access, base, tools, model, text }: OwnMode): Mode {
  const row = CHOSEN[base];
  return {
    ...row,
    ...{ name, title: name, description },
    messageSections: [...row.messageSections ?? [], ...text === "" ? [] : [fixed("own mode", text)]],
    access: covers(row.access, access) ? access : row.access,
    ...(tools === undefined || row.tools === "listed" ? {} : { tools }),
    ...(model === undefined ? {} : { model }),
  };
}

/** What is asked aside has no tools to change anything with. */
const ASIDE = { access: "read", aside: true } as const;

export const MODES = {
  ...CHOSEN,
  /** What a turn has come to, where the model has said nothing. */
  summary: {
    ...{ name: "summary", sections: AGENT_SECTIONS, access: "read", tools: "listed" },
    limits: { milliseconds: 20_000 },
  },
  /** What stands for the messages of a long session. */
  compaction: {
    ...ASIDE,
    ...{ name: "compaction", sections: AGENT_SECTIONS, tools: "listed" },
    limits: { milliseconds: 120_000 },
  },
  /** Not worth waiting for, nor a second request. */
  title: {
    ...ASIDE,
    ...{ name: "title", sections: [fixed("titles", TITLES)], tools: "none", effort: "none" },
    limits: { milliseconds: 10_000, tries: 1 },
  },
  /** Lines that are changed in place. */
  edit: {
    ...ASIDE,
    ...{ name: "edit", sections: [fixed("edit", EDIT)], tools: "none" },
    limits: { milliseconds: 300_000 },
  },
  /** What the user asks beside a turn. */
  btw: {
    ...ASIDE,
    ...{ name: "btw", sections: AGENT_SECTIONS, tools: "listed" },
    limits: { milliseconds: 120_000 },
  },
  /** Which mode a message needs, in mode auto. The turn waits for it, as it does for any answer. */
  intent: {
    ...ASIDE,
    ...{ name: "intent", sections: [fixed("intent", INTENT)], tools: "none", effort: "none", limits: {} },
  },
  /** Whether an answer claims a change. Not worth a second request. */
  claim: {
    ...ASIDE,
    ...{ name: "claim", sections: [fixed("claim", CLAIM)], tools: "none", effort: "none" },
    limits: { milliseconds: 30_000, tries: 1 },
  },
} as const satisfies Readonly<Record<string, Mode>>;

/** Whether a mode has what this part of a tool does. */
export function hasPart({ tools }: Pick<Mode, "tools">, { names, kind }: ToolPart): boolean {
  if (typeof tools === "string") return tools === "all";
  const isNamed = (before: string) => [...names, kind].some((name) => tools.includes(before + name));
  return (tools.every((one) => one.startsWith("!")) || isNamed("")) && !isNamed("!");
}

/**
 * What a session is asked aside stands behind the prompt of its mode, which the provider has in its cache: with another
 * effort it would not hold.
 */
export function within(row: Mode, { effort }: Mode): Mode {
  if (row.tools !== "listed" || effort === undefined) return row;
  return { ...row, effort };
}
