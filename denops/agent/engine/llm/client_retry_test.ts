/** When the model client tries again, and when it keeps what came. */
import assert from "node:assert/strict";
import { ModelServer } from "../../../../tests/model/model_server.ts";
import { KEY } from "../../../../tests/support/key.ts";
import { listen, serve, stream } from "../../../../tests/support/model_client.ts";
import { WIRES } from "../../protocol/providers.ts";
import type { ModelEvent } from "./client.ts";

const secrets = [KEY];

for (const status of [408, 409, 429, 500, 502, 503, 529]) {
  Deno.test(`HTTP ${status} is tried again after the time that it asks for`, async () => {
    await using server = await ModelServer.start(`status ${status} retry-after-ms=2\n---\nsay Fine`, {
      secrets,
    });
    const { text, retries, end } = await listen(server.url);
    assert.deepEqual([end, text], ["done", "Fine"]);
    assert.deepEqual(retries.map(({ attempt, tries, waitMs }) => ({ attempt, tries, waitMs })), [
      { attempt: 1, tries: 5, waitMs: 2 },
    ]);
    assert.match(retries[0]?.reason ?? "", new RegExp(`HTTP ${status}`));
    assert.deepEqual(server.problems, []);
  });
}

Deno.test("five tries, then the last error", async () => {
  await using server = await ModelServer.start("repeat\nstatus 503 retry-after-ms=1", { secrets });
  const { error, retries } = await listen(server.url);
  assert.equal(error?.kind, "overloaded");
  assert.deepEqual(retries.map(({ attempt }) => attempt), [1, 2, 3, 4]);
  assert.equal(server.requests.length, 5);
});

Deno.test("an account without credit is told at once, and not asked again", async () => {
  const body =
    '{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","code":"insufficient_quota"}}';
  await using server = await ModelServer.start(`status 429 retry-after-ms=1 ${body}`, { secrets });
  const { error, retries } = await listen(server.url);
  const { message } = error ?? {};
  assert.match(
    message ?? "",
    /^Cannot use \S+: the account's quota is used up .* Check its plan and billing\.$/,
  );
  assert.equal(error?.kind, "auth");
  assert.deepEqual(retries, []);
  assert.equal(server.requests.length, 1);
});

Deno.test("Anthropic's error for an account without credit is reported as such", async () => {
  const message = "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.";
  const body = JSON.stringify({ type: "error", error: { type: "invalid_request_error", message } });
  await using server = await ModelServer.start(`status 400 ${body}`, { secrets });
  const { error } = await listen(server.url, { wire: "anthropic_messages" });
  assert.match(
    error?.message ?? "",
    /^Cannot use test: the account has no credit left \(HTTP 400: Your .*\)\. Check its plan and billing\.$/,
  );
});

Deno.test("a long silence is reported once for all attempts, before the answer or within it", async () => {
  const notice = "test has sent nothing for 0.05 s. The request fails after 60 s (limits.request_timeout).";
  const failing = "wait here\ncut\n---\nslow 200\nsay One.";
  for (const script of ["wait here\nsay One.", "say One\nwait here\nsay , two.", failing]) {
    await using server = await ModelServer.start(script, { secrets });
    const notices: string[] = [];
    for await (const event of stream(server.url, { timeout: 60, quiet: 0.05 })) {
      if (event.type === "notice") {
        notices.push(event.text);
        server.release("here");
      }
    }
    assert.deepEqual(notices, [notice]);
  }
  await using quick = await ModelServer.start("say One.", { secrets });
  const { events } = await listen(quick.url, { timeout: 60 });
  assert.ok(events.every(({ type }) => type !== "notice"));
});

Deno.test("a quota of the minute, as Gemini's, is waited for", async () => {
  const body =
    '{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED"}}';
  await using server = await ModelServer.start(`status 429 retry-after-ms=1 ${body}\n---\nsay Fine`, {
    secrets,
  });
  assert.equal((await listen(server.url)).text, "Fine");
});

Deno.test("a provider that asks for hours is not waited for", async () => {
  for (const wait of ["retry-after=86400", "retry-after-ms=600001"]) {
    await using server = await ModelServer.start(`status 429 ${wait}`, { secrets });
    const { error, retries } = await listen(server.url);
    assert.equal(error?.kind, "rate_limited");
    assert.deepEqual(retries, []);
    assert.equal(server.requests.length, 1);
  }
});

