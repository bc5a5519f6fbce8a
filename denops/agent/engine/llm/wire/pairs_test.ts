/**
 * A session that goes on with another model: what one has written, as the other is sent it. Every call and every result
 * is there once and in order, nothing that only its author can read, and nothing that the other would refuse.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { checkRequest } from "../../../../../tests/model/model_checks.ts";
import { isObject, type JsonObject, messagesOf } from "../../../../../tests/model/model_messages.ts";
import { signatureOf } from "../../../scripted_model/wire_anthropic.ts";
import { asked } from "../../../../../tests/support/entries.ts";
import { engineConfig } from "../../../../../tests/support/engine_config.ts";
import { GIF_IMAGE, PNG_IMAGE, READ_FILE } from "../../../../../tests/support/histories.ts";
import { KEY } from "../../../../../tests/support/key.ts";
import { runs } from "../../../../../tests/support/runs.ts";
import type { WireName } from "../../../protocol/providers.ts";
import { MODES } from "../../context/modes.ts";
import { view } from "../../context/view.ts";
import type { MessageEntry } from "../../log/entries.ts";
import type { Author, Reasoning, ToolCall } from "../../log/messages.ts";
import { createModel } from "../model.ts";

/** A provider with a model; each refuses something else. */
const SIDES: Readonly<Record<string, Author & { readonly wire: WireName; readonly url: string }>> = {
  "OpenAI's chat": side("openai_chat", "gpt-4.1", "https://api.openai.com/v1"),
  "Mistral": side("openai_chat", "mistral-large-latest", "https://api.mistral.ai/v1"),
  "Gemini": side("openai_chat", "gemini-3-pro", "https://generativelanguage.googleapis.com/v1beta/openai"),
  "DeepSeek": side("openai_chat", "deepseek-v4-flash", "https://api.deepseek.com/v1"),
  "OpenAI's responses": side("openai_responses", "gpt-5", "https://api.openai.com/v1"),
  "Anthropic": side("anthropic_messages", "claude-sonnet-5", "https://api.anthropic.com"),
  // Signed and encrypted for somebody else.
  "Responses elsewhere": side("openai_responses", "gpt-5.6-sol", "https://gateway.test/v1"),
  "Claude elsewhere": side("anthropic_messages", "claude-opus-5", "https://gateway.test"),
  "Ollama": side("ollama", "qwen3:32b", "http://127.0.0.1:11434"),
};
type Side = typeof SIDES[string];

function side(wire: WireName, model: string, url: string) {
  return { wire, provider: new URL(url).hostname, model, url };
}

/** Ids of every form that providers and servers have; some differ only in what another does not take. */
const ID_FORMS: readonly ((at: number) => string)[] = [
  (at) => `call_${at}`,
  (at) => `toolu_01${"A".repeat(20)}${at}`,
  (at) => `functions.read_file:${at}`,
  (at) => `functions_read_file_${at}`,
  (at) => String(at).padStart(9, "a"),
  (at) => `${"x".repeat(64)}${at}`,
  (at) => `chatcmpl-tool-${String(at).padStart(32, "0")}`,
  (at) => `ü😀 ${at}|fc`,
];

/** `#` is where the call's own mark is. */
const ARGUMENTS = [
  '{"path": "#"}',
  '{"path": "#',
  "#",
  '["#"]',
  "{'path': '#',}",
  '{"path":"#","n":{"a":[1]}}',
];
const NAMES = ["read_file", "functions.read file", "", "x".repeat(80)];
const words = fc.constantFrom("", " ", "Well.", "line\nline\n", "ü😀", "half \ud83d");

const calls = fc.array(
  fc.record({
    id: fc.nat({ max: ID_FORMS.length - 1 }),
    name: fc.constantFrom(...NAMES),
    arguments: fc.constantFrom(...ARGUMENTS),
    result: fc.constantFrom("done", "empty", "error", "image", "images", "missing"),
  }),
  { maxLength: 3 },
);
const steps = fc.array(
  fc.record({
    text: words,
    calls,
    thoughts: fc.nat({ max: 3 }),
    inText: fc.boolean(),
    isInterrupted: fc.boolean(),
    note: fc.constantFrom(undefined, "output_limit", "rules", "agents"),
  }),
  { minLength: 1, maxLength: 3 },
);
const turns = fc.array(fc.record({ asked: words, image: fc.boolean(), steps, isFirst: fc.boolean() }), {
  minLength: 1,
  maxLength: 4,
});
type Turns = typeof turns extends fc.Arbitrary<infer T> ? T : never;

