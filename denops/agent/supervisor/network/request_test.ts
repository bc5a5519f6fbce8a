import assert from "node:assert/strict";
import fc from "fast-check";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { RequestBody } from "./request_body.ts";
import { parseRequest, requestHead } from "./request_head.ts";

function head(first: string, ...headers: readonly string[]): string {
  return [first, ...headers].join("\r\n");
}

Deno.test("a tunnel and a plain request are read with their host", () => {
  assert.deepEqual(parseRequest(head("CONNECT A.test:443 HTTP/1.1", "Host: b.test")), {
    kind: "connect",
    target: { name: "a.test", port: 443 },
  });
  const request = parseRequest(head("GET http://a.test:8080/x?y HTTP/1.1", "Host: evil.test", "Accept: */*"));
  assert.ok(request.kind === "plain");
  assert.deepEqual(request.target, { name: "a.test", port: 8080 });
  assert.equal(
    requestHead(request),
    "GET /x?y HTTP/1.1\r\nHost: a.test:8080\r\nAccept: */*\r\nConnection: close\r\n\r\n",
  );
  assert.equal(
    requestHead(request, { authorization: "Basic eA==" }),
    "GET http://a.test:8080/x?y HTTP/1.1\r\nHost: a.test:8080\r\nAccept: */*\r\n" +
      "Proxy-Authorization: Basic eA==\r\nConnection: close\r\n\r\n",
  );
});

Deno.test("headers of one connection end at the proxy, those of the body stay", () => {
  const request = parseRequest(head(
    "POST http://a.test HTTP/1.1",
    "Connection: Content-Length, Upgrade",
    "Upgrade: h2c",
    "Proxy-Authorization: Basic secret",
    "Content-Length: 3",
  ));
  assert.ok(request.kind === "plain");
  assert.equal(
    requestHead(request),
    "POST / HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\nConnection: close\r\n\r\n",
  );
});

