import assert from "node:assert/strict";
import fc from "fast-check";
import { ANY_CHARACTER } from "../../../../../tests/support/any_character.ts";
import { bytewise, cutAt, cuts, utf8 } from "../../../../../tests/support/pieces.ts";
import { runs } from "../../../../../tests/support/runs.ts";
import type { Framing } from "./framing.ts";
import { ndjson } from "./ndjson.ts";
import { sse } from "./sse.ts";

function framesOf(framing: Framing, pieces: readonly Uint8Array[]): readonly string[] {
  return [...pieces.flatMap((piece) => framing.push(piece)), ...framing.end()];
}

type Case = readonly [what: string, body: string, frames: readonly string[]];

const sseCases: readonly Case[] = [
  ["nothing", "", []],
  ["one event", "data: a\n\n", ["a"]],
  ["two events", "data: a\n\ndata: b\n\n", ["a", "b"]],
  ["no space after the colon", "data:a\n\n", ["a"]],
  ["only one space is not data", "data:  a \n\n", [" a "]],
  ["CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", ["a", "b"]],
  ["CR alone", "data: a\r\rdata: b\r\r", ["a", "b"]],
  ["several data lines", "data: {\ndata: }\n\n", ["{\n}"]],
  ["an empty data line", "data: a\ndata\ndata: b\n\n", ["a\n\nb"]],
  ["comments", ": keep-alive\n\ndata: a\n: OPENROUTER PROCESSING\n\n:\n\n", ["a"]],
  ["blank lines as keep-alive", "\n\n\n\ndata: a\n\n\n\n", ["a"]],
  ["event, id and retry", "event: ping\nid: 7\nretry: 10\ndata: a\n\n", ["a"]],
  ["an event without data", "event: ping\n\ndata: a\n\n", ["a"]],
  ["fields it does not know", "foo: bar\nfoo\nerror: x\ndata: a\n\n", ["a"]],
  ["no blank line at the end", "data: a\n\ndata: b\n", ["a", "b"]],
  ["no newline at the end", "data: a\n\ndata: [DONE]", ["a", "[DONE]"]],
  ["CR at the end", "data: a\r", ["a"]],
  ["a byte order mark", "\ufeffdata: a\n\n", ["a"]],
  ["a mark in the data", "data: \ufeffa\n\n", ["\ufeffa"]],
  ["no stream at all", "<html>\n<body>\n\n", []],
  ["data of many bytes each", "data: ü😀\u2028\n\n", ["ü😀\u2028"]],
];

const ndjsonCases: readonly Case[] = [
  ["nothing", "", []],
  ["two lines", '{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}']],
  ["CRLF", '{"a":1}\r\n{"b":2}\r\n', ['{"a":1}', '{"b":2}']],
  ["blank lines", '\n\n{"a":1}\n \r\n\n', ['{"a":1}']],
  ["no newline at the end", '{"a":1}\n{"b":2}', ['{"a":1}', '{"b":2}']],
  ["a byte order mark", '\ufeff{"a":1}\n', ['{"a":1}']],
  ["separators that JSON leaves as they are", '{"a":"\u2028\u2029\u0085"}\n', ['{"a":"\u2028\u2029\u0085"}']],
  ["data of many bytes each", '{"a":"ü😀"}\n', ['{"a":"ü😀"}']],
];

for (const [name, framing, cases] of [["SSE", sse, sseCases], ["NDJSON", ndjson, ndjsonCases]] as const) {
  for (const [what, body, frames] of cases) {
    Deno.test(`${name}: ${what}`, () => {
      const bytes = utf8(body);
      assert.deepEqual(framesOf(framing(), [bytes]), frames, "at once");
      assert.deepEqual(framesOf(framing(), bytewise(bytes)), frames, "byte by byte");
      for (let at = 0; at <= bytes.length; at++) {
        assert.deepEqual(
          framesOf(framing(), [bytes.subarray(0, at), bytes.subarray(at)]),
          frames,
          `at ${at}`,
        );
      }
    });
  }
}

const line = fc.string({ unit: ANY_CHARACTER, maxLength: 30 }).map((text) =>
  text.toWellFormed().replace(/[\r\n]/g, "/")
);
const ending = fc.constantFrom("\n", "\r\n", "\r");

Deno.test("SSE: any events come out the same, however the bytes are cut", () => {
  const noise = fc.constantFrom(": keep-alive", "event: message", "id: 1", "retry: 5", ":");
  const event = fc.record({
    noise: fc.array(noise, { maxLength: 2 }),
    data: fc.array(line, { minLength: 1, maxLength: 3 }),
  });
  fc.assert(
    fc.property(
      fc.array(event, { maxLength: 6 }),
      ending,
      fc.nat(2),
      cuts,
      (events, newline, missing, places) => {
        const lines = events.flatMap((
          { noise, data },
        ) => [...noise, ...data.map((text) => `data: ${text}`), ""]);
        const body = lines.map((text) => text + newline).join("");
        const bytes = utf8(missing > 0 && body !== "" ? body.slice(0, -newline.length) : body);
        const expected = events.map(({ data }) => data.join("\n"));
        assert.deepEqual(framesOf(sse(), cutAt(bytes, places)), expected);
        assert.deepEqual(framesOf(sse(), bytewise(bytes)), expected);
      },
    ),
    runs(300),
  );
});

Deno.test("NDJSON: any values come out the same, however the bytes are cut", () => {
  const newline = fc.constantFrom("\n", "\r\n", "\n\n");
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 6 }),
      newline,
      fc.boolean(),
      cuts,
      (values, newline, cut, places) => {
        const lines = values.map((value) => JSON.stringify(value));
        const body = lines.join(newline) + (cut ? "" : newline);
        assert.deepEqual(framesOf(ndjson(), cutAt(utf8(body), places)), lines);
        assert.deepEqual(framesOf(ndjson(), bytewise(utf8(body))), lines);
      },
    ),
    runs(300),
  );
});

Deno.test("any bytes at all give frames and no error", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), cuts, (bytes, places) => {
    for (const framing of [sse, ndjson]) {
      assert.deepEqual(framesOf(framing(), cutAt(bytes, places)), framesOf(framing(), [bytes]));
    }
  }));
});

Deno.test("a frame is there as soon as its last byte is", () => {
  const stream = sse();
  assert.deepEqual(stream.push(utf8("data: a\n")), []);
  assert.deepEqual(stream.push(utf8("\ndata: b")), ["a"]);
  const lines = ndjson();
  assert.deepEqual(lines.push(utf8("{}")), []);
  assert.deepEqual(lines.push(utf8("\n[")), ["{}"]);
});

Deno.test("one long line in small pieces costs what its bytes cost", () => {
  // Whoever looks at all of the line again for each piece needs many times as many steps here.
  const piece = utf8("a".repeat(100));
  const [head, tail] = [utf8("data: "), utf8("\n\n")];
  for (const framing of [sse, ndjson]) {
    const pieces = [head, ...Array.from({ length: 20_000 }, () => piece), tail];
    assert.equal(framesOf(framing(), pieces)[0]?.replace("data: ", "").length, 2_000_000);
  }
});
