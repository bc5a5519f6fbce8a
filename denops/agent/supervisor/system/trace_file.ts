/**
 * Writes the file that AGENT_TRACE names, in the "JSON Array Format" of Chrome's trace events. That format
 * needs no closing bracket, so several processes can append to it, each with one write for whole lines.
 * Neovim creates it (lua/agent/trace.lua).
 */
import { startTrace, type TraceSpan } from "../../protocol/trace.ts";
import { neovimEnvironment } from "./neovim_environment.ts";

/** Several supervisors have engines. */
const ENGINES = 1_000;

let path: string | undefined;
let engines = 0;

/** Starts tracing if AGENT_TRACE is set; called again when Neovim has sent its environment. */
export function traceIntoFile(): void {
  path ??= neovimEnvironment().AGENT_TRACE || undefined;
  if (path !== undefined) startTrace(writer(path, "supervisor", Deno.pid));
}

export function isTracing(): boolean {
  return path !== undefined;
}

/** Writes the spans of one more engine. Outside of its sandbox it has no process id, so it gets a number. */
export function engineTrace(): (spans: readonly TraceSpan[]) => void {
  return path === undefined ? () => {} : writer(path, "engine", Deno.pid * ENGINES + ++engines);
}

function writer(file: string, name: string, pid: number): (spans: readonly TraceSpan[]) => void {
  const rows = new Map<string, number>();
  const meta = (name: string, tid: number, label: string) => ({
    ...{ name, ph: "M", pid, tid, args: { name: label } },
  });
  return (spans) => {
    const events: unknown[] = rows.size === 0 ? [meta("process_name", 0, name)] : [];
    for (const { name, at, took, row } of spans) {
      const tid = rows.get(row) ?? rows.size;
      if (!rows.has(row)) events.push(meta("thread_name", tid, row === "" ? name : row));
      rows.set(row, tid);
      events.push({ name, ph: "X", ts: at, dur: took, pid, tid });
    }
    const lines = events.map((event) => `${JSON.stringify(event)},\n`).join("");
    try {
      Deno.writeTextFileSync(file, lines, { append: true });
    } catch {
      // Tracing is optional.
    }
  };
}
