/** What a user sees when the model's side fails: one line that says what to do, and the session goes on. */
import assert from "node:assert/strict";
import { type WireName, WIRES } from "../../denops/agent/protocol/providers.ts";
import { ModelServer } from "../model/model_server.ts";
import { baseUrl, type RunningAgent } from "../support/agent.ts";
import { say, transcript, waitForChat, waitForTurn } from "../support/chat.ts";
import { END_TURN, startEngine } from "../support/engine_session.ts";
import { IS_FULL, sample } from "../support/sample.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const AGAIN = "\n---\nexpect And now?\nsay All is well again.\n";

interface Fault {
  readonly name: string;
  readonly script: string;
  /** The answer's text as far as it came. */
  readonly kept?: readonly string[];
  /** The one line; URL stands for the server's address. */
  readonly line: string;
}

const CUT_OFF = 'The answer of test was cut off. What came is kept; send "continue" to go on.';
const FIVE_TIMES_500 = Array(5).fill("status 500 retry-after=0").join("\n---\n");

const FAULTS: readonly Fault[] = [
  {
    name: "a wrong key (401)",
    script: "status 401",
    line:
      "Cannot use test: the API key was refused (HTTP 401: The script answers with HTTP 401). Check TEST_API_KEY.",
  },
  {
    name: "an unknown model (404)",
    script: "status 404",
    line: 'Cannot find model "scripted" at URL (HTTP 404: The script answers with HTTP 404). ' +
      "Check the options model and base_url.",
  },
  {
    name: "a full window (400)",
    script: "status 400 prompt is too long: 213462 tokens > 200000 maximum",
    line:
      "The session no longer fits the model's window (HTTP 400: prompt is too long: 213462 tokens > 200000 " +
      "maximum). Try :Agent new, or :Agent session fork at an earlier turn.",
  },
  {
    name: "five failures of the server (500)",
    script: FIVE_TIMES_500,
    line: "test answered HTTP 500 (The script answers with HTTP 500). Try again later.",
  },
  {
    name: "a rate limit that is too long to wait for (429)",
    script: "status 429 retry-after=3600",
    line: "Rate limit reached at test (HTTP 429: The script answers with HTTP 429). Try again later.",
  },
  {
    name: "a stream that is cut after its first text",
    script: "say Half of the answer\ncut",
    kept: ["Half of the answer"],
    line: CUT_OFF,
  },
  {
    name: "a body that ends before the answer does",
    script: "say Half of the answer\neof",
    kept: ["Half of the answer"],
    line: CUT_OFF,
  },
  {
    name: "garbage in a frame",
    script: "say Half of the answer\ngarbage data: \\xff\\x00{nonsense",
    kept: ["Half of the answer"],
    line: 'Cannot read the answer of test: not JSON: "�\\u0000{nonsense". Try again, or check base_url.',
  },
  {
    name: "text that is no stream",
    script: "status 200 Down for maintenance.",
    line: "Cannot read the answer of test: Down for maintenance. Try again, or check base_url.",
  },
  {
    name: "a web page with status 200",
    script: "html",
    line: "Cannot read the answer of URL: it is a web page, not an API. Check base_url.",
  },
  {
    name: "an error in mid-stream",
    script: "say Half of the answer\nerror overloaded_error The model is overloaded.",
    kept: ["Half of the answer"],
    line: "test stopped with an error: The model is overloaded. Try again.",
  },
];

async function goesOn({ nvim, server }: RunningAgent): Promise<void> {
  await say(nvim, "And now?");
  await waitForChat(nvim, "All is well again.");
  assert.deepEqual(server.problems, []);
}

Deno.test("in Neovim one line says what fails, and the next message works", async (test) => {
  await using agent = await sharedAgent({ script: "" });
  const { nvim, server } = agent;
  for (const [at, { name, script, kept = [], line }] of sample(FAULTS, 4).entries()) {
    await test.step(name, async () => {
      if (at > 0) await nvim.command("Agent new");
      await nvim.keys("<Esc>");
      server.play(`new-history\n${script}${AGAIN}`);
      const shown = line.replace("URL", baseUrl("openai_chat", server));
      await nvim.command("Agent send Hello");
      await waitForTurn(nvim);
      await waitForChat(nvim, shown);
      assert.deepEqual(await transcript(nvim, 0, at + 1), ["Hello", ...kept, shown]);
      await goesOn(agent);
    });
  }
});

