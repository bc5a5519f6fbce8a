/** One row for each purpose of a request: prompt, tools and limits. */
import type { ListedModel } from "../../protocol/config.ts";
import type { Effort } from "../../protocol/options/efforts.ts";
import {
  covers,
  MODE_FACTS,
  type ModeFacts,
  type ModeName,
  type OwnMode,
  type TurnLimits,
} from "../../protocol/modes.ts";
import { modeSection } from "./mode_sections.ts";
import type { ToolPart } from "../calls/old_names.ts";
import { AGENT_SECTIONS, fixed, type PromptSection } from "./sections.ts";
import { CLAIM, EDIT, INTENT, TITLES } from "./side_prompts.ts";

/** Its limits hold whatever is approved: see policy/decide_mode.ts. */
export interface Mode extends TurnLimits {
  /** The name in the usage log. */
  readonly name: string;
  /** For modes that a user or a model may choose. */
  readonly title?: string;
  readonly description?: string;
  /** The system prompt, from stable to volatile. */
  readonly sections: readonly PromptSection[];
  /** Sections that accompany the first message in this mode, because all modes share the system prompt. */
  readonly messageSections?: readonly PromptSection[];
  /**
   * Tools that its calls may use: "all" that its access permits, or those of them with these names or kinds, without
   * those after a "!". The request lists all tools in any case, because of the provider's cache. "listed": tools are
   * listed, but the answer must be text. "none": no tools are listed.
   */
  readonly tools: "all" | "listed" | "none" | readonly string[];
  /** In mode auto, the model classified the message as a task. */
  readonly isOrder?: true;
  /** A read-only turn ends with a plan. */
  readonly plans?: true;
  /** The model's name; default: the session's. */
  readonly model?: string;
  /** Facts about that model beside the options. */
  readonly listed?: ListedModel;
  /** The thinking effort; undefined: the provider's default. Chosen modes use the user's setting. */
  readonly effort?: Effort;
  readonly limits: {
    /** Requests of a turn before the user is asked; default: by the options. */
    readonly iterations?: number;
    /** Limit for one request. */
    readonly milliseconds?: number;
    /** It is not retried. */
    readonly tries?: 1;
  };
  /** Its messages stay out of the session's history. */
  readonly aside?: true;
}

/** A mode that may be chosen. */
function chosen<Name extends ModeName>(
  name: Name,
  more: Partial<Pick<Mode, "limits" | "plans">> = {},
) {
  const facts: ModeFacts = MODE_FACTS.find((one) => one.name === name) ?? MODE_FACTS[0];
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
  chat: chosen("chat", { limits: { iterations: 10 } }),
  /** Each turn runs in another mode: see agent/intent.ts. */
  auto: chosen("auto"),
};

/** For the model, in a mode without tools. */
const NO_TOOLS = fixed(
  "no tools",
  "This mode has no tools: answer from what you were given. If a question needs a look at a file, name the file.",
);

/** A mode from a file: its base with its own text, tools or model. */
export function ownMode({ name, description, access, base, tools, model, text }: OwnMode): Mode {
  const row = CHOSEN[base];
  return {
    ...row,
    ...{ name, title: name, description },
    messageSections: [
      ...row.messageSections ?? [],
      ...tools?.length === 0 ? [NO_TOOLS] : [],
      ...text === "" ? [] : [fixed("own mode", text)],
    ],
    access: covers(row.access, access) ? access : row.access,
    ...(tools === undefined ? {} : { tools: tools.length === 0 ? "listed" : tools }),
    ...(model === undefined ? {} : { model }),
  };
}

/** Side requests cannot change anything. */
const ASIDE = { access: "read", aside: true } as const;

export const MODES = {
  ...CHOSEN,
  /** Summarizes a turn whose last answer was empty. */
  summary: {
    ...{ name: "summary", sections: AGENT_SECTIONS, access: "read", tools: "listed" },
    limits: { milliseconds: 20_000 },
  },
  /** Summarizes older messages of a long session. */
  compaction: {
    ...ASIDE,
    ...{ name: "compaction", sections: AGENT_SECTIONS, tools: "listed" },
    limits: { milliseconds: 120_000 },
  },
  /** Not worth waiting for, nor retrying. */
  title: {
    ...ASIDE,
    ...{ name: "title", sections: [fixed("titles", TITLES)], tools: "none", effort: "none" },
    limits: { milliseconds: 10_000, tries: 1 },
  },
  /** Edits lines in place. */
  edit: {
    ...ASIDE,
    ...{ name: "edit", sections: [fixed("edit", EDIT)], tools: "none" },
    limits: { milliseconds: 300_000 },
  },
  /** A question beside a turn. */
  btw: {
    ...ASIDE,
    ...{ name: "btw", sections: AGENT_SECTIONS, tools: "listed" },
    limits: { milliseconds: 120_000 },
  },
  /** Chooses the mode of a message in mode auto. The turn waits for it like for any answer. */
  intent: {
    ...ASIDE,
    ...{ name: "intent", sections: [fixed("intent", INTENT)], tools: "none", effort: "none", limits: {} },
  },
  /** Whether an answer claims a change. Not worth retrying. */
  claim: {
    ...ASIDE,
    ...{ name: "claim", sections: [fixed("claim", CLAIM)], tools: "none", effort: "none" },
    limits: { milliseconds: 30_000, tries: 1 },
  },
} as const satisfies Readonly<Record<string, Mode>>;

/** Whether a mode includes this part of a tool. */
export function hasPart({ tools }: Pick<Mode, "tools">, { names, kind }: ToolPart): boolean {
  if (typeof tools === "string") return tools === "all";
  const isNamed = (before: string) => [...names, kind].some((name) => tools.includes(before + name));
  return (tools.every((one) => one.startsWith("!")) || isNamed("")) && !isNamed("!");
}

/** A side request extends the session's prompt, which is cached for one effort only. */
export function within(row: Mode, { effort }: Mode): Mode {
  if (row.tools !== "listed" || effort === undefined) return row;
  return { ...row, effort };
}
