/** Images read by the real session for a scripted model: what reaches the model, byte for byte, and what does not. */
import assert from "node:assert/strict";
import { messagesOf, type SentImage } from "../../../../tests/model/model_messages.ts";
import type { RecordedRequest } from "../../../../tests/model/model_server.ts";
import {
  checkEvents,
  END_TURN,
  type RunningEngine,
  startEngine,
} from "../../../../tests/support/engine_session.ts";
import { GIF, jpegFile, pngFile, WEBP } from "../../../../tests/support/pictures.ts";
import { WIRES } from "../../protocol/providers.ts";

const PNG = pngFile(64, 48);
const JPEG = jpegFile(640, 480);
const SEES = { vision: true };

function imagesOf(request: RecordedRequest | undefined): readonly SentImage[] {
  assert.ok(request !== undefined);
  return messagesOf(request.wire, request.body).flatMap(({ images }) => images);
}

const decoded = ({ data }: SentImage) => Uint8Array.fromBase64(data);

/** The results of `read_file` of each path, of a model that sees. */
async function reads(engine: RunningEngine, ...paths: readonly string[]): Promise<readonly string[]> {
  const calls = paths.map((path) => `call read_file ${JSON.stringify({ path })}`);
  engine.server.play(`${calls.join("\n")}\n---\nsay Done`);
  assert.deepEqual(await engine.prompt("Read"), END_TURN);
  return engine.results().slice(-paths.length);
}

for (const wire of WIRES) {
  Deno.test(`${wire}: images are sent as they are, and stay where they are`, async () => {
    await using engine = await startEngine({
      wire,
      config: SEES,
      files: { "a.png": PNG, "b.txt": "text\n", "c.dat": JPEG, "d.webp": WEBP.lossless, "e.gif": GIF },
      script: [
        'call read_file {"path": "a.png"}\ncall read_file {"path": "b.txt"}',
        'expect a.png is a PNG image (64×48, 3 kB); it is attached.\ncall read_files {"paths": ["c.dat", "d.webp", "b.txt"]}',
        'expect c.dat is a JPEG image (640×480, 1 kB); it is attached.\ncall read_file {"path": "e.gif"}',
        "say Done",
        "expect And now?\nsay Nothing",
      ].join("\n---\n"),
    });
    assert.deepEqual(await engine.prompt("Look"), END_TURN);
    assert.deepEqual(await engine.prompt("And now?"), END_TURN);
    const sent = engine.server.requests.map((request) => imagesOf(request).map(decoded));
    const all = [PNG, JPEG, WEBP.lossless, GIF];
    assert.deepEqual(sent, [[], [PNG], all.slice(0, 3), all, all]);
    if (wire !== "ollama") {
      const types = imagesOf(engine.server.requests.at(-1)).map(({ type }) => type);
      assert.deepEqual(types, ["image/png", "image/jpeg", "image/webp", "image/gif"]);
    }
    assert.deepEqual(engine.server.problems, []);
    checkEvents(engine.events);
  });
}

Deno.test("the screen and the log are told of an image in words; the history is plain JSON", async () => {
  await using engine = await startEngine({ config: SEES, files: { "a.png": PNG }, script: "" });
  await reads(engine, "a.png");
  const done = engine.events.find((event) => event.type === "tool_done");
  assert.equal(done?.summary, "PNG image, 64×48, 3 kB");
  assert.equal(done?.output, "a.png is a PNG image (64×48, 3 kB); it is attached.");
  assert.ok(!JSON.stringify(engine.events).includes(PNG.toBase64().slice(0, 40)));
  const messages = engine.messages();
  assert.deepEqual(JSON.parse(JSON.stringify(messages)), messages);
});

Deno.test("a text named like an image is a text, and an image named like a text an image", async () => {
  await using engine = await startEngine({
    config: SEES,
    files: {
      "a.png": "no image\n",
      "b.gif": "GIF89a is a format\n",
      "c.txt": PNG,
      "d.png": new Uint8Array(99),
    },
    script: "",
  });
  assert.deepEqual(await reads(engine, "a.png", "b.gif", "c.txt", "d.png"), [
    "1\tno image",
    "1\tGIF89a is a format",
    "c.txt is a PNG image (64×48, 3 kB); it is attached.",
    "d.png is a binary file (99 bytes).",
  ]);
  assert.equal(imagesOf(engine.server.requests.at(-1)).length, 1);
});