/** Two turns without a screen; the second one is answered. */
async function answer(wire: WireName, script: string) {
  await using engine = await startEngine({ wire, script: `${script}${AGAIN}`, config: { title: false } });
  const said = () => engine.events.map((event) => event.type === "token" ? event.text : "").join("");
  const end = await engine.prompt("Hello");
  const text = said();
  const reasons = engine.events.flatMap((event) => event.type === "retry" ? [event.reason] : []);
  assert.deepEqual(await engine.prompt("And now?"), END_TURN);
  assert.equal(said(), `${text}All is well again.`);
  assert.deepEqual(engine.server.problems, []);
  const line = end.type === "failed" ? end.error.message : end.reason;
  return {
    url: engine.server.url,
    line,
    text,
    reasons,
    sent: JSON.stringify(engine.server.requests.at(-1)?.body),
  };
}

for (const { name, script, kept = [], line } of FAULTS) {
  Deno.test(`${name}: one line says so, and the next message works`, async () => {
    const { url, ...end } = await answer("openai_chat", script);
    assert.equal(end.line, line.replace("URL", `${url}/v1`).replace("scripted", "model-1"));
    assert.equal(end.text, kept.join(""));
  });
}

for (const wire of WIRES.filter((name) => name !== "openai_chat")) {
  Deno.test(`${wire}: a body that ends before the answer does: one line says so, and the next message works`, async () => {
    const { line, text } = await answer(wire, "say Half of the answer\neof");
    assert.equal(line, CUT_OFF);
    assert.equal(text, "Half of the answer");
  });
}

Deno.test("nobody at the address: one line at once, and it works when the server is there", async () => {
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  await using agent = await sharedAgent({ script: "", baseUrl: `${url}/v1` });
  const { nvim } = agent;
  await nvim.command("Agent Hello");
  const line = `Cannot reach ${url}/v1: connection refused. Is the server running? Check base_url.`;
  await waitForChat(nvim, line);
  assert.deepEqual(await transcript(nvim), ["Hello", line]);
  await using server = await ModelServer.start(AGAIN.replace("\n---\n", ""), { port });
  await goesOn({ ...agent, server });
});

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

Deno.test("a rate limit counts down on screen, and is tried again", async () => {
  await using agent = await sharedAgent({ script: `status 429 retry-after=4\n---\nsay Here I am.${AGAIN}` });
  const { nvim } = agent;
  const reason = "Rate limit reached at test (HTTP 429: The script answers with HTTP 429).";
  // None of these stays: each is looked for from the beginning.
  const countdown = Promise.all([
    waitForChat(nvim, `${reason} Retrying in 4 s, attempt 2 of 5; <C-c> stops.`),
    nvim.waitForScreen("· retrying"),
    waitForChat(nvim, `${reason} Retrying in 3 s, attempt 2 of 5; <C-c> stops.`),
  ]);
  await nvim.command("Agent Hello");
  await countdown;
  await waitForChat(nvim, "Here I am.");
  assert.deepEqual(await transcript(nvim), ["Hello", `${reason} Retried.`, "Here I am."]);
  await goesOn(agent);
});

const CUT_FIRST = "cut\n---\nsay Here I am.";
const CUT_REASON = "The answer of test was cut off.";

Deno.test("a stream that is cut before its first text is tried again by itself", async () => {
  await using agent = await sharedAgent({ script: `${CUT_FIRST}${AGAIN}` });
  const { nvim } = agent;
  const countdown = waitForChat(nvim, `${CUT_REASON} Retrying in 1 s, attempt 2 of 5; <C-c> stops.`);
  await nvim.command("Agent Hello");
  await countdown;
  await waitForChat(nvim, "Here I am.");
  assert.deepEqual(await transcript(nvim), ["Hello", `${CUT_REASON} Retried.`, "Here I am."]);
  await goesOn(agent);
});

Deno.test("a stream of another wire that is cut before its first text is tried again by itself", async () => {
  const { line, text, reasons } = await answer("anthropic_messages", CUT_FIRST);
  assert.deepEqual({ line, text, reasons }, { line: "end_turn", text: "Here I am.", reasons: [CUT_REASON] });
});

const TOO_LONG = "Stopped reading: the answer of test is over 8 MB. Ask for less at once.";

Deno.test("an answer of 10 MB is stopped, and the history stays small", async () => {
  const { line, sent } = await answer("openai_chat", "big 10000000");
  assert.equal(line, TOO_LONG);
  assert.ok(sent.length < 50_000, `${sent.length}`);
});

Deno.test({
  name: "in Neovim an answer of 10 MB is stopped, and the next message works",
  ignore: !IS_FULL,
  async fn() {
    await using agent = await sharedAgent({ script: `big 10000000${AGAIN}` });
    const { nvim, server } = agent;
    await nvim.command("Agent Hello");
    await waitForTurn(nvim);
    await waitForChat(nvim, TOO_LONG);
    await goesOn(agent);
    assert.ok(JSON.stringify(server.requests[1]?.body).length < 50_000);
  },
});