interface Played {
  readonly log: readonly MessageEntry[];
  /** Marks of calls and results, in order. */
  readonly marks: readonly string[];
  /** What only its author can read, by author. */
  readonly secrets: ReadonlyMap<Side, readonly string[]>;
  /** What goes back to its author. */
  readonly kept: ReadonlyMap<Side, readonly string[]>;
  readonly images: number;
}

/** What a model of this wire keeps with its answer. */
function thoughtsOf(
  by: Side,
  count: number,
  mark: string,
  text: string,
  calls: number,
): readonly Reasoning[] {
  const all = Array.from({ length: count }, (_, at) => `${mark}${at}`);
  switch (by.wire) {
    case "anthropic_messages":
      return all.map((text, at) =>
        at === 1 ? { type: "redacted", data: text } : { type: "signed", text, signature: signatureOf(text) }
      );
    case "openai_responses":
      return all.flatMap((thought, at): readonly Reasoning[] => [
        ...(at === 1 ? [{ type: "phase", phase: "commentary", text: 0 } as const] : []),
        {
          type: "encrypted",
          summary: [thought],
          data: signatureOf(thought),
          text: at === 0 ? 0 : text.length,
          calls: Math.min(calls, at),
        },
      ]);
    default:
      return by.model.startsWith("deepseek")
        ? all.slice(0, 1).map((text) => ({ type: "plain", text, for: "session" }))
        : [];
  }
}

function secretsIn(part: Reasoning): readonly string[] {
  switch (part.type) {
    case "signed":
      return [part.text, part.signature];
    case "redacted":
      return [part.data];
    case "encrypted":
      return [...part.summary, part.data];
    case "plain":
      return [part.text];
    case "details":
      return [JSON.stringify(part.details)];
    case "phase":
      return [];
  }
}

function play(played: Turns, one: Side, other: Side): Played {
  const log: MessageEntry[] = [];
  const marks: string[] = [];
  const secrets = new Map<Side, string[]>([[one, []], [other, []]]);
  const kept = new Map<Side, string[]>([[one, []], [other, []]]);
  let count = 0;
  let images = 0;
  for (const { asked: text, image, steps, isFirst } of played) {
    const { type, origin, parts } = asked(text);
    const shown = { type: "given", kind: "image", label: "a.png", text: "a.png", image: PNG_IMAGE } as const;
    log.push({ type, origin, parts: image ? [...parts, shown] : parts });
    if (image) images += 1;
    const by = isFirst ? one : other;
    for (const step of steps) {
      count += 1;
      const made = step.isInterrupted ? [] : step.calls;
      const own: ToolCall[] = made.map((call, at) => {
        count += 1;
        const extra = by.model.startsWith("gemini") && !step.inText && at === 0
          ? { extra: { google: { thought_signature: `secret${count}.` } } }
          : {};
        if ("extra" in extra) secrets.get(by)?.push(`secret${count}.`);
        if ("extra" in extra) kept.get(by)?.push(`secret${count}.`);
        return {
          id: ID_FORMS[call.id]?.(count) ?? "",
          name: call.name,
          arguments: call.arguments.replace("#", `arg${count}.`),
          ...extra,
        };
      });
      const reasoning = thoughtsOf(by, step.thoughts, `secret${count}_`, step.text, own.length);
      const isWritten = step.inText && own.length > 0 && by.wire !== "anthropic_messages";
      const mark = `<secret${count}>`;
      const written = isWritten ? { written: [mark, ...own.map((call) => call.arguments)].join(" ") } : {};
      if (isWritten) secrets.get(by)?.push(mark);
      secrets.get(by)?.push(...reasoning.flatMap(secretsIn));
      // What led to nothing goes to nobody.
      const led = reasoning.filter((part) => part.type !== "encrypted" || part.calls < own.length);
      if (own.length > 0) kept.get(by)?.push(...led.flatMap(secretsIn));
      const { wire, provider, model } = by;
      log.push({
        ...{
          type: "assistant_message",
          text: step.text,
          calls: own,
          reasoning,
          by: { wire, provider, model },
        },
        ...written,
        ...(step.isInterrupted ? { interrupted: true as const } : {}),
      });
      marks.push(...own.map((call) => /arg\d+\./.exec(call.arguments)?.[0] ?? ""));
      for (const [at, { id, name }] of own.entries()) {
        const kind = made[at]?.result;
        if (kind === "missing") continue;
        count += 1;
        const mark = kind === "empty" ? "" : `res${count}.`;
        if (mark !== "") marks.push(mark);
        const shown = kind === "image" ? [PNG_IMAGE] : kind === "images" ? [PNG_IMAGE, GIF_IMAGE] : [];
        images += shown.length;
        log.push({
          ...{ type: "tool_result", id, name, text: mark, isError: kind === "error" },
          ...(shown.length === 0 ? {} : { images: shown }),
        });
      }
      if (step.note === "rules" || step.note === "agents") {
        log.push({ type: "control_note", reason: step.note, text: "A note." });
      }
      if (own.length === 0) log.push({ type: "control_note", reason: "output_limit", text: "Go on." });
    }
  }
  return { log, marks, secrets, kept, images };
}

