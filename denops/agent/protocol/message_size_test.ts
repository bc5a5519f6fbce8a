import assert from "node:assert/strict";
import type { AnyMessage } from "../deps/acp_sdk.ts";
import { sizeLimited } from "./message_size.ts";

const LARGE = "x".repeat(30_000_000);

/** Sends messages, and gives what the other side and the own side get of them. */
async function exchange(...messages: readonly AnyMessage[]) {
  const sent: AnyMessage[] = [];
  const stream = sizeLimited({
    readable: new ReadableStream<AnyMessage>({ start: (controller) => controller.close() }),
    writable: new WritableStream<AnyMessage>({ write: (message) => void sent.push(message) }),
  });
  const answers = (async () => {
    const got: AnyMessage[] = [];
    for await (const message of stream.readable) got.push(message);
    return got;
  })();
  const writer = stream.writable.getWriter();
  for (const message of messages) await writer.write(message);
  await writer.close();
  return { sent, answers: await answers };
}

Deno.test("what is small passes, and so does what is nearly too large", async () => {
  const small: AnyMessage = { jsonrpc: "2.0", method: "a", params: { text: "ü" } };
  const large: AnyMessage = { jsonrpc: "2.0", id: 1, result: { text: "x".repeat(20_000_000) } };
  assert.deepEqual((await exchange(small, large)).sent, [small, large]);
});

Deno.test("an answer that is too large is an error that says so", async () => {
  const { sent } = await exchange({ jsonrpc: "2.0", id: 7, result: { text: LARGE } });
  assert.equal(sent.length, 1);
  assert.match(
    JSON.stringify(sent[0]),
    /^\{"jsonrpc":"2.0","id":7,"error":.*the message is too large \(29 MB\)/,
  );
});

Deno.test("a notification that is too large is left out, escapes counted", async () => {
  const controls = "\u0001".repeat(5_000_000);
  const { sent } = await exchange({ jsonrpc: "2.0", method: "a", params: { controls } });
  assert.deepEqual(sent, []);
});
