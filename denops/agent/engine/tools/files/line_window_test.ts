import assert from "node:assert/strict";
import fc from "fast-check";
import { utf8 } from "../../../../../tests/support/pieces.ts";
import { scratch } from "../../../../../tests/support/project.ts";
import { runs } from "../../../../../tests/support/runs.ts";
import { IS_FULL } from "../../../../../tests/support/sample.ts";
import { readLines, splitWindow } from "./line_window.ts";

type LineWindow = ReturnType<typeof splitWindow>;

/** Bytes in one read of the file. */
const CHUNK = 65_536;
const MORE = "more lines follow";
const never = new AbortController().signal;

/** What is read of a file with these bytes. */
async function readBytes(bytes: Uint8Array, offset = 1, limit?: number): Promise<LineWindow | undefined> {
  await using folder = await scratch({ "a.txt": bytes });
  return await readLines(folder.path("a.txt"), offset, limit, never);
}

const windows: readonly (readonly [
  what: string,
  text: string,
  offset: number,
  limit: number | undefined,
  window: LineWindow,
])[] = [
  ["an empty file", "", 1, undefined, { lines: [] }],
  ["a newline", "\n", 1, undefined, { lines: [""] }],
  ["no newline at the end", "a\nb", 1, undefined, { lines: ["a", "b"] }],
  ["a newline at the end begins no line", "a\nb\n", 1, undefined, { lines: ["a", "b"] }],
  ["CRLF, CR and LF", "a\r\nb\rc\n\rd", 1, undefined, { lines: ["a", "b", "c", "", "d"] }],
  ["CR at the end", "a\r", 1, undefined, { lines: ["a"] }],
  ["a byte order mark", "\ufeffa\n", 1, undefined, { lines: ["a"] }],
  ["other separators are text", "a\u2028b\u0085c\n", 1, undefined, { lines: ["a\u2028b\u0085c"] }],
  ["from the second line on", "a\nb\nc\n", 2, undefined, { lines: ["b", "c"] }],
  ["one line", "a\nb\nc\n", 2, 1, { lines: ["b"], more: MORE }],
  ["the last line", "a\nb\nc\n", 3, 1, { lines: ["c"] }],
  ["exactly all", "a\nb\n", 1, 2, { lines: ["a", "b"] }],
  ["after the end", "a\nb\n", 3, 5, { lines: [] }],
];

for (const [what, text, offset, limit, window] of windows) {
  Deno.test(`lines of a text and of a file: ${what}`, async () => {
    assert.deepEqual(splitWindow(text.replace(/^\ufeff/, ""), offset, limit), window);
    assert.deepEqual(await readBytes(utf8(text), offset, limit), window);
  });
}

Deno.test("at most 2,000 lines, at most 100,000 characters, at most 2,000 of a line", async () => {
  const cases: readonly (readonly [text: string, lines: number, more: string | undefined])[] = [
    ["a\n".repeat(2_000), 2_000, undefined],
    ["a\n".repeat(2_001), 2_000, MORE],
    [`${"b".repeat(999)}\n`.repeat(100), 100, undefined],
    [`${"b".repeat(999)}\n`.repeat(101), 100, MORE],
    [`${"c".repeat(2_000)}\n`, 1, undefined],
  ];
  for (const [text, lines, more] of cases) {
    for (const window of [splitWindow(text, 1, 5_000), await readBytes(utf8(text), 1, 5_000)]) {
      assert.deepEqual([window?.lines.length, window?.more], [lines, more]);
    }
  }
  const [cut] = splitWindow("d".repeat(2_001), 1, undefined).lines;
  assert.equal(cut, `${"d".repeat(2_000)}… [line cut]`);
});

const binaries:
  readonly (readonly [what: string, bytes: Uint8Array, lines: readonly string[] | undefined])[] = [
    ["NUL at the start", Uint8Array.from([0, 1, 2]), undefined],
    ["UTF-16, little end first", Uint8Array.from([0xff, 0xfe, 97, 0, 13, 0, 10, 0, 0x3d, 0xd8, 0, 0xde]), [
      "a",
      "😀",
    ]],
    ["UTF-16, big end first", Uint8Array.from([0xfe, 0xff, 0, 97, 0, 10, 0, 98]), ["a", "b"]],
    ["bytes that are no UTF-8", Uint8Array.from([99, 233, 10, 98]), ["c\ufffd", "b"]],
  ];

for (const [what, bytes, lines] of binaries) {
  Deno.test(`lines of a file: ${what}`, async () => assert.deepEqual((await readBytes(bytes))?.lines, lines));
}

