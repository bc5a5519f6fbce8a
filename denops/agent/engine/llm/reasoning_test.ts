/** Which thoughts go back to whom, in the requests that each service gets. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ModelServer } from "../../../../tests/model/model_server.ts";
import { answered, asked, result } from "../../../../tests/support/entries.ts";
import { engineConfig } from "../../../../tests/support/engine_config.ts";
import { call, READ_FILE, request } from "../../../../tests/support/histories.ts";
import { checked } from "../../../../tests/support/model_client.ts";
import { runs } from "../../../../tests/support/runs.ts";
import { type WireName, WIRES } from "../../protocol/providers.ts";
import { MODES } from "../context/modes.ts";
import { view } from "../context/view.ts";
import type { MessageEntry } from "../log/entries.ts";
import type { Author, KeptFor, Reasoning } from "../log/messages.ts";
import { Assembly } from "./assemble.ts";
import { createModel } from "./model.ts";
import { ownOf } from "./own.ts";
import { wire } from "./registry.ts";
import type { Delta } from "./wire/wire.ts";

const environment = { os: "linux", shell: "sh", root: "/p", roots: ["/p"], date: "2026-01-01" };

function thought(text: string, kept: KeptFor): Reasoning {
  return { type: "plain", text, for: kept };
}

const deepseek: Author = { wire: "openai_chat", provider: "deepseek", model: "deepseek-v4-pro" };

/** What an author's service is sent of a log. */
function sent(log: readonly MessageEntry[], author: Author, baseUrl: string): string {
  const { messages } = view(log, MODES.agent, { environment, tools: [] });
  const own = request(ownOf(messages, author), { model: author.model });
  const name = WIRES.find((one) => one === author.wire) ?? "openai_chat";
  return wire(name).encode(own, { baseUrl, headers: {} }).body;
}

/** The assistant's messages in it. */
function answers(body: string): readonly Record<string, unknown>[] {
  const { messages }: { messages: Record<string, unknown>[] } = JSON.parse(body);
  return messages.filter(({ role }) => role === "assistant");
}

/** Two turns, the first with a call and an answer, the second in the middle of its calls. */
function log(kept: KeptFor, by: Author): readonly MessageEntry[] {
  const said = (text: string, id: string) => ({
    ...answered("", id === "" ? [] : [call(id, "list", "{}")]),
    reasoning: [thought(text, kept)],
    by,
  });
  return [
    ...[asked("One"), said("first", "c1"), result("c1", "list", "a")],
    { ...said("end", ""), text: "Done." },
    ...[asked("Two"), { ...said("talk", ""), text: "Hello." }],
    ...[asked("Three"), said("second", "c2"), result("c2", "list", "b")],
  ];
}

const services: readonly (readonly [url: string, model: string, sent: readonly unknown[]])[] = [
  ["https://api.deepseek.com/v1", "deepseek-v4-pro", ["first", "end", undefined, "second"]],
  ["https://api.moonshot.ai/v1", "kimi-k2.6", ["first", "end", undefined, "second"]],
  ["https://api.together.xyz/v1", "moonshotai/Kimi-K2.6", ["first", "end", undefined, "second"]],
  ["https://api.z.ai/api/paas/v4", "glm-4.7", [undefined, undefined, undefined, "second"]],
  ["http://127.0.0.1:8080/v1", "qwen3", [undefined, undefined, undefined, "second"]],
];

for (const [url, model, expected] of services) {
  Deno.test(`thoughts that go back to ${model} at ${new URL(url).host}`, () => {
    const author: Author = { wire: "openai_chat", provider: "p", model };
    const kept = wire("openai_chat").keeps?.(model, url) ?? "turn";
    const body = sent(log(kept, author), author, url);
    assert.deepEqual(answers(body).map(({ reasoning_content }) => reasoning_content), expected);
  });
}

