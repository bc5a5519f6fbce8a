/** One session of the real engine with a scripted model, in a folder of its own; without a screen. */
import assert from "node:assert/strict";
import { noEditor } from "../../denops/agent/engine/acp/editor.ts";
import { loopRunner } from "../../denops/agent/engine/agent/turn/loop_runner.ts";
import type { Runner, TurnEnd } from "../../denops/agent/engine/agent/turn/runner.ts";
import { MODES } from "../../denops/agent/engine/context/modes.ts";
import { view } from "../../denops/agent/engine/context/view.ts";
import type { AgentEvent } from "../../denops/agent/engine/log/events.ts";
import type { Message } from "../../denops/agent/engine/log/messages.ts";
import type { UsageLog } from "../../denops/agent/engine/ports/usage.ts";
import type { ApprovalAnswer, ApprovalRequest } from "../../denops/agent/engine/ports/approvals.ts";
import type { Editor } from "../../denops/agent/engine/ports/editor.ts";
import type { RenewKey } from "../../denops/agent/engine/llm/access.ts";
import { createModel, createSummarizer, otherModel } from "../../denops/agent/engine/llm/model.ts";
import { WireLog } from "../../denops/agent/engine/llm/wire_log.ts";
import { Session } from "../../denops/agent/engine/session/session.ts";
import { Database } from "../../denops/agent/engine/store/database.ts";
import { SqliteModelFacts } from "../../denops/agent/engine/store/model_facts.ts";
import { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import { SqliteUsage } from "../../denops/agent/engine/store/usage.ts";
import type { ClientAbilities } from "../../denops/agent/engine/ports/abilities.ts";
import type { Tool } from "../../denops/agent/engine/tools/define.ts";
import { TOOLS } from "../../denops/agent/engine/tools/registry.ts";
import type { ModelConfig } from "../../denops/agent/protocol/config.ts";
import type { WireName } from "../../denops/agent/protocol/providers.ts";
import { ModelServer } from "../model/model_server.ts";
import { engineConfig } from "./engine_config.ts";
import { KEY } from "./key.ts";
import { type Scratch, scratch } from "./project.ts";

type SessionPorts = ConstructorParameters<typeof Session>[2];

export interface EngineOptions {
  readonly script: string;
  /** Answers to the question whether an answer claims a change: no unless told. */
  readonly claims?: string;
  /** The loop with the scripted model unless told. */
  readonly runner?: Runner;
  readonly wire?: WireName;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Of the files: those that are the workspace's roots, the project first. All of them are in the one root unless told. */
  readonly folders?: readonly string[];
  readonly config?: Partial<ModelConfig>;
  /** Gives another key; none unless told. */
  readonly renew?: RenewKey;
  /** What the client does for tools: nothing unless told. */
  readonly abilities?: Partial<ClientAbilities>;
  /** More tools than the engine's own. */
  readonly tools?: readonly Tool[];
  readonly editor?: Editor;
  /** Everything is allowed unless told. */
  readonly ask?: (request: ApprovalRequest, signal: AbortSignal) => ApprovalAnswer | Promise<ApprovalAnswer>;
  readonly publish?: (event: AgentEvent) => void;
  /** Those of the configuration unless told. */
  readonly fileRules?: SessionPorts["fileRules"];
  /** The model is told nothing of them unless told. */
  readonly surroundings?: SessionPorts["surroundings"];
  readonly given?: SessionPorts["attachments"];
  /** One in memory unless told; it is closed with the engine. */
  readonly database?: Database;
  /** The store in this database, with what is to be in it; an empty one unless told. */
  readonly store?: (database: Database) => SqliteStore;
}

export interface RunningEngine extends AsyncDisposable {
  readonly session: Session;
  readonly server: ModelServer;
  readonly project: Scratch;
  readonly database: Database;
  readonly usage: UsageLog;
  /** Everything that was published, in order. */
  readonly events: readonly AgentEvent[];
  readonly store: SqliteStore;
  readonly asked: readonly ApprovalRequest[];
  prompt(text: string): Promise<TurnEnd>;
  /** What the model sees, but for what it is told of its mode. */
  messages(): readonly Message[];
  /** The log as it is in the store. */
  stored(): readonly AgentEvent[];
  /** Opens the stored session once more. */
  again(): Session;
  /** The results of tools that the model was given. */
  results(): readonly string[];
}

export async function startEngine(options: EngineOptions): Promise<RunningEngine> {
  const { wire = "openai_chat", files = {}, tools = [], editor = noEditor } = options;
  await using stack = new AsyncDisposableStack();
  const project = stack.use(await scratch(files));
  const claims = options.claims === undefined ? {} : { claims: options.claims };
  const server = stack.use(await ModelServer.start(options.script, { secrets: [KEY], ...claims }));
  const config = engineConfig(server.url, wire, options.config);
  const database = stack.use(options.database ?? Database.inMemory());
  const store = options.store?.(database) ?? new SqliteStore(database);
  const usage = new SqliteUsage(database);
  const facts = new SqliteModelFacts(database);
  const roots = options.folders?.map((folder) => project.path(folder)) ?? [project.root];
  const environment = { roots, os: "linux" };
  const wireLog = new WireLog();
  const models = { facts, renew: options.renew, wireLog };
  const events: AgentEvent[] = [];
  const asked: ApprovalRequest[] = [];
  const ports: SessionPorts = {
    config,
    store,
    usage,
    editor,
    makeLink: (path, target) => Deno.symlink(target, path),
    runner: options.runner ??
      loopRunner({
        config,
        wireLog,
        model: createModel(config, models),
        summarizer: createSummarizer(config, models),
        modelOf: (name, listed) => otherModel(config, name, listed, models),
        tools: [...TOOLS, ...tools],
        environment,
        abilities: options.abilities ?? {},
      }),
    fileRules: options.fileRules,
    mcp: options.abilities?.mcp,
    ...(options.surroundings === undefined ? {} : { surroundings: options.surroundings }),
    ...(options.given === undefined ? {} : { attachments: options.given }),
    async ask(request, signal) {
      asked.push(request);
      return await options.ask?.(request, signal) ?? { answer: "allow_once" };
    },
    publish(event) {
      events.push(event);
      options.publish?.(event);
    },
  };
  const again = () => new Session("s1", roots, ports);
  const session = again();
  const messages = () => {
    const seen = store.messages("s1").filter((entry) =>
      entry.type !== "control_note" || entry.reason !== "mode"
    );
    return view(seen, MODES.agent, { environment, tools: [] }).messages;
  };
  const owned = stack.move();
  return {
    session,
    server,
    project,
    database,
    usage,
    events,
    store,
    asked,
    messages,
    again,
    stored: () => store.events("s1").map(({ entry }) => entry),
    prompt: (text) => session.prompt([{ type: "text", text }]),
    results: () => messages().flatMap((message) => message.role === "tool" ? [message.text] : []),
    async [Symbol.asyncDispose]() {
      await session.close();
      await owned.disposeAsync();
    },
  };
}

export const END_TURN = { type: "stopped", reason: "end_turn" } as const satisfies TurnEnd;
export const CANCELLED: TurnEnd = { type: "stopped", reason: "cancelled" };

/** What holds for the events of any session: each turn and each call has its beginning and one end. */
export function checkEvents(events: readonly AgentEvent[]): void {
  let running = false;
  const calls = new Map<string, "started" | "done">();
  for (const event of events) {
    // The title comes when it comes.
    if (event.type === "title" || (event.type === "usage" && event.purpose === "title")) continue;
    if (event.type === "user_message") {
      assert.ok(!running, "a turn begins within another");
      running = true;
    }
    assert.ok(running, `${event.type} outside of a turn`);
    if (event.type === "turn_done" || event.type === "turn_failed") {
      running = false;
      assert.deepEqual([...calls].filter(([, state]) => state !== "done"), [], "calls without an end");
    }
    if (event.type === "tool_start") {
      assert.equal(calls.get(event.call.id), undefined, `${event.call.id} begins twice`);
      calls.set(event.call.id, "started");
    }
    if (event.type === "tool_running") assert.equal(calls.get(event.id), "started", `${event.id} runs`);
    if (event.type === "tool_done") {
      assert.equal(calls.get(event.id), "started", `${event.id} ends`);
      calls.set(event.id, "done");
    }
  }
  assert.ok(!running, "the last turn has no end");
}
