import assert from "node:assert/strict";
import fc from "fast-check";
import { ANY_CHARACTER } from "../../../tests/support/any_character.ts";
import { bytewise, cutAt, cuts, utf8 } from "../../../tests/support/pieces.ts";
import { assertEachLinear } from "../../../tests/support/growth.ts";
import { type AnyMessage, MessageTooLargeError } from "../deps/acp_sdk.ts";
import { messageStream, type Passing } from "./message_stream.ts";

const LARGE = "x".repeat(30_000_000);
const note = (text: string): AnyMessage => ({ jsonrpc: "2.0", method: "a", params: { text } });

/** Sends messages while these bytes come, and gives what the other side and the own side get. */
async function exchange(
  pieces: readonly Uint8Array[],
  messages: readonly AnyMessage[] = [],
  passing?: Passing,
) {
  const left = pieces.map((piece) => new Uint8Array(piece));
  let sent = "";
  const sentAll = Promise.withResolvers<void>();
  const stream = messageStream({
    async read() {
      const piece = left.shift();
      if (piece === undefined) await sentAll.promise;
      return piece;
    },
    async write(bytes) {
      await null;
      sent += new TextDecoder().decode(bytes);
    },
  }, passing);
  const reading = Array.fromAsync(stream.readable);
  const writer = stream.writable.getWriter();
  await Promise.all(messages.map((message) => writer.write(message)));
  sentAll.resolve();
  const got = await reading;
  return { got, sent: sent.split("\n").slice(0, -1).map((line): AnyMessage => JSON.parse(line)) };
}

const text = fc.string({ unit: ANY_CHARACTER, maxLength: 20 }).map((any) => any.toWellFormed());

Deno.test("any messages come as they were sent, however their bytes are cut", async () => {
  const ends = fc.constantFrom("\n", "\r\n", "\n\n \n");
  await fc.assert(
    fc.asyncProperty(
      ...[fc.array(text, { maxLength: 5 }), ends, fc.boolean(), cuts] as const,
      async (texts, end, isWhole, places) => {
        const messages = texts.map(note);
        const { sent } = await exchange([], messages);
        assert.deepEqual(sent, messages);
        const lines = messages.map((message) => JSON.stringify(message)).join(end);
        const bytes = utf8(lines + (isWhole ? end : ""));
        assert.deepEqual((await exchange(cutAt(bytes, places))).got, messages);
        assert.deepEqual((await exchange(bytewise(bytes))).got, messages);
      },
    ),
    { examples: [[["\uFEFF"], "\n", false, []]] },
  );
});

Deno.test("a line that is no message is answered, and costs no other", async () => {
  const lines = ["npm warn deprecated", JSON.stringify(note("a")), "{", JSON.stringify(note("b"))];
  const { got, sent } = await exchange([utf8(lines.join("\n"))]);
  assert.deepEqual(got, [note("a"), note("b")]);
  const refusal = { jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } };
  assert.deepEqual(sent, [refusal, refusal]);
});

Deno.test("whatever passes is shown on the way, and what may not arrive is left out", async () => {
  const arrived: unknown[] = [];
  const left: unknown[] = [];
  const passing = {
    arrives: (message: AnyMessage) => arrived.push(message) < 3,
    leaves: (message: AnyMessage) => void left.push(message),
  };
  const lines = ["5", "null", "[]", JSON.stringify(note("a")), JSON.stringify(note("b"))].join("\n");
  const { got, sent } = await exchange([utf8(lines)], [note("c")], passing);
  assert.deepEqual(got, [5, null, [], note("a")]);
  assert.deepEqual(sent, [note("c")]);
  assert.deepEqual(arrived, [[], note("a"), note("b")]);
  assert.deepEqual(left, [note("c")]);
});

Deno.test("what is nearly too large passes", async () => {
  const large: AnyMessage = { jsonrpc: "2.0", id: 1, result: { text: "x".repeat(20_000_000) } };
  assert.deepEqual((await exchange([], [note("ü"), large])).sent, [note("ü"), large]);
});

Deno.test("an answer that is too large is an error that says so", async () => {
  const { sent } = await exchange([], [{ jsonrpc: "2.0", id: 7, result: { text: LARGE } }]);
  assert.equal(sent.length, 1);
  assert.match(
    JSON.stringify(sent[0]),
    /^\{"jsonrpc":"2.0","id":7,"error":.*the message is too large \(29 MB\)/,
  );
});

Deno.test("a request that is too large fails here", async () => {
  const { got, sent } = await exchange([], [{ jsonrpc: "2.0", id: 7, method: "a", params: { text: LARGE } }]);
  assert.deepEqual(sent, []);
  assert.match(JSON.stringify(got), /^\[\{"jsonrpc":"2.0","id":7,"error":.*too large \(29 MB\)/);
});

Deno.test("a notification that is too large is left out, escapes counted", async () => {
  const { sent } = await exchange([], [note("\u0001".repeat(5_000_000))]);
  assert.deepEqual(sent, []);
});

Deno.test("a line without end ends the connection", async () => {
  const piece = utf8("x".repeat(2 ** 20));
  await assert.rejects(exchange(Array.from({ length: 40 }, () => piece)), MessageTooLargeError);
});

Deno.test("lines cost time in proportion to their length: a long one in pieces, many short ones at once", async () => {
  const long = (size: number) => bytewise(utf8(`${JSON.stringify(note("x".repeat(size)))}\n`));
  const short = (size: number) => [utf8(`${JSON.stringify(note("x"))}\n`.repeat(size))];
  const rows = ["long", "short"] as const;
  await assertEachLinear(rows, (row, size) => {
    const pieces = { long, short }[row](size);
    return async () => assert.ok((await exchange(pieces)).got.length > 0);
  }, 2_000);
});
