/** What runs a model: one row for each purpose. */
import { AGENT_SECTIONS, fixed, type Section, TITLES } from "./sections.ts";

export interface Mode {
  /** Under this name stands what its requests have used up. */
  readonly name: string;
  /** Of the system prompt, from stable to volatile. */
  readonly sections: readonly Section[];
  /**
   * "listed": they stand in the request, as the beginning of the history is in the provider's cache with them, but
   * the answer is to be text.
   */
  readonly tools: "all" | "listed" | "none";
  /** "none": no reasoning, even where the model can. */
  readonly effort?: "none";
  /** Of one request. */
  readonly limits: {
    readonly milliseconds?: number;
    /** It is given up instead of tried again. */
    readonly tries?: 1;
  };
  /** Its messages are its own: the session's history is as long as it was. */
  readonly aside?: true;
}

export const MODES = {
  agent: { name: "agent", sections: AGENT_SECTIONS, tools: "all", limits: {} },
  /** What a turn has come to, where the model has said nothing. */
  summary: { name: "summary", sections: AGENT_SECTIONS, tools: "listed", limits: { milliseconds: 20_000 } },
  /** What stands for the messages of a long session. */
  compaction: {
    name: "compaction",
    sections: AGENT_SECTIONS,
    tools: "listed",
    limits: { milliseconds: 120_000 },
    aside: true,
  },
  /** Not worth waiting for, nor a second request. */
  title: {
    name: "title",
    sections: [fixed("titles", TITLES)],
    tools: "none",
    effort: "none",
    limits: { milliseconds: 10_000, tries: 1 },
    aside: true,
  },
} as const satisfies Readonly<Record<string, Mode>>;
