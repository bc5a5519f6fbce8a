/** One turn that reads one file after the other, for many rounds, and what it sends. */
import assert from "node:assert/strict";
import type { EngineConfig } from "../../denops/agent/protocol/config.ts";
import type { WireName } from "../../denops/agent/protocol/providers.ts";
import type { RecordedRequest } from "../model/model_server.ts";
import { END_TURN, type RunningEngine, startEngine } from "./engine_session.ts";

/** Bytes of a request that the scripted model counts as a token. */
export const BYTES_A_TOKEN = 4;

export const SUMMARY =
  "when Stop here for a moment\nnew-history\nsay # Promises made\nsay \nsay PROMISE: no new libraries.\nrepeat";

const FILES = 20;

export interface LongRun {
  readonly rounds: number;
  /** Tokens. */
  readonly window: number;
  /** Bytes of each file. */
  readonly size?: number;
  readonly price?: EngineConfig["price"];
  readonly wire?: WireName;
}

/** Its names are f0.ts to f19.ts. @param size bytes of each */
export function readFiles(size = 3_000): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Array.from(
      { length: FILES },
      (_, at) => [`f${at}.ts`, `// file ${at}\n`.padEnd(size, "const line = 1;\n")],
    ),
  );
}

/** Reads, in one turn, and asks whether it is done. */
export function reading(rounds: number): string {
  const answers = Array.from(
    { length: rounds },
    (_, at) =>
      `new-history\nthink Hm\ncall read_file {"path": "f${at * 7 % FILES}.ts", "this_round": ${at % 9 + 1}}`,
  );
  return [...answers, "new-history\nsay Done?"].join("\n---\n");
}

export async function longRun({ rounds, window, size, price, wire }: LongRun): Promise<RunningEngine> {
  const plan = 'call update_plan {"steps": [{"step": "PLAN: read everything", "status": "in_progress"}]}';
  const priced = price === undefined ? {} : { price };
  const engine = await startEngine({
    ...(wire === undefined ? {} : { wire }),
    script: [SUMMARY, plan, reading(rounds)].join("\n---\n"),
    files: readFiles(size),
    config: { title: false, context_window: window, max_iterations: 1_000, ...priced },
  });
  assert.deepEqual(await engine.prompt("TASK: read all files and keep the names as they are"), END_TURN);
  return engine;
}

export function bytes({ body }: RecordedRequest): number {
  return JSON.stringify(body).length;
}

/** What was sent, in parts of what the same run would send if nothing was folded. */
export function sentShare({ messages, server: { requests } }: RunningEngine): number {
  const [first] = requests;
  let sent = first === undefined ? 0 : bytes(first);
  let all = 0;
  for (const message of messages()) {
    if (message.role === "assistant") all += sent;
    sent += JSON.stringify(message).length;
  }
  return requests.reduce((sum, request) => sum + bytes(request), 0) / all;
}
