/** A session's memory beside its messages: one fact a row, stored for a resume. */
import * as z from "../../../deps/zod.ts";
import { ListedModel } from "../../../protocol/config.ts";
import { Note } from "../../context/notes.ts";
import { Project } from "../../context/project.ts";
import { Plan } from "../../log/events.ts";
import type { ToolSpec } from "../../log/model_request.ts";
import type { AgentSession } from "../../ports/foreign.ts";
import type { Remembered } from "../../ports/store.ts";

/** Facts with one value each, and their defaults. */
const Facts = z.object({
  /** Where the next command starts, relative to the root. */
  folder: z.string().default(""),
  /** Earlier commands have set variables for later ones. They end with the engine. */
  variables: z.boolean().default(false),
  plan: Plan.default([]),
  /** Money that the session has cost, and how often the user raised its cap. */
  spent: z.object({ amount: z.number(), raised: z.int() }).default({ amount: 0, raised: 0 }),
  /** A title was requested; this happens once. */
  titled: z.boolean().default(false),
  /** The user's choices for the session's turns; "" uses the options. */
  mode: z.string().default(""),
  model: z.string().default(""),
  effort: z.string().default(""),
  /** The provider of the model; "" fits any provider. */
  provider: z.string().default(""),
  /** The model's listed facts at the time of the choice. */
  listed: ListedModel.optional(),
  /** The first turn that the model still sees. */
  first: z.int().default(1),
});
export type Facts = z.infer<typeof Facts>;

/** The file's name in the prompt, and its size in bytes. */
const FolderRules = z.object({ path: z.string(), bytes: z.number() });
export type FolderRules = Readonly<z.infer<typeof FolderRules>>;

const Choices = z.record(z.string(), z.string());

const AgentSessionRow = z.object({ session: z.string(), turn: z.int(), dollars: z.number().optional() });

const Specs = z.array(z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  grammar: z.string().optional(),
}));

/** A map that tracks which of its entries are not stored yet. */
export class RememberedMap<Value> extends Map<string, Value> {
  readonly #topic: string;
  readonly #changed = new Set<string>();

  constructor(topic: string, entries: Iterable<readonly [string, Value]>) {
    super();
    this.#topic = topic;
    for (const [name, value] of entries) super.set(name, value);
  }

  override set(name: string, value: Value): this {
    if (this.get(name) !== value) this.#changed.add(name);
    return super.set(name, value);
  }

  override delete(name: string): boolean {
    if (this.has(name)) this.#changed.add(name);
    return super.delete(name);
  }

  get unstored(): readonly Remembered[] {
    return [...this.#changed].map((name) => ({ topic: this.#topic, name, value: this.get(name) }));
  }

  stored(): void {
    this.#changed.clear();
  }
}

export class Memory {
  /** Hashes of files that the model has read, by path: see Views. */
  readonly known: RememberedMap<string>;
  /** Tools that the user has switched on or off. */
  readonly tools: RememberedMap<boolean>;
  /** Tools that the model was offered: see offered.ts. */
  readonly offered: RememberedMap<readonly ToolSpec[]>;
  /** The project facts in the prompt; at most one entry, under any name. */
  readonly project: RememberedMap<Project>;
  /** Sizes in bytes of the rules files in the prompt: see RulesFiles. */
  readonly rules: RememberedMap<number>;
  /** Rules files of folders, sent with messages. */
  readonly folderRules: RememberedMap<FolderRules>;
  /** Background sub-agents that the model has not heard of, with their titles. */
  readonly agents: RememberedMap<string>;
  /** By the agents' names. */
  readonly agentSessions: RememberedMap<AgentSession>;
  /** Likewise: the user's choices among their options. */
  readonly agentOptions: RememberedMap<Readonly<Record<string, string>>>;
  /** Ids of the user's messages in the log. */
  readonly messages: RememberedMap<boolean>;
  /** The last values of changing facts that the model has seen. */
  readonly lastFacts: RememberedMap<string>;
  /** Keys are the texts. */
  readonly notes: RememberedMap<Note>;
  /** Parts of the view that the user dropped or pinned: see Chosen. */
  readonly dropped: RememberedMap<string>;
  readonly pinned: RememberedMap<boolean>;
  /** The stored facts. */
  readonly facts: Facts;
  /** Topic → the value as JSON. */
  readonly #stored = new Map<string, string>();

  constructor(rows: readonly Remembered[]) {
    const map = <Value>(topic: string, isRight: (value: unknown) => value is Value) =>
      new RememberedMap<Value>(
        topic,
        rows.flatMap(({ topic: of, name, value }) =>
          of === topic && isRight(value) ? [[name, value] as const] : []
        ),
      );
    this.known = map("known", isText);
    this.tools = map("tool", (value) => typeof value === "boolean");
    this.offered = map(
      "offered",
      (value): value is readonly ToolSpec[] => Specs.safeParse(value).success,
    );
    this.project = map("project", (value): value is Project => Project.safeParse(value).success);
    this.rules = map("rules", (value) => typeof value === "number");
    this.folderRules = map(
      "folder_rules",
      (value): value is FolderRules => FolderRules.safeParse(value).success,
    );
    this.agentSessions = map(
      "agent_session",
      (value): value is AgentSession => AgentSessionRow.safeParse(value).success,
    );
    this.agentOptions = map(
      "agent_option",
      (value): value is Record<string, string> => Choices.safeParse(value).success,
    );
    this.messages = map("message", (value) => value === true);
    this.lastFacts = map("told", isText);
    this.notes = map("note", (value): value is Note => Note.safeParse(value).success);
    this.dropped = map("dropped", isText);
    this.pinned = map("pinned", (value) => value === true);
    this.agents = map("agents", isText);
    this.facts = factsOf(rows);
    for (const [topic, value] of Object.entries(this.facts)) this.#stored.set(topic, JSON.stringify(value));
  }

  /** The rows that are not stored yet. @param facts their current values */
  unstored(facts: Facts): readonly Remembered[] {
    const changed = Object.entries(facts).filter(([topic, value]) =>
      this.#stored.get(topic) !== JSON.stringify(value)
    ).map(([topic, value]) => ({ topic, name: "", value }));
    return [...changed, ...this.#maps.flatMap(({ unstored }) => unstored)];
  }

  /** Marks rows of `unstored` as stored. */
  stored(rows: readonly Remembered[]): void {
    for (const { topic, name, value } of rows) {
      if (name === "") this.#stored.set(topic, JSON.stringify(value));
    }
    for (const map of this.#maps) map.stored();
  }

  get #maps() {
    return [
      this.known,
      this.tools,
      this.offered,
      this.project,
      this.rules,
      this.folderRules,
      this.messages,
      this.lastFacts,
      this.notes,
      this.dropped,
      this.pinned,
      this.agents,
      this.agentSessions,
      this.agentOptions,
    ];
  }
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** Drops facts that cannot be parsed. */
function factsOf(rows: readonly Remembered[]): Facts {
  const known = Object.entries(Facts.shape).flatMap(([topic, shape]) => {
    const row = rows.find((one) => one.topic === topic && one.name === "");
    const parsed = shape.safeParse(row?.value);
    return parsed.success ? [[topic, parsed.data]] : [];
  });
  return Facts.parse(Object.fromEntries(known));
}
