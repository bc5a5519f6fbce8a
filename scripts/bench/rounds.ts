/** Turns of many calls: what each round takes between two answers of the model, and what it sends. */
import type { JsonObject } from "../../tests/model/model_messages.ts";
import { type RunningAgent, startAgent } from "../../tests/support/agent.ts";
import { longRun, sentShare } from "../../tests/support/long_run.ts";
import { scratch } from "../../tests/support/project.ts";
import { atMost, group, median, row } from "./row.ts";

export const ROUNDS = 20;

const PATH = "src/value.ts";
/** A file whose number the rounds count up. */
export const FILES = {
  [PATH]: '/** Counted up. */\nexport const value = 0;\nexport const name = "value";\n',
};

const read = `call read {"path": "${PATH}"}`;

function edit(number: number): string {
  const change = { path: PATH, old_str: `value = ${number};`, new_str: `value = ${number + 1};` };
  return `call edit ${JSON.stringify(change)}`;
}

/** Answers that read and edit, from this number on. */
export function readAndEdit(from: number): string {
  const answers = Array.from({ length: ROUNDS }, (_, index) => `${read}\n${edit(from + index)}`);
  return [...answers, "say Done."].join("\n---\n");
}

/** One call in each answer, by turns, from this number on. */
function readOrEdit(from: number): string {
  const answers = Array.from(
    { length: ROUNDS },
    (_, index) => index % 2 === 0 ? read : edit(from + (index - 1) / 2),
  );
  return [...answers, "say Done."].join("\n---\n");
}

/** One turn with this script, in a new chat. */
export async function turn({ nvim, server }: RunningAgent, script: string): Promise<void> {
  await nvim.keys("<Esc><Cmd>Agent new<CR>");
  server.play(script);
  await nvim.command("Agent go");
  await nvim.waitForScreen("Done.", { timeout: 60_000 });
  await nvim.waitForScreen("· ready");
}

const OPTIONS = { script: "say Hello.", options: "sessions = { title = false }", project: FILES };

/** One call in each answer, on a file that a window shows. The floor is the disk alone: the same file read and replaced. */
export const round = group(["tool_round"], async () => {
  await using agent = await startAgent({ ...OPTIONS, files: [PATH] });
  await agent.nvim.command("Agent hello");
  await agent.nvim.waitForScreen("· ready");
  await turn(agent, readOrEdit(0));
  const first = agent.server.requests.length;
  await turn(agent, readOrEdit(ROUNDS / 2));
  const requests = agent.server.requests.slice(first);
  const values = requests.slice(1).map(({ at }, index) => at - (requests[index]?.doneAt ?? NaN));
  await using folder = await scratch(FILES);
  const floors: number[] = [];
  for (let count = 0; count < ROUNDS; count++) {
    const begun = performance.now();
    const text = await folder.read(PATH);
    const file = await Deno.create(folder.path("beside"));
    await file.write(new TextEncoder().encode(text));
    await file.sync();
    file.close();
    await Deno.rename(folder.path("beside"), folder.path(PATH));
    floors.push(performance.now() - begun);
  }
  return { tool_round: row("ms", median(values), atMost(18), median(floors)) };
});

/** What a provider is sent and counts: it takes at a discount what begins as the request before did. */
export const wallet = group(
  ["wallet_first_bytes", "wallet_new_bytes_per_round", "wallet_prefix_share"],
  async () => {
    await using agent = await startAgent(OPTIONS);
    agent.server.play(readOrEdit(0));
    await agent.nvim.command("Agent go");
    await agent.nvim.waitForScreen("Done.", { timeout: 60_000 });
    const bodies = bodiesOf(agent);
    const [first, ...later] = bodies;
    const shared = later.map((body, index) => sharedBytes(bodies[index] ?? body, body));
    const sent = later.reduce((sum, { length }) => sum + length, 0);
    const share = shared.reduce((sum, length) => sum + length, 0) / sent;
    const grown = (later.at(-1)?.length ?? NaN) - (first?.length ?? NaN);
    return {
      wallet_first_bytes: row("bytes", first?.length ?? NaN, atMost(14_000)),
      wallet_new_bytes_per_round: row("bytes", grown / later.length, atMost(400)),
      wallet_prefix_share: row("share", share, atMost(0.975)),
    };
  },
);

