/** A session of the real engine whose turns a scripted agent runs, with a copy of the project as its overlay. */
import { foreignRunner } from "../../../denops/agent/engine/foreign/runner.ts";
import type { Questions } from "../../../denops/agent/engine/ports/approvals.ts";
import type { AgentEvent } from "../../../denops/agent/engine/log/events.ts";
import type { EngineConfig } from "../../../denops/agent/protocol/config.ts";
import { type Copy, copyOf, effectsOf } from "../effects.ts";
import { type EngineOptions, type RunningEngine, startEngine } from "../engine_session.ts";
import { type AgentScript, type Changes, playAgent, type PlayedAgent } from "./in_memory.ts";

export type ForeignSessionOptions = Partial<Omit<EngineOptions, "script" | "runner">> & {
  readonly agent?: Partial<NonNullable<EngineConfig["agent"]>>;
  readonly questions?: Questions;
  readonly notes?: readonly string[];
};

export interface ForeignSession extends RunningEngine {
  readonly agent: PlayedAgent;
  /** Closes the session and opens it in another engine. */
  restart(): Promise<RunningEngine["session"]>;
}

export async function foreignSession(
  scripts: AgentScript | readonly AgentScript[],
  { agent: changed, questions, notes, ...options }: ForeignSessionOptions = {},
): Promise<ForeignSession> {
  await using stack = new AsyncDisposableStack();
  let root = "";
  let copy: Copy | undefined;
  const changes: Changes = {
    async begin() {
      await copy?.[Symbol.asyncDispose]();
      copy = await copyOf(root);
    },
    async change(line) {
      await copy?.run(line);
    },
    async effects() {
      const effects = copy && await effectsOf(root, copy.root);
      return effects === undefined || effects.changes === 0 ? undefined : effects;
    },
  };
  stack.defer(async () => await copy?.[Symbol.asyncDispose]());
  const agent = playAgent(scripts, { changes, ...(notes === undefined ? {} : { notes }) });
  const row = { name: "claude", title: "Claude", ...changed };
  const newRunner = () =>
    foreignRunner(row, { agent: agent.port, ...(questions === undefined ? {} : { questions }) });
  let current = newRunner();
  const engine = stack.use(
    await startEngine({
      files: { "a.txt": "one\ntwo\n" },
      ...options,
      script: "say unused",
      runner: {
        ...current,
        runTurn: (...turn) => current.runTurn(...turn),
        title: (...exchange) => current.title?.(...exchange) ?? Promise.resolve(undefined),
        close: () => current.close?.(),
      },
    }),
  );
  root = engine.project.root;
  const owned = stack.move();
  const restart = async () => {
    await engine.session.close();
    current = newRunner();
    return engine.again();
  };
  return { ...engine, agent, restart, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** The events as short lines, without those of every turn. */
export function linesOf(events: readonly AgentEvent[], root = ""): readonly string[] {
  return events.flatMap((event): string | string[] => {
    const below = event.parent === undefined ? "" : "  ";
    switch (event.type) {
      case "token":
        return `say ${event.text}`;
      case "thought":
        return `think ${event.text}`;
      case "tool_start":
        return `${below}start ${event.call.kind}: ${event.call.title}`;
      case "tool_running":
        return `${below}run: ${event.rule}`;
      case "tool_done":
        return `${below}${event.status}: ${event.summary}`;
      case "approval_requested":
        return `ask: ${event.reason}`;
      case "approval_answered":
        return `answer: ${event.answer} (${event.rule})`;
      case "file_modified":
        return `${event.change.kind} ${event.change.path.slice(root.length + 1)}`;
      case "notice":
        return `${event.severity}: ${event.text}`;
      case "plan":
        return `plan: ${event.steps.map(({ step, status }) => `${step} ${status}`).join(", ")}`;
      case "turn_done":
        return `done: ${event.reason}`;
      case "turn_failed":
        return `failed: ${event.message}`;
      default:
        return [];
    }
  });
}