Deno.test("an image that a provider would refuse is not sent, and the model is told why", async () => {
  const large = pngFile(2_000, 2_000);
  await using engine = await startEngine({
    config: SEES,
    files: {
      "half.png": PNG.subarray(0, PNG.length / 2),
      "head.png": PNG.subarray(0, 20),
      "half.jpg": JPEG.subarray(0, 300),
      "none.png": pngFile(0, 4),
      "large.png": large,
      "long.png": pngFile(1, 8_001),
    },
    script: "",
  });
  assert.deepEqual(
    await reads(engine, "half.png", "head.png", "half.jpg", "none.png", "large.png", "long.png", "gone.png"),
    [
      "half.png is a PNG image, but a broken one (64×48, 2 kB): it cannot be shown.",
      "head.png is a PNG image, but a broken one (20 bytes): it cannot be shown.",
      "half.jpg is a JPEG image, but a broken one (640×480, 300 bytes): it cannot be shown.",
      "none.png is a PNG image, but a broken one (0×4, 72 bytes): it cannot be shown.",
      "large.png is a PNG image of 4.0 MB; at most 3.5 MB can be shown. A smaller copy would do.",
      "long.png is a PNG image (1×8001, 16 kB); at most 8000 pixels a side can be shown. A smaller copy would do.",
      "gone.png does not exist.",
    ],
  );
  assert.deepEqual(imagesOf(engine.server.requests.at(-1)), []);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("one broken image does not keep the others from being shown", async () => {
  await using engine = await startEngine({
    config: SEES,
    files: { "half.png": PNG.subarray(0, 900), "a.gif": GIF, "b.txt": "text\n" },
    script: 'call read_files {"paths": ["half.png", "b.txt", "a.gif"]}\n---\nsay Done',
  });
  await engine.prompt("Look");
  assert.deepEqual(engine.results(), [
    "── half.png ──\nhalf.png is a PNG image, but a broken one (64×48, 900 bytes): it cannot be shown.\n\n" +
    "── b.txt ──\n1\ttext\n\n── a.gif ──\na.gif is a GIF image (1×1, 42 bytes); it is attached.",
  ]);
  assert.deepEqual(imagesOf(engine.server.requests.at(-1)).map(decoded), [GIF]);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a session takes twenty images, and no more come in later turns", async () => {
  const names = Array.from({ length: 12 }, (_, at) => `${at}.png`);
  const files = Object.fromEntries(names.map((name, at) => [name, pngFile(8, 8, at + 1)]));
  const call = `call read_files ${JSON.stringify({ paths: names })}`;
  await using engine = await startEngine({
    config: SEES,
    files: { ...files, "last.gif": GIF },
    script: `${call}\n---\nsay One\n---\n${call}\n---\nsay Two`,
  });
  await engine.prompt("Look");
  await engine.prompt("Again");
  const [first = "", second = ""] = engine.results();
  assert.equal(first.split("; it is attached.").length - 1, 12);
  assert.equal(second.split("; it is attached.").length - 1, 8);
  assert.equal(imagesOf(engine.server.requests.at(-1)).length, 20);
  assert.deepEqual(await reads(engine, "last.gif"), [
    "last.gif is a GIF image, but this session is full of images: 20, or 12.0 MB, are the most.",
  ]);
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a session takes 12 MB of images, also when they are read at the same time", async () => {
  const big = pngFile(1_800, 1_900);
  const names = ["a.png", "b.png", "c.png", "d.png"];
  await using engine = await startEngine({
    config: SEES,
    files: Object.fromEntries(names.map((name) => [name, big])),
    script: "",
  });
  const results = await reads(engine, ...names);
  assert.equal(results.filter((text) => text.endsWith("it is attached.")).length, 3);
  assert.equal(results.filter((text) => text.includes("full of images")).length, 1);
  const sent = imagesOf(engine.server.requests.at(-1));
  assert.ok(sent.length === 3 && sent.every((image) => decoded(image).length === big.length));
  assert.deepEqual(engine.server.problems, []);
});

Deno.test("a model that does not see is told what the file is", async () => {
  for (const wire of WIRES) {
    await using engine = await startEngine({
      wire,
      config: wire === "anthropic_messages" ? { vision: false } : {},
      files: { "a.png": PNG, "half.png": PNG.subarray(0, 20) },
      script: "",
    });
    assert.deepEqual(await reads(engine, "a.png", "half.png"), [
      "a.png is a PNG image (64×48, 3 kB); this model cannot see images.",
      "half.png is a PNG image (20 bytes); this model cannot see images.",
    ]);
    const failed = engine.events.filter((event) => event.type === "tool_done" && event.status === "failed");
    assert.deepEqual(failed, []);
    assert.deepEqual(imagesOf(engine.server.requests.at(-1)), []);
    assert.deepEqual(engine.server.problems, []);
  }
});

Deno.test("deny_read holds for images, also behind a link", async () => {
  await using engine = await startEngine({
    config: { ...SEES, deny_read: ["private/**"] },
    files: { "private/a.png": PNG },
    script: "",
  });
  await Deno.symlink("private/a.png", engine.project.path("link.png"));
  const results = await reads(engine, "private/a.png", "link.png");
  for (const text of results) assert.match(text, /^Cannot read .+deny_read: private/);
  assert.deepEqual(imagesOf(engine.server.requests.at(-1)), []);
});

Deno.test("a buffer with unsaved changes is shown as the text that it is", async () => {
  await using engine = await startEngine({
    config: SEES,
    files: { "a.png": PNG },
    editor: {
      unsavedText: () => Promise.resolve("typed\n"),
      writeUnsaved: () => Promise.resolve({ status: "not_open" }),
    },
    script: "",
  });
  assert.match((await reads(engine, "a.png"))[0] ?? "", /1\ttyped$/);
  assert.deepEqual(imagesOf(engine.server.requests.at(-1)), []);
});

Deno.test("a provider that refuses images is asked again without them, and gets no more", async () => {
  for (const wire of WIRES) {
    await using engine = await startEngine({
      wire,
      config: SEES,
      files: { "a.png": PNG, "b.gif": GIF },
      script: [
        'call read_file {"path": "a.png"}',
        `status 400 ${
          wire === "ollama" ? '{"error":"' : '{"error":{"message":"'
        }this model takes no image input"${wire === "ollama" ? "}" : "}}"}`,
        'new-history\nexpect left out, since this model cannot see images: a.png\ncall read_file {"path": "b.gif"}',
        "expect b.gif is a GIF image (1×1, 42 bytes); this model cannot see images.\nsay Done",
        "expect Well?\nsay Yes",
      ].join("\n---\n"),
    });
    assert.deepEqual(await engine.prompt("Look"), END_TURN);
    assert.deepEqual(await engine.prompt("Well?"), END_TURN);
    assert.deepEqual(engine.server.requests.map((request) => imagesOf(request).length), [0, 1, 0, 0, 0]);
    assert.deepEqual(engine.server.problems, []);
    checkEvents(engine.events);
  }
});