Deno.test("thoughts that go back to Mistral are parts of the content, to Ollama a field of the turn's messages", () => {
  const mistral: Author = { wire: "openai_chat", provider: "mistral", model: "magistral-medium-latest" };
  const part = (text: string) => ({ type: "thinking", thinking: [{ type: "text", text }], closed: true });
  const bodies = answers(sent(log("session", mistral), mistral, "https://api.mistral.ai/v1"));
  assert.deepEqual(bodies.map(({ content }) => content), [
    [part("first")],
    [part("end"), { type: "text", text: "Done." }],
    "Hello.",
    [part("second")],
  ]);
  const ollama: Author = { wire: "ollama", provider: "ollama", model: "gpt-oss" };
  assert.equal(wire("ollama").keeps?.("gpt-oss", "http://127.0.0.1:11434"), "turn");
  const local = answers(sent(log("turn", ollama), ollama, "http://127.0.0.1:11434"));
  assert.deepEqual(local.map(({ thinking }) => thinking), [undefined, undefined, undefined, "second"]);
});

Deno.test("where an answer with calls must have a thought, one of nobody's has an empty one", () => {
  const other = { ...deepseek, model: "another" };
  const body = answers(sent(log("session", other), deepseek, "https://api.deepseek.com/v1"));
  assert.deepEqual(body.map(({ reasoning_content }) => reasoning_content), [" ", undefined, undefined, " "]);
});

Deno.test("who keeps thoughts without a signature", () => {
  const kept = (name: WireName, url: string, model: string) => wire(name).keeps?.(model, url);
  assert.equal(kept("openai_chat", "https://api.openai.com/v1", "gpt-5"), undefined);
  assert.equal(kept("openai_chat", "https://openrouter.ai/api/v1", "deepseek/deepseek-v4"), undefined);
  assert.equal(kept("openai_chat", "https://api.groq.com/openai/v1", "qwen3"), undefined);
  assert.equal(kept("openai_chat", "https://api.mistral.ai/v1", "magistral-small"), "session");
  assert.equal(kept("openai_chat", "http://gpu.lan:8000/v1", "gpt-oss"), "turn");
  assert.equal(kept("anthropic_messages", "https://api.anthropic.com", "claude-sonnet-5"), undefined);
});

function reasoningOf(deltas: readonly Delta[], keeps?: KeptFor): readonly Reasoning[] {
  const assembly = new Assembly(keeps);
  for (const delta of deltas) assembly.add(delta);
  return assembly.message({ withCalls: true }).reasoning;
}

Deno.test("what is kept of an answer's thoughts", () => {
  const thoughts: readonly Delta[] = [{ type: "thought", text: "\nH" }, { type: "thought", text: "m.\n" }];
  assert.deepEqual(reasoningOf(thoughts), []);
  assert.deepEqual(reasoningOf(thoughts, "turn"), [thought("Hm.", "turn")]);
  const signature: Delta = { type: "signature", signature: "c2ln" };
  assert.deepEqual(reasoningOf([...thoughts, signature], "turn"), [
    { type: "signed", text: "\nHm.\n", signature: "c2ln" },
  ]);
  const text = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };
  const encrypted = { type: "reasoning.encrypted", data: "ZGF0YQ==", index: 1 };
  const pieces: readonly Delta[] = [
    { type: "details", details: [{ ...text, text: "H" }] },
    { type: "details", details: [{ ...text, text: "m.", signature: null }] },
    { type: "details", details: [{ ...text, signature: "c2ln" }, encrypted] },
  ];
  assert.deepEqual(reasoningOf([...thoughts, ...pieces], "turn"), [
    { type: "details", details: [{ ...text, text: "Hm.", signature: "c2ln" }, encrypted] },
  ]);
});

Deno.test("OpenRouter gets its reasoning_details back as they were, also in later turns", () => {
  const author: Author = { wire: "openai_chat", provider: "openrouter", model: "anthropic/claude-sonnet-5" };
  const details = [{ type: "reasoning.text", text: "Hm.", signature: "c2ln", index: 0 }];
  const said = {
    ...answered("", [call("c1", "list", "{}")]),
    reasoning: [{ type: "details", details }],
    by: author,
  } as const;
  const log = [asked("One"), said, result("c1", "list", "a"), answered("Done."), asked("Two")];
  const [first] = answers(sent(log, author, "https://openrouter.ai/api/v1"));
  assert.deepEqual(first?.reasoning_details, details);
  for (
    const [name, url] of [["anthropic_messages", "https://api.anthropic.com"], [
      "ollama",
      "http://localhost:11434",
    ]]
  ) {
    assert.ok(!sent(log, { ...author, wire: name ?? "" }, url ?? "").includes("Hm."));
  }
});