Deno.test("the temperature's refusal counts as no try", async () => {
  const refused = 'status 400 {"error":{"message":"temperature is deprecated for this model"}}';
  const busy = "status 503 retry-after-ms=1";
  await using server = await ModelServer.start([refused, busy, busy, busy, busy, "say Fine"].join("\n---\n"));
  const request = {
    model: "m",
    system: "s",
    messages: [{ role: "user", text: "Hi" }] as const,
    tools: [],
    temperature: 1,
    contextWindow: 9,
  };
  assert.equal((await listen(server.url, { request })).text, "Fine");
});

/** What can be tried again as long as nothing came; these answers ask for no time, so the wait is real. */
const breaks: Readonly<Record<string, string>> = {
  "the connection breaks": "cut",
  "the body ends": "eof",
  "the provider is overloaded": "error overloaded_error Overloaded",
};

Deno.test("what breaks before the first delta is tried again", async () => {
  const played = Object.entries(breaks).flatMap(([what, script]) =>
    WIRES.map((wire) => ({ what, script, wire }))
  );
  await Promise.all(played.map(async ({ what, script, wire }) => {
    await using server = await ModelServer.start(`${script}\n---\nsay Fine`, { secrets });
    const { end, text, retries } = await listen(server.url, { wire });
    assert.deepEqual([end, text, retries.length], ["done", "Fine", 1], `${wire}: ${what}`);
    assert.ok((retries[0]?.waitMs ?? 0) >= 500);
    assert.deepEqual(server.problems, []);
  }));
});

Deno.test("the connection is closed without a word: tried again", async () => {
  let connections = 0;
  await using server = serve(() => {
    connections++;
    return Promise.resolve();
  });
  const events: ModelEvent[] = [];
  const controller = new AbortController();
  for await (const event of stream(server.url, { signal: controller.signal })) {
    events.push(event);
    controller.abort();
  }
  assert.deepEqual(events.map(({ type }) => type), ["retry", "cancelled"]);
  assert.equal(connections, 1);
});

for (const [what, script] of Object.entries(breaks)) {
  Deno.test(`after the first delta what came is kept: ${what}`, async () => {
    for (const wire of WIRES) {
      for (const content of ["say Half", "think Half", "call list"]) {
        // Ollama's calls come whole: it has to be told of one before the end.
        await using server = await ModelServer.start(`${content}\n${script}\n---\nsay never`, { secrets });
        const { end, retries, events } = await listen(server.url, { wire });
        assert.deepEqual(
          [end, retries.length, events[0]?.type],
          ["failed", 0, "deltas"],
          `${wire}: ${content}`,
        );
        assert.equal(server.requests.length, 1);
      }
    }
  });
}

Deno.test("silence before the answer is tried again, in the middle it is the end", async () => {
  await using server = await ModelServer.start("wait here\nsay never\n---\nsay Half\nwait here\nsay never", {
    secrets,
  });
  const { retries, text, error } = await listen(server.url, { timeout: 0.05 });
  assert.match(retries[0]?.reason ?? "", /^No answer from test for 0\.05 s\.$/);
  assert.equal(text, "Half");
  assert.equal(error?.kind, "network");
  await server.aborted();
  await server.aborted();
});

Deno.test("silence in an error's body does not hold the client", async () => {
  await using server = serve(async (http) => {
    await http.begin(400, {});
    await http.write(new TextEncoder().encode("Wrong"));
    await new Promise<void>((resolve) => http.gone.addEventListener("abort", () => resolve()));
  });
  const { error } = await listen(server.url, { timeout: 0.05 });
  assert.match(error?.message ?? "", /HTTP 400: Wrong/);
});

Deno.test("every byte counts as a sign of life, also one that is no event", async () => {
  // Far apart on a quiet machine, and far from the limit on a busy one.
  const comments = Array.from({ length: 12 }, () => "garbage : keep-alive").join("\n");
  await using server = await ModelServer.start(`slow 500\n${comments}\nsay Fine`, { secrets });
  const { text, retries } = await listen(server.url, { timeout: 5 });
  assert.equal(text, "Fine");
  assert.deepEqual(retries, []);
});

Deno.test("a timeout longer than any timer is none", async () => {
  await using server = await ModelServer.start("say Fine", { secrets });
  assert.equal((await listen(server.url, { timeout: 1e9 })).text, "Fine");
});
