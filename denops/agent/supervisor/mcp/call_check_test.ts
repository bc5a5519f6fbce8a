import assert from "node:assert/strict";
import fc from "fast-check";
import { CallCheck } from "./call_check.ts";

/** Approvals of calls, each for one. */
function check(text: string, ...approved: readonly string[]) {
  return checkWith(new CallCheck(), text, ...approved);
}

function checkWith(calls: CallCheck, text: string, ...approved: readonly string[]) {
  const left = [...approved];
  let reads = 0;
  const sent = calls.text(text, {
    session: "s",
    spend(tool, input) {
      const at = left.indexOf(`${tool} ${input}`);
      if (at !== -1) left.splice(at, 1);
      return at !== -1;
    },
    reads: () => reads++,
  });
  return { sent, reads, left };
}

const call = (name: unknown, input?: unknown) =>
  `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: input } })}\n`;

Deno.test("a call needs an approval of exactly this tool and these arguments, and uses it up", () => {
  assert.deepEqual(check(call("a", { b: 1 }), 'a {"b":1}'), {
    sent: call("a", { b: 1 }),
    reads: 1,
    left: [],
  });
  assert.deepEqual(check(call("a"), "a {}").left, []);
  for (
    const text of [call("a", { b: 2 }), call("a", { b: 1, c: 2 }), call("b", { b: 1 }), call("a"), call(1)]
  ) {
    assert.throws(() => check(text, 'a {"b":1}'), /was not approved/, text);
  }
  assert.throws(() => check(call("a") + call("a"), "a {}"), /was not approved/);
});

Deno.test("a call is repeated with the user's words ten times at most, and only an approved one", () => {
  const round = (input: unknown) =>
    call("a", input).replace('"arguments"', '"inputResponses":{"x":{}},"arguments"');
  const calls = new CallCheck();
  assert.throws(() => checkWith(calls, round({ b: 1 })), /not approved/);
  checkWith(calls, call("a", { b: 1 }), 'a {"b":1}');
  assert.throws(() => checkWith(calls, round({ b: 2 })), /not approved/);
  assert.throws(() => checkWith(calls, call("a", { b: 1 })), /not approved/);
  for (let count = 0; count < 10; count++) checkWith(calls, round({ b: 1 }));
  assert.throws(() => checkWith(calls, round({ b: 1 })), /not approved/);
});

Deno.test("reading a resource or a prompt is noted, and plain requests pass", () => {
  const line = (method: string) => `${JSON.stringify({ jsonrpc: "2.0", id: 1, method })}\n`;
  assert.equal(check(line("resources/read")).reads, 1);
  assert.equal(check(line("prompts/get")).reads, 1);
  const plain = line("initialize") + line("tools/list") + line("notifications/cancelled");
  assert.deepEqual(check(plain), { sent: plain, reads: 0, left: [] });
  const answer = '{"jsonrpc":"2.0","id":1,"result":{}}\n';
  assert.equal(check(answer).sent, answer);
});

Deno.test("other methods, batches, parts of lines and doubled keys never reach a server", () => {
  const refused = [
    '{"jsonrpc":"2.0","id":1,"method":"tasks/result"}\n',
    '{"jsonrpc":"2.0","id":1,"method":"TOOLS/CALL","params":{"name":"a"}}\n',
    '{"jsonrpc":"2.0","id":1,"method":["tools/call"]}\n',
    '{"bridge_token":"x"}\n',
    `[${call("a").trim()}]\n`,
    call("a").trim(),
    `x${call("a")}`,
    `\n${call("a")}`,
    "1\n",
  ];
  for (const text of refused) assert.throws(() => check(text, "a {}"), Error, text);
  // The last one counts, and only it is sent.
  const doubled = '{"method":"tools/call","params":{"name":"a"},"method":"ping"}\n';
  assert.deepEqual(JSON.parse(check(doubled).sent), { method: "ping", params: { name: "a" } });
  assert.throws(
    () => check('{"method":"ping","\\u006dethod":"tools/call","params":{"name":"a"}}\n'),
    /not approved/,
  );
});

Deno.test("no text calls a tool without an approval", () => {
  const part = fc.constantFrom(
    '{"method":"',
    "tools/call",
    '","params":{"name":"a"}}',
    "\n",
    "{",
    "}",
    "[",
    "]",
    ",",
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      let sent = "";
      try {
        ({ sent } = check(parts.join("")));
      } catch {
        return;
      }
      for (const line of sent.split("\n").slice(0, -1)) {
        assert.notEqual(JSON.parse(line).method, "tools/call");
      }
    }),
    { numRuns: 1_000 },
  );
});
