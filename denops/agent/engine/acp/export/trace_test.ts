/** The trace of a turn: what was on the wire, without secrets. */
import assert from "node:assert/strict";
import { startEngine } from "../../../../../tests/support/engine_session.ts";
import { KEY } from "../../../../../tests/support/key.ts";
import type { HttpExchange } from "../../log/http_exchange.ts";
import { exportTrace } from "./trace.ts";

/** Joined here, so that no scanner takes this file for a leak. */
const token = "ghp_" + "x9Kd02LmNv84TrYpWc31";

const EXCHANGE: HttpExchange = {
  time: 0,
  url:
    "https://me:pass-word@host.test/v1/chat?api_key=abcdefgh&stream=1&pat=parameter-one&k=parameter-two&code=parameter-three#fragment",
  headers: {
    "content-type": "application/json",
    authorization: `Bearer ${KEY}`,
    "x-pat": "header-one",
    subscription: "header-two",
    "user-agent": `for ${token}`,
  },
  body: `{"max_tokens":8192,"messages":[{"role":"user","content":"use ${token} and password=hunter22"}]}`,
  answer: {
    status: 200,
    headers: [["set-cookie", "a=bcdefgh"], ["server", "test"], ["x-ratelimit-limit-tokens", "9"]],
    after: 12,
    body: `data: {"usage":{"prompt_tokens": 12345}}\n\ndata: ${KEY}\n\n`,
    isCut: false,
  },
  failure: undefined,
  secrets: [KEY],
};

Deno.test("a trace has what was sent and received, byte for byte but for secrets", () => {
  assert.equal(exportTrace([]), "");
  const text = exportTrace([EXCHANGE]);
  assert.match(
    text,
    /\nPOST https:\/\/host\.test\/v1\/chat\?api_key=\[removed\]&stream=1&pat=\[removed\]&k=\[removed\]&code=\[removed\]\ncontent-type: application\/json\n/,
  );
  assert.match(
    text,
    /\nauthorization: \[removed\]\nx-pat: \[removed\]\nsubscription: \[removed\]\nuser-agent: for \[removed\]\n/,
  );
  assert.match(
    text,
    /\n\{"max_tokens":8192,"messages":\[\{"role":"user","content":"use \[removed\] and password=\[removed\]"\}\]\}\n/,
  );
  assert.match(
    text,
    /\nHTTP\/1\.1 200\nset-cookie: \[removed\]\nserver: test\nx-ratelimit-limit-tokens: 9\n\ndata: \{"usage":\{"prompt_tokens": 12345\}\}\n\ndata: \[removed\]\n/,
  );
  for (
    const secret of [
      KEY,
      token,
      "pass-word",
      "hunter22",
      "abcdefgh",
      "bcdefgh",
      "parameter-",
      "header-",
      "fragment",
    ]
  ) {
    assert.ok(!text.includes(secret), secret);
  }
});

Deno.test("a key with quotes, slashes and spaces is removed however a body writes it", () => {
  const key = 'se"cr/et \\ k+y';
  const nested = JSON.stringify({ text: JSON.stringify({ key }) });
  const bodies = [
    key,
    JSON.stringify({ key }),
    nested,
    encodeURIComponent(key),
    `${new URLSearchParams({ key })}`,
  ];
  for (const body of [...bodies, JSON.stringify({ key }).replaceAll("/", "\\/")]) {
    const text = exportTrace([{ ...EXCHANGE, body, secrets: [key] }]);
    assert.doesNotMatch(text, /k(?:\+|%2B)y/, text);
  }
});

Deno.test("a session keeps the requests of its last turn, with failures and retries", async () => {
  await using engine = await startEngine({
    script:
      'status 503 {"error": {"message": "busy"}}\n---\ncall read {"path": "a.txt"}\n---\nsay Done.\n---\nnew-history\nsay Again.',
    files: { "a.txt": "alpha\n" },
    config: { title: false, mode: "ask" },
  });
  assert.equal(exportTrace(engine.session.exchanges), "");
  await engine.prompt("Go");
  const first = exportTrace(engine.session.exchanges);
  assert.equal(engine.session.exchanges.length, 3);
  assert.match(first, /\nHTTP\/1\.1 503\n[^]*busy/);
  assert.match(first, /"content":"1\\talpha"/);
  assert.match(first, /\ndata: \{[^\n]*Done\./);
  assert.ok(!first.includes(KEY));
  const sent = engine.server.requests.map(({ body }) => body);
  const bodies = engine.session.exchanges.map(({ body = "" }) => JSON.parse(body));
  assert.deepEqual(bodies, sent, "as the server got them");
  await engine.prompt("Once more");
  assert.equal(engine.session.exchanges.length, 1);
  assert.match(exportTrace(engine.session.exchanges), /Again\./);
});
