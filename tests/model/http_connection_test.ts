import assert from "node:assert/strict";
import { ModelServer } from "./model_server.ts";

/** What a server sends for `bytes`, written in pieces of `size`, until it closes the connection. */
async function exchange(url: string, bytes: Uint8Array, size: number): Promise<string> {
  using conn = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(url).port) });
  conn.setNoDelay(true);
  for (let at = 0; at < bytes.length;) {
    at += await conn.write(bytes.subarray(at, Math.min(at + size, bytes.length)));
  }
  return await new Response(conn.readable).text();
}

Deno.test("requests are read however they come: chunked, in pieces, several at once", async () => {
  const body = '{"model":"ü"}';
  const encoder = new TextEncoder();
  const chunks = [...encoder.encode(body)].flatMap((byte) => [...encoder.encode("1\r\n"), byte, 13, 10]);
  const head =
    "POST /api/chat HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n";
  const next = `0\r\n\r\nPOST /api/chat HTTP/1.1\r\nConnection: close\r\nContent-Length: ${
    body.length + 1
  }\r\n\r\n${body}`;
  const all = new Uint8Array([...encoder.encode(head), ...chunks, ...encoder.encode(next)]);
  for (const size of [1, 7, 10_000]) {
    await using server = await ModelServer.start("say one\n---\nsay two");
    const answer = await exchange(server.url, all, size);
    assert.match(
      answer,
      /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n.*one.*\r\n0\r\n\r\nHTTP\/1\.1 200 OK\r\n.*two.*\r\n0\r\n\r\n$/s,
    );
    assert.deepEqual(server.requests.map((request) => request.body), [{ model: "ü" }, { model: "ü" }]);
  }
});

Deno.test("a connection that ends in the middle of a request is no request", async () => {
  await using server = await ModelServer.start("say one");
  const half = new TextEncoder().encode("POST /api/chat HTTP/1.1\r\nContent-Length: 100\r\n\r\n{");
  {
    using conn = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(server.url).port) });
    await conn.write(half);
  }
  await (await fetch(`${server.url}/api/tags`)).text();
  assert.deepEqual([server.requests, server.problems], [[], []]);
});