const parts = fc.constantFrom("\n", "\r", "\r\n", "\n\r", "", "a", "ü", "😀", "\ufeff", "\ufeff\n", "\u2028");
const tails = fc.array(parts, { maxLength: 8 }).map((all) => all.join(""));
const offsets = fc.constantFrom(1, 2, 3, 4);
const limits = fc.constantFrom(undefined, 1, 2, 3);

Deno.test("streamed reading gives the lines of the whole text, wherever a read ends", async () => {
  await using folder = await scratch();
  const path = folder.path("a.txt");
  await fc.assert(
    fc.asyncProperty(
      tails,
      tails,
      fc.nat(6),
      fc.boolean(),
      offsets,
      limits,
      async (head, tail, before, long, offset, limit) => {
        // The first read ends within `tail`; before it stand many lines, or one that is longer than is kept.
        const size = CHUNK - before - utf8(head).length;
        const pad = long
          ? "p".repeat(size)
          : "p".repeat(99).concat("\n").repeat(size / 100).padEnd(size, "q");
        const text = head + pad + tail;
        await Deno.writeTextFile(path, text);
        const plain = text.replace(/^\ufeff/, "");
        const first = long ? 1 : 650;
        assert.deepEqual(
          await readLines(path, first + offset - 1, limit, never),
          splitWindow(plain, first + offset - 1, limit),
        );
      },
    ),
    runs(200),
  );
});

Deno.test("what stands at the end of a read is whole", async () => {
  await using folder = await scratch();
  for (const mark of ["\n", "\r", "\r\n", "\r\r\n", "\n\r", "ü", "😀", "\ufeff", "\ufeff\ufeff", "\u2028"]) {
    for (let before = 0; before < 5; before++) {
      const text = `${"p".repeat(CHUNK - before)}${mark}a\n`;
      await Deno.writeTextFile(folder.path("a.txt"), text);
      const short = (await readLines(folder.path("a.txt"), 2, undefined, never))?.lines;
      assert.deepEqual(short, splitWindow(text, 2, undefined).lines, `${JSON.stringify(mark)} ${before}`);
      const near = `${"p".repeat(99)}\n`.repeat(654).padEnd(CHUNK - before, "q") + mark + "a\n";
      await Deno.writeTextFile(folder.path("a.txt"), near);
      assert.deepEqual(
        await readLines(folder.path("a.txt"), 654, undefined, never),
        splitWindow(near, 654, undefined),
      );
    }
  }
});

/** Bytes of a file whose end is one long line: more than twice the memory that reading it may take. */
const HUGE = IS_FULL ? 1_000_000_000 : 250_000_000;

Deno.test("a line of hundreds of megabytes in a file is read in the memory of a window", async () => {
  await using folder = await scratch();
  const path = folder.path("huge.txt");
  {
    using file = await Deno.open(path, { write: true, create: true });
    await file.write(utf8("a line of text\n".repeat(10_000)));
    await file.truncate(HUGE);
  }
  // In a process of its own: other tests run in this one, and their memory counts too.
  const code = `
    import { readLines } from "${new URL("./line_window.ts", import.meta.url).href}";
    const signal = new AbortController().signal;
    const before = Deno.memoryUsage().rss;
    const near = await readLines(Deno.args[0], 7, 3, signal);
    const far = await readLines(Deno.args[0], 9_999, 5, signal);
    console.log(JSON.stringify({ near, far, grown: Deno.memoryUsage().rss - before }));
  `;
  const script = folder.path("read.ts");
  await Deno.writeTextFile(script, code);
  const args = ["run", "--quiet", "--no-check", "--allow-read", script, path];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  const text = new TextDecoder().decode(stdout);
  assert.notEqual(text, "", new TextDecoder().decode(stderr));
  const { near, far, grown } = JSON.parse(text);
  assert.deepEqual(near, { lines: Array(3).fill("a line of text"), more: MORE });
  assert.equal(far.lines.length, 3);
  assert.match(far.lines[2], /^\0{2000}… \[line cut\]$/);
  assert.ok(grown < 100_000_000, `it took ${grown} bytes`);
});

Deno.test("a cancel ends the reading of a large file", async () => {
  await using folder = await scratch();
  const path = folder.path("huge.txt");
  await Deno.writeTextFile(path, "a\n");
  await Deno.truncate(path, 100_000_000_000);
  const controller = new AbortController();
  const reading = readLines(path, 3, 1, controller.signal);
  controller.abort();
  await assert.rejects(reading, { name: "AbortError" });
});