Deno.test("no request holds a thought where its service does not want it", () => {
  const urls = [...services.map(([url]) => url), "https://openrouter.ai/api/v1", "https://api.openai.com/v1"];
  const author = fc.record({
    wire: fc.constantFrom(...WIRES),
    provider: fc.constant("p"),
    model: fc.constantFrom("deepseek-v4-pro", "glm-4.7", "claude-sonnet-5", "m"),
  });
  const entry = fc.record({
    by: author,
    url: fc.constantFrom(...urls),
    calls: fc.boolean(),
    ends: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 12 }), author, fc.constantFrom(...urls), (made, reader, url) => {
      // As the loop stores them: what is kept is the wire's to say.
      const turns: { readonly entries: MessageEntry[]; calls: boolean }[] = [{
        entries: [asked("Go")],
        calls: false,
      }];
      const thoughts: {
        readonly mark: string;
        readonly turn: number;
        readonly by: Author;
        readonly kept: KeptFor | undefined;
      }[] = [];
      for (const [at, { by, url: own, calls, ends }] of made.entries()) {
        const turn = turns.at(-1);
        assert.ok(turn);
        const kept = wire(by.wire).keeps?.(by.model, own);
        const mark = `mark-${at}-`;
        thoughts.push({ mark, turn: turns.length - 1, by, kept });
        turn.calls ||= calls;
        const list = calls ? [call(`c${at}`, "list", "{}")] : [];
        turn.entries.push({
          ...answered("So.", list),
          reasoning: kept === undefined ? [] : [thought(mark, kept)],
          by,
        }, ...list.map(({ id }) => result(id, "list", "a")));
        if (ends) turns.push({ entries: [asked("Next")], calls: false });
      }
      const body = sent(turns.flatMap(({ entries }) => entries), reader, url);
      for (const { mark, turn, by, kept } of thoughts) {
        const isOwn = by.wire === reader.wire && by.model === reader.model;
        const isWanted = kept === "turn"
          ? turn === turns.length - 1
          : kept === "session" && turns[turn]?.calls === true;
        assert.equal(body.includes(mark), isOwn && isWanted && reader.wire !== "anthropic_messages", mark);
      }
    }),
  );
});

async function said(model: ReturnType<typeof createModel>, log: readonly MessageEntry[], effort?: "high") {
  const row = effort === undefined ? MODES.agent : { ...MODES.agent, effort };
  const prompt = view(log, row, { environment, tools: [] });
  return checked(await Array.fromAsync(model.stream(prompt, new AbortController().signal)));
}

Deno.test("a server that refuses an effort is asked without, told nothing of it again, and the user is told", async () => {
  const refusal = 'status 400 {"error":{"message":"Unsupported parameter: \'chat_template_kwargs\'"}}';
  await using server = await ModelServer.start(`${refusal}\n---\nsay One\n---\nsay Two\nnew-history`);
  const model = createModel(engineConfig(server.url));
  const first = await said(model, [asked("Hi")], "high");
  assert.equal(first.text, "One");
  const notices = first.events.flatMap((event) => event.type === "notice" ? [event.text] : []);
  assert.deepEqual(notices, [
    'model-1 does not support effort "high"; using its default.',
  ]);
  assert.equal((await said(model, [asked("Hi")], "high")).text, "Two");
  assert.deepEqual(
    server.requests.map(({ body }) => body.chat_template_kwargs),
    [{ enable_thinking: true, thinking: true }, undefined, undefined],
  );
});

Deno.test("a server that refuses thoughts is sent none again; other refusals stay what they are", async () => {
  const refusal =
    'status 422 {"error":{"message":"Extra inputs are not permitted: messages.2.reasoning_content"}}';
  const missing =
    'status 400 {"error":{"message":"The reasoning_content in the thinking mode must be passed back"}}';
  await using server = await ModelServer.start(
    `${refusal}\n---\nsay One\n---\nsay Two\nnew-history\n---\n${missing}\nnew-history`,
  );
  const model = createModel(engineConfig(server.url));
  assert.equal(model.keeps, "turn");
  const history = [
    asked("Look"),
    { ...answered("", [call("c1", "list", "{}")]), reasoning: [thought("Hm.", "turn")], by: model.author },
    result("c1", "list", "a"),
  ];
  assert.equal((await said(model, history)).text, "One");
  assert.equal(model.keeps, undefined);
  assert.equal((await said(model, history)).text, "Two");
  const has = server.requests.map(({ body }) => JSON.stringify(body).includes("Hm."));
  assert.deepEqual(has, [true, false, false]);
  const { end, error } = await said(model, history, "high");
  assert.equal(end, "failed");
  assert.match(error?.message ?? "", /must be passed back/);
  assert.equal(server.requests.length, 4);
});