Deno.test("whatever two readers could understand in two ways is refused", () => {
  const get = "GET http://a.test/ HTTP/1.1";
  for (
    const text of [
      "",
      "GET / HTTP/1.1",
      "GET https://a.test/ HTTP/1.1",
      "GET http:///x HTTP/1.1",
      "GET http://u:p@a.test/ HTTP/1.1",
      "GET http://a.test@evil.test/ HTTP/1.1",
      "GET http://a.test\\@evil.test/ HTTP/1.1",
      "GET http://a.test:99999999/ HTTP/1.1",
      "GET  http://a.test/ HTTP/1.1",
      "GET http://a.test/ HTTP/1.1 ",
      "GET http://a.test/ HTTP/2.0",
      "GET http://a.test/#x HTTP/1.1",
      "G\nT http://a.test/ HTTP/1.1",
      "CONNECT a.test HTTP/1.1",
      "CONNECT http://a.test:443 HTTP/1.1",
      "CONNECT a.test:443/x HTTP/1.1",
      `CONNECT ${"a".repeat(300)}:443 HTTP/1.1`,
      head(get, "Content-Length : 3"),
      head(get, " folded: 1"),
      head(get, "a: 1\nb: 2"),
      head(get, "a: 1\rb: 2"),
      head(get, "a: \0"),
      head(get, "Content-Length: 3", "Content-Length: 3"),
      head(get, "Content-Length: 3, 4"),
      head(get, "Content-Length: +3"),
      head(get, "Content-Length: 3", "Transfer-Encoding: chunked"),
      head(get, "Transfer-Encoding: gzip, chunked"),
      head(get, "Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
      head(get, "Transfer-Encoding: xchunked"),
    ]
  ) assert.equal(parseRequest(text).kind, "invalid", JSON.stringify(text));
});

Deno.test("a head of any bytes throws nothing, and brings no line of its own into the next head", () => {
  const part = fc.constantFrom(
    "GET",
    " ",
    "http://a.test/",
    "HTTP/1.1",
    "\r\n",
    "\n",
    "\r",
    "a",
    ":",
    "CONNECT",
    "b:1",
  );
  const text = fc.oneof(
    fc.array(fc.nat(255)).map((codes) => String.fromCharCode(...codes)),
    fc.array(part, { maxLength: 14 }).map((parts) => parts.join("")),
  );
  const request = fc.tuple(
    fc.constantFrom("", "GET http://a.test/ HTTP/1.1\r\n", "GET http://a.test/"),
    text,
  );
  fc.assert(fc.property(request.map((parts) => parts.join("")), (text) => {
    const parsed = parseRequest(text);
    if (parsed.kind !== "plain") return;
    const lines = requestHead(parsed).split("\r\n");
    assert.ok(lines.length <= text.split("\r\n").length + 4);
    for (const line of lines) assert.match(line, /^[\t\x20-\x7e\x80-\xff]*$/);
  }));
});

/** The bytes of a body, in pieces, as `body` takes them. */
function taken(body: RequestBody, bytes: Uint8Array, cuts: readonly number[]): Uint8Array {
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  let length = 0;
  for (let index = 1; index < at.length && !body.isOver; index++) {
    length += body.take(bytes.subarray(at[index - 1], at[index]));
  }
  return bytes.subarray(0, length);
}

const encoder = new TextEncoder();
const CUTS = fc.array(fc.nat(), { maxLength: 8 });

Deno.test("a body ends where its head says, however its bytes arrive", () => {
  const rest = fc.uint8Array({ maxLength: 20 });
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), rest, CUTS, (data, rest, cuts) => {
    const body = new RequestBody({ kind: "length", length: data.length });
    assert.deepEqual(taken(body, new Uint8Array([...data, ...rest]), cuts), data);
    assert.ok(body.isOver);
  }));
  const chunks = fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 5 });
  const trailers = fc.constantFrom("", "X-Sum: 1\r\n", "a: b\r\nc: d\r\n");
  fc.assert(fc.property(chunks, trailers, rest, CUTS, (chunks, trailers, rest, cuts) => {
    const whole = new Uint8Array([
      ...chunks.flatMap((chunk) => [
        ...encoder.encode(`${chunk.length.toString(16)};x=y\r\n`),
        ...chunk,
        13,
        10,
      ]),
      ...encoder.encode(`0\r\n${trailers}\r\n`),
    ]);
    const body = new RequestBody({ kind: "chunked" });
    assert.deepEqual(taken(body, new Uint8Array([...whole, ...rest]), cuts), whole);
    assert.ok(body.isOver);
  }));
});

Deno.test("a malformed chunk ends the connection", () => {
  for (
    const text of [
      "x\r\n",
      "5\nhello",
      "-1\r\n",
      "5 5\r\n",
      "1\r\naX\r\n",
      "\r\n",
      "0\r\na\r\n",
      "1\rX",
      "f".repeat(2_000),
    ]
  ) {
    assert.throws(() => new RequestBody({ kind: "chunked" }).take(encoder.encode(text)), /malformed/, text);
  }
  const endless = new RequestBody({ kind: "chunked" });
  assert.throws(() => endless.take(encoder.encode(`0\r\n${"a: b\r\n".repeat(5_000)}`)), /malformed/);
});

Deno.test("the time for a head and a body grows with their size", async () => {
  const heads = [" ", "\t a:", "a: b\r\n", "\r\n", "x"];
  await assertEachLinear(heads, (part, size) => {
    const text = head("GET http://a.test/ HTTP/1.1", `a:${part.repeat(size / part.length)}\0`);
    return () => parseRequest(text);
  }, 8_000);
  await assertEachLinear(["1\r\na\r\n", `fff\r\n${"a".repeat(0xfff)}\r\n`], (chunk, size) => {
    const bytes = encoder.encode(chunk.repeat(size / chunk.length));
    return () => new RequestBody({ kind: "chunked" }).take(bytes);
  }, 32_000);
});
