/** Modes that a user or a model may choose, for both sides. See engine/context/modes.ts for how they run. */
import * as z from "../deps/zod.ts";

/** The access of a mode, in ascending order: nothing, documentation (policy/decide_mode.ts), anything. */
export const MODE_ACCESSES = ["read", "docs", "write"] as const;
export type ModeAccess = (typeof MODE_ACCESSES)[number];

/**
 * Sets of tools that a mode, or a word of a message ("#look"), limits a turn to, the narrowest first: the most that the
 * calls may change, kinds of tools, and what they do. None contains commands, sub-agents or external tools.
 */
export const TOOL_SETS = {
  look: {
    access: "read",
    tools: ["read", "search", "think"],
    does: "only reads and searches files",
  },
  edits: {
    access: "write",
    tools: ["read", "search", "think", "edit", "delete", "move"],
    does: "only reads, searches and edits files",
  },
} as const satisfies Readonly<
  Record<string, { readonly access: ModeAccess; readonly tools: readonly string[]; readonly does: string }>
>;
export type ToolSet = keyof typeof TOOL_SETS;

const SET_NAMES = Object.keys(TOOL_SETS) as readonly ToolSet[];

/** The limits of a turn, whatever is approved. */
export interface TurnLimits {
  readonly access: ModeAccess;
  readonly toolSet?: ToolSet | undefined;
}

/** The narrowest of the sets with these names. */
export function toolSetIn(names: ReadonlySet<string | undefined>): ToolSet | undefined {
  return SET_NAMES.find((name) => names.has(name));
}

/** The limits within this set, if it is one, and within their own. */
export function narrowed<Limits extends TurnLimits>(limits: Limits, set?: ToolSet): Limits {
  const toolSet = toolSetIn(new Set([set, limits.toolSet]));
  if (toolSet === undefined) return limits;
  const { access } = TOOL_SETS[toolSet];
  return { ...limits, toolSet, access: covers(limits.access, access) ? access : limits.access };
}

export interface ModeFacts {
  readonly name: string;
  /** One or two words. */
  readonly title: string;
  /** One line, for menus and for models that choose a mode. */
  readonly description: string;
  readonly access: ModeAccess;
  readonly toolSet?: ToolSet;
}

export const MODE_FACTS = [
  { name: "agent", title: "Agent", description: "does what is asked, with all tools", access: "write" },
  {
    name: "ask",
    title: "Ask",
    description: "answers questions about the code; changes nothing",
    access: "read",
  },
  { name: "plan", title: "Plan", description: "plans a change; changes nothing", access: "read" },
  {
    name: "explore",
    title: "Explore",
    description: "quickly finds where and how something is done",
    access: "read",
  },
  {
    name: "deep-explore",
    title: "Deep explore",
    description: "explains how a large part of the code works; changes nothing",
    access: "read",
  },
  {
    name: "deep-explore-write",
    title: "Deep explore, docs",
    description: "like deep-explore, and writes docs/ and Markdown files",
    access: "docs",
  },
  {
    name: "review",
    title: "Review",
    description: "reviews changes for mistakes and risks; findings go to the quickfix list",
    access: "read",
  },
  {
    name: "orchestrator",
    title: "Orchestrator",
    description: "plans, delegates to sub-agents, writes and verifies: for large tasks",
    access: "write",
  },
  {
    name: "chat",
    title: "Chat",
    description: "talks, and reads files where the answer needs them; runs nothing",
    access: "read",
    toolSet: "look",
  },
  {
    name: "auto",
    title: "Auto",
    description: "chooses agent, ask or deep-explore for each message",
    access: "write",
  },
] as const satisfies readonly ModeFacts[];

export type ModeName = (typeof MODE_FACTS)[number]["name"];
const MODE_NAMES = MODE_FACTS.map(({ name }) => name);

/** Whether a mode with this access may do something that needs the other. */
export function covers(access: ModeAccess, needed: ModeAccess): boolean {
  return MODE_ACCESSES.indexOf(access) >= MODE_ACCESSES.indexOf(needed);
}

/** A mode from a file, as read by supervisor/project/mode_files.ts. */
export const OwnMode = z.object({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,39}$/),
  description: z.string(),
  /** At most its base's. */
  access: z.enum(MODE_ACCESSES),
  base: z.enum(MODE_NAMES),
  /** Names and kinds of tools; empty: none; default: its base's. */
  tools: z.array(z.string()).optional(),
  model: z.string().min(1).optional(),
  /** Added to the prompt. */
  text: z.string(),
});
export type OwnMode = z.infer<typeof OwnMode>;
