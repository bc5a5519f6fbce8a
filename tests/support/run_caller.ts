/** Runs of `agent run` that share a process, because its start takes as long as a short turn. */
import { join } from "node:path";
import { PLUGIN } from "./agent.ts";
import { denoCache } from "./nvim_process.ts";
import type { RunPlace, RunResult } from "./run.ts";

const FLAGS = ["-A", "--no-prompt", "--quiet", "--frozen"];

interface Caller extends AsyncDisposable {
  run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<RunResult>;
}

let caller: Caller | undefined;

Deno.test.afterAll(async () => {
  await caller?.[Symbol.asyncDispose]();
  caller = undefined;
});

/**
 * Runs `agent run` in the project, without `bin/agent` and without standard input. Await one run before the next.
 * @param args those behind `agent run`
 */
export function callRun(
  { project, environment }: RunPlace,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunResult> {
  caller ??= start();
  return caller.run(["--cwd", project.root, ...args], { ...environment, ...env });
}

function start(): Caller {
  const program = join(PLUGIN, "tests/support/run_calls.ts");
  const process = new Deno.Command(Deno.execPath(), {
    args: ["run", ...FLAGS, `--config=${join(PLUGIN, "deno.json")}`, program],
    cwd: "/",
    env: { MALLOC_ARENA_MAX: "1", DENO_NO_UPDATE_CHECK: "1", ...denoCache() },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const input = process.stdin.getWriter();
  const [output, errors] = [parts(process.stdout), parts(process.stderr)];
  return {
    async run(args, env) {
      await input.write(new TextEncoder().encode(`${JSON.stringify({ args, env })}\n`));
      const [stdout, code, stderr] = [await output(), await output(), await errors()];
      return { code: Number(code), stdout, stderr };
    },
    async [Symbol.asyncDispose]() {
      await input.close();
      await process.status;
    },
  };
}

/** @returns reads the text up to the next NUL */
function parts(stream: ReadableStream<Uint8Array<ArrayBuffer>>): () => Promise<string> {
  const part = partsOf(stream);
  return async () => {
    const { done, value } = await part.next();
    if (done) throw new Error("The process of the runs has ended.");
    return value;
  };
}

async function* partsOf(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<string, void> {
  let text = "";
  for await (const piece of stream.pipeThrough(new TextDecoderStream())) {
    const all = (text + piece).split("\0");
    text = all.pop() ?? "";
    yield* all;
  }
}