const TURNS = 10;

/** Ten turns of a session: what each takes over from the request before, and how often that does not hold. */
export const turns = group(["wallet_turn_share", "wallet_turn_new_bytes", "wallet_breaks"], async () => {
  await using agent = await startAgent(OPTIONS);
  const { nvim, server } = agent;
  const first: number[] = [];
  for (let at = 0; at < TURNS; at++) {
    first.push(server.requests.length);
    server.play([read, edit(at), `say Done ${at}.`].join("\n---\n"));
    await nvim.command("Agent go on");
    await nvim.waitForScreen(`Done ${at}.`, { timeout: 60_000 });
    await nvim.waitForScreen("· ready");
  }
  const bodies = bodiesOf(agent);
  const kept = bodies.map((body, at) => sharedBytes(bodies[at - 1] ?? body, body));
  const isWhole = (at: number) => kept[at] === bodies[at - 1]?.length;
  const later = first.slice(1);
  return {
    wallet_turn_share: row(
      "share",
      Math.min(...later.map((at) => (kept[at] ?? 0) / (bodies[at - 1]?.length ?? NaN))),
      atMost(1),
    ),
    wallet_turn_new_bytes: row(
      "bytes",
      median(later.map((at) => (bodies[at]?.length ?? NaN) - (bodies[at - 1]?.length ?? NaN))),
      atMost(400),
    ),
    wallet_breaks: row("count", bodies.filter((_, at) => at > 0 && !isWhole(at)).length, atMost(1)),
  };
});

/** What a switch of the mode sends anew, there and back, beside the message and the answer before it. */
export const modes = group(["wallet_mode_switch"], async () => {
  await using agent = await startAgent(OPTIONS);
  const { nvim, server } = agent;
  for (const [at, mode] of ["agent", "agent", "plan", "agent"].entries()) {
    await nvim.command(`Agent mode ${mode}`);
    server.play(`say Done ${at}.`);
    await nvim.command("Agent go on");
    await nvim.waitForScreen(`Done ${at}.`, { timeout: 60_000 });
    await nvim.waitForScreen("· ready");
  }
  const bodies = bodiesOf(agent);
  const [plain = NaN, ...switches] = bodies.slice(1).map((body, at) =>
    body.length - sharedBytes(bodies[at] ?? body, body)
  );
  return { wallet_mode_switch: row("bytes", Math.max(...switches) - plain, atMost(600)) };
});

const LONG_ROUNDS = 200;
/** Those of a large model: what comes from the cache costs a tenth. */
const PRICE = { input: 3, output: 15, cached_read: 0.3, cached_write: 3.75 };

/** A turn of many readings: what of it is not sent again, as it is folded. */
export const longTurn = group(["wallet_long_saved_24k", "wallet_long_saved_128k"], async () => {
  const saved = async (window: number) => {
    await using engine = await longRun({ rounds: LONG_ROUNDS, window, size: 1_500, price: PRICE });
    return row("share", 1 - sentShare(engine), atMost(0.5));
  };
  return { wallet_long_saved_24k: await saved(24_000), wallet_long_saved_128k: await saved(128_000) };
});

function bodiesOf({ server }: RunningAgent): readonly Uint8Array[] {
  const encoder = new TextEncoder();
  return server.requests.map(({ body }) => encoder.encode(asRead(body)));
}

/** In the order in which a provider reads it, whatever the order of the JSON: messages come last. */
function asRead({ messages, ...rest }: JsonObject): string {
  return [rest, ...Array.isArray(messages) ? messages : []].map((part) => JSON.stringify(part)).join("\n");
}

function sharedBytes(before: Uint8Array, after: Uint8Array): number {
  const end = after.findIndex((byte, index) => byte !== before[index]);
  return end < 0 ? after.length : end;
}
