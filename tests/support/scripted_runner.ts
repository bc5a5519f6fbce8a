/** A runner that is not the loop: it does what a test says, with the ports that any runner has. */
import { runCheckpointed } from "../../denops/agent/engine/agent/permission/checkpointed.ts";
import { Permissions } from "../../denops/agent/engine/agent/permission/permission.ts";
import type { Runner, RunnerPorts, TurnEnd } from "../../denops/agent/engine/agent/turn/runner.ts";
import { MODES } from "../../denops/agent/engine/context/modes.ts";
import { wordsOf } from "../../denops/agent/engine/log/entries.ts";
import type { AgentEvent, ToolStart } from "../../denops/agent/engine/log/events.ts";
import { files } from "../../denops/agent/engine/tools/define.ts";
import { lineDiff } from "../../denops/agent/engine/log/line_diff.ts";

export interface ScriptedTurn {
  readonly ports: RunnerPorts;
  readonly signal: AbortSignal;
  /** A whole message, which the session remembers. */
  say(text: string): void;
  /** @param parent the call under which it stands */
  emit(event: AgentEvent, parent?: string): void;
  /** A call that has begun. */
  start(id: string, title: string, parent?: string): void;
  done(id: string, summary: string): void;
  /** A call that writes a file, as an agent's `fs/write_text_file` does. @returns whether it was written */
  write(id: string, path: string, text: string, parent?: string): Promise<boolean>;
  /** One request to its model, in tokens. */
  use(input: number, output: number): void;
}

export function scriptedRunner(
  play: (turn: ScriptedTurn, prompt: string) => Promise<TurnEnd | void>,
): Runner {
  return {
    model: { provider: "other", name: "other-1", contextWindow: 10_000 },
    tools: [],
    async runTurn(prompt, ports, signal) {
      return await play(scriptedTurn(ports, signal), wordsOf(prompt)) ??
        { type: "stopped", reason: "end_turn" };
    },
  };
}

function scriptedTurn(ports: RunnerPorts, signal: AbortSignal): ScriptedTurn {
  const emit = (event: AgentEvent, parent?: string) =>
    ports.emit(parent === undefined ? event : { ...event, parent });
  return {
    ports,
    signal,
    emit,
    say(text) {
      emit({ type: "token", message: crypto.randomUUID(), text });
      ports.append({ type: "assistant_message", text, calls: [], reasoning: [] });
    },
    start(id, title, parent) {
      emit({ type: "tool_start", call: { id, tool: "other", title, kind: "other", paths: [] } }, parent);
      emit({ type: "tool_running", id, rule: "other" });
    },
    done: (id, summary) => emit({ type: "tool_done", id, status: "completed", summary, output: summary }),
    use: (input, output) =>
      ports.meter.count(
        {
          usage: { input, output, cachedRead: 0, cachedWrite: 0 },
          calls: [],
          firstToken: undefined,
          duration: 1,
        },
        MODES.agent,
        [],
      ),
    async write(id, path, text, parent) {
      const own: RunnerPorts = { ...ports, emit: (event) => emit(event, parent) };
      await ports.refreshRules();
      const file = await ports.workspace.resolve(path);
      const before = await ports.workspace.readText(file, signal);
      const diff = lineDiff(file.path, before?.text, text);
      const call: ToolStart = { id, tool: "other", title: `write ${path}`, kind: "edit", paths: [file.path] };
      const prepared = {
        access: files(["write", file]),
        ...(diff === undefined ? {} : { diff }),
        run: async () => {
          const change = await ports.workspace.writeText(file, before, text, signal);
          return { text: "Written.", summary: "written", changes: [change] };
        },
      };
      const permitted = await new Permissions(own, () => call, signal).decide(prepared);
      const end = (status: "completed" | "failed", summary: string) =>
        own.emit({ type: "tool_done", id, status, summary, output: summary });
      if (permitted.refusal !== undefined) {
        end("failed", permitted.refusal.summary);
        return false;
      }
      own.emit({ type: "tool_running", id, rule: permitted.rule });
      const { summary } = await runCheckpointed(id, prepared, permitted, own, signal);
      end("completed", summary);
      return true;
    },
  };
}