Deno.test("a call in the text is made behind a thought, and in a thought it is only told of", async () => {
  const callText =
    'say <tool_call>\nsay {"name": "read_file", "arguments": {"path": "a.ts"}}\nsay </tool_call>';
  const cases = [
    [`say <think>I look.</think>\nsay It is a.\n${callText}`, "It is a.", true],
    [`say I look.\nsay </think>\n${callText}`, "", true],
    // In a thought that nothing ends; at the end of one; where the server tells thoughts apart.
    [`say <think>I look.\n${callText}`, undefined, false],
    [`say <think>I look.\n${callText}\nsay </think>`, "", false],
    [
      "think I look.\nthink <tool_call>\n" +
      'think {"name": "read_file", "arguments": {"path": "a.ts"}}\nthink </tool_call>',
      "",
      false,
    ],
  ] as const;
  for (const [script, text, isMade] of cases) {
    await using server = await ModelServer.start(script);
    const model = createModel(engineConfig(server.url));
    const prompt = view([asked("Look")], MODES.agent, { environment, tools: [READ_FILE] });
    const events = await Array.fromAsync(model.stream(prompt, new AbortController().signal));
    const assembly = new Assembly(model.keeps);
    for (const event of events) {
      for (const delta of event.type === "deltas" ? event.deltas : []) assembly.add(delta);
    }
    const message = assembly.message({ withCalls: true });
    assert.deepEqual(message.calls.map(({ name }) => name), isMade ? ["read_file"] : [], script);
    const shown = events.flatMap((event) => event.type === "done" ? [event.shownCall] : []);
    assert.deepEqual(shown, [isMade ? undefined : "read_file"], script);
    if (text !== undefined) assert.equal(message.text.trim(), text, script);
    if (!isMade) continue;
    assert.ok(message.written?.includes("read_file") && !message.written.includes("think>"), script);
    const [thought] = message.reasoning;
    assert.equal(thought?.type === "plain" ? thought.text : undefined, "I look.", script);
  }
});

Deno.test("however an answer is cut into pieces, its thoughts, its words and its calls are the same", async () => {
  const call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.ts"}}\n</tool_call>';
  const atoms = fc.constantFrom(
    "<think>",
    "</think>",
    "\n",
    "I look. ",
    "`",
    "```\n",
    call,
    "<tool_",
    "It is a.",
  );
  const prompt = view([asked("Look")], MODES.agent, { environment, tools: [READ_FILE] });
  const heard = async (pieces: readonly string[]) => {
    const chunks = pieces.map((content) => ({ choices: [{ delta: { content } }] }));
    const frames = [...chunks, { choices: [{ delta: {}, finish_reason: "stop" }] }].map((one) =>
      JSON.stringify(one)
    );
    const body = [...frames, "[DONE]"].map((frame) => `data: ${frame}\n\n`).join("");
    const answered: typeof fetch = (url) => {
      const status = String(url).endsWith("/chat/completions") ? 200 : 404;
      return Promise.resolve(new Response(new Blob([body]).stream(), { status }));
    };
    const model = createModel(engineConfig("http://127.0.0.1:9"), { fetch: answered });
    const assembly = new Assembly(model.keeps);
    for await (const event of model.stream(prompt, new AbortController().signal)) {
      if (event.type === "failed") throw event.error;
      for (const delta of event.type === "deltas" ? event.deltas : []) assembly.add(delta);
    }
    const { calls, ...message } = assembly.message({ withCalls: true });
    return { ...message, calls: calls.map(({ id: _, ...one }) => one) };
  };
  await fc.assert(
    fc.asyncProperty(
      fc.array(atoms, { maxLength: 8 }),
      fc.integer({ min: 1, max: 9 }),
      async (parts, size) => {
        const answer = parts.join("");
        const pieces = answer.match(new RegExp(`[^]{1,${size}}`, "g")) ?? [];
        assert.deepEqual(await heard(pieces), await heard([answer]));
      },
    ),
    runs(200),
  );
});