/** What this side is sent of the log. */
async function sentTo(
  to: Side,
  log: readonly MessageEntry[],
  native = true,
): Promise<readonly [JsonObject, JsonObject]> {
  let sent: readonly [JsonObject, JsonObject] = [{}, {}];
  const fetchImpl: typeof fetch = (input, init) => {
    if (String(input).endsWith("/api/show")) {
      return Promise.resolve(Response.json({ capabilities: ["tools", "vision", "thinking"] }));
    }
    const body: unknown = JSON.parse(String(init?.body));
    if (isObject(body)) sent = [body, Object.fromEntries(new Headers(init?.headers))];
    return Promise.resolve(new Response("", { status: 400 }));
  };
  const { provider, model, url, wire } = to;
  const config = engineConfig("http://127.0.0.1", wire, {
    model,
    vision: true,
    ...(native ? {} : { native_tools: false }),
    provider: { name: provider, wire, base_url: url, headers: {}, api_key: KEY, key_source: "KEY" },
  });
  const inputs = { environment: { roots: ["/p"], os: "linux" }, tools: [READ_FILE], model };
  const prompt = view(log, MODES.agent, inputs);
  await Array.fromAsync(
    createModel(config, { fetch: fetchImpl }).stream(prompt, new AbortController().signal),
  );
  return sent;
}

function occurrences(text: string, part: string): number {
  return text.split(part).length - 1;
}

const NAMED: readonly (readonly [string, Side])[] = Object.entries(SIDES);
const RUNS = runs(12);
/** With more, Anthropic takes only small ones. */
const MOST_IMAGES = 20;

/** What is wrong with this request by itself, and that the marks are there once and in order. @returns its messages */
function checkSent(to: Side, { marks }: Played, [body, headers]: readonly [JsonObject, JsonObject]): string {
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  assert.deepEqual(checkRequest(to.wire, texts, body), []);
  const sent = JSON.stringify(body.messages ?? body.input);
  for (const mark of marks) assert.equal(occurrences(sent, mark), 1, `${mark} is there once`);
  const places = marks.map((mark) => sent.indexOf(mark));
  assert.deepEqual(places, places.toSorted((a, b) => a - b), "in the order in which they came");
  return sent;
}

for (const [to, other] of NAMED) {
  for (const [from, one] of NAMED) {
    Deno.test(`${from} has written it, ${to} reads on`, async () => {
      const reads = async (turns: Turns) => {
        const played = play(turns, one, other);
        const { log, secrets, kept, images } = played;
        fc.pre(images <= MOST_IMAGES);
        const request = await sentTo(other, log);
        const sent = checkSent(other, played, request);
        const messages = messagesOf(other.wire, request[0]);
        const ids = messages.flatMap(({ calls }) => calls.map(({ id }) => id));
        assert.deepEqual(messages.flatMap(({ results }) => results.map(({ id }) => id)), ids);
        const calls = log.flatMap((entry) => entry.type === "assistant_message" ? entry.calls : []);
        assert.equal(ids.length, calls.length);
        assert.equal(messages.flatMap(({ images }) => images).length, images);
        for (const own of kept.get(other) ?? []) assert.ok(sent.includes(own), `${own} goes back to ${to}`);
        for (const secret of one === other ? [] : secrets.get(one) ?? []) {
          assert.ok(!sent.includes(secret), `${secret} is ${from}'s`);
        }
      };
      await fc.assert(fc.asyncProperty(turns, reads), RUNS);
    });
  }

  Deno.test(`all have written it, ${to} reads on in text`, async () => {
    const reads = async (turns: Turns, [from, one]: readonly [string, Side]) => {
      const played = play(turns, one, other);
      const request = await sentTo(other, played.log, false);
      const sent = checkSent(other, played, request);
      const messages = messagesOf(other.wire, request[0]);
      assert.ok(
        messages.every(({ calls, results, images }) => calls.length + results.length + images.length === 0),
      );
      assert.equal(request[0].tools, undefined);
      const roles = messages.map(({ role }) => role).filter((role) => role !== "system");
      assert.ok(roles.every((role, at) => role !== roles[at - 1]), "roles alternate");
      for (const secret of one === other ? [] : played.secrets.get(one) ?? []) {
        assert.ok(!sent.includes(secret), `${secret} is ${from}'s`);
      }
    };
    await fc.assert(fc.asyncProperty(turns, fc.constantFrom(...NAMED), reads), RUNS);
  });
}
