/** Calls as models write them, run by the real session: each does what the call does that it means, and nothing more. */
import assert from "node:assert/strict";
import { type CallShape, DANGEROUS, FOUND, LISTED } from "../../../../tests/support/call_shapes.ts";
import { startEngine } from "../../../../tests/support/engine_session.ts";
import type { FileRules } from "../../protocol/config.ts";
import type { ClientAbilities } from "../tools/define.ts";

const FILES = { "a.txt": "alpha\nbeta\ngamma\n", "b.txt": "beta\n", "src/x.ts": "beta\n" };

/** All that a call did: what the screen showed, what the user was asked, what others were asked, what the model read. */
interface Effect {
  readonly shown: unknown;
  readonly asked: readonly unknown[];
  readonly result: string;
}

const NONE = { deny: [], ask: [] };
/** Each write is asked about. */
const ASKS: FileRules = { safe_to_write: [{ glob: "**", safe: false }], deny_read: [], read_rules: NONE };

/** Runs calls one after the other; the user refuses whatever is asked. */
async function startPlayer() {
  const heard: unknown[] = [];
  const report = { output: "ran", end: "exit code 0", failed: false };
  const note = <Answer>(answer: Answer) => (...request: readonly unknown[]): Promise<Answer> => {
    heard.push(request.filter((part) => !(part instanceof AbortSignal)));
    return Promise.resolve(answer);
  };
  const abilities: ClientAbilities = {
    commands: {
      run: note(report),
      startInBackground: note("c1"),
      output: note(report),
      stop: note(report),
    },
    search: {
      grep: note({ lines: [], total: 0, more: false }),
      files: note({ paths: [], more: false }),
      changes: note({ text: "" }),
    },
    questions: { ask: note("A") },
    languages: { ask: note({ kind: "nothing", reason: "none" } as const) },
  };
  const engine = await startEngine({
    // A file is read before it is written.
    script: 'call read_files {"paths": ["a.txt", "b.txt"]}\n---\nsay Ready',
    files: FILES,
    abilities,
    fileRules: () => Promise.resolve(ASKS),
    ask({ accesses, diff }) {
      heard.push({ accesses, diff });
      return { answer: "reject" };
    },
  });
  await engine.prompt("Read them");
  const known = new Map<string, Effect>();
  return {
    async meant({ tool, args }: { readonly tool: string; readonly args: unknown }): Promise<Effect> {
      const text = JSON.stringify(args);
      const key = `${tool} ${text}`;
      const effect = known.get(key) ?? await this.play({ name: tool, text });
      known.set(key, effect);
      return effect;
    },
    async play({ name, text }: Pick<CallShape, "name" | "text">): Promise<Effect> {
      heard.length = 0;
      const from = engine.events.length;
      engine.server.play(`rawcall ${name} ${text.replaceAll("\n", "\n  ")}\n---\nsay Done`);
      await engine.prompt("Go");
      const start = engine.events.slice(from).find((event) => event.type === "tool_start");
      assert.ok(start !== undefined, `${name} is not shown`);
      const { id: _, ...shown } = start.call;
      return { shown, asked: [...heard], result: engine.results().at(-1) ?? "" };
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
}

const IGNORED = /\n\(ignored[^\n]*\)$/;

/** @returns what is wrong with it */
async function judge(
  { by, name, text, expected }: CallShape,
  player: Awaited<ReturnType<typeof startPlayer>>,
): Promise<string | undefined> {
  const { shown, asked, result } = await player.play({ name, text });
  const what = `${by}: ${name} ${text}`;
  if ("words" in expected) {
    const missing = expected.words.filter((word) => !result.includes(word));
    if (asked.length > 0) return `${what}\n  did something: ${JSON.stringify(asked)}`;
    return missing.length === 0 ? undefined : `${what}\n  does not say ${missing.join(", ")}: ${result}`;
  }
  const meant = await player.meant(expected);
  try {
    assert.deepEqual({ shown, asked, result: result.replace(IGNORED, "") }, meant);
    return undefined;
  } catch {
    return `${what}\n  did ${JSON.stringify([shown, asked, result])}\n  not ${JSON.stringify(meant)}`;
  }
}

for (const [what, shapes] of Object.entries({ LISTED, FOUND, DANGEROUS })) {
  Deno.test(`calls as models write them: ${what.toLowerCase()}`, async () => {
    await using player = await startPlayer();
    const wrong: string[] = [];
    for (const shape of shapes) {
      const problem = await judge(shape, player);
      if (problem !== undefined) wrong.push(problem);
    }
    assert.deepEqual(
      wrong.length === 0 ? "" : `${wrong.length} of ${shapes.length}\n${wrong.join("\n")}`,
      "",
    );
  });
}
