/** Files that the client's editor shows: its unsaved text counts, and writes go through it. */
import assert from "node:assert/strict";
import { calls } from "./client.ts";
import { test } from "./shared_acp.ts";

const EDIT = 'call read {"path": "src/a.ts"}\n---\n' +
  'call edit {"path": "src/a.ts", "old_str": "two = 2", "new_str": "two = 3"}\n---\n';

test("the model reads the editor's unsaved text, and an edit merges into it", async (acp) => {
  let text = "const zero = 0;\nconst one = 1;\nconst two = 2;\n";
  const path = acp.project.path("src/a.ts");
  acp.play({
    script: `call read {"path": "src/a.ts"}\n---\nexpect const zero\n${
      EDIT.slice(EDIT.indexOf("call edit"))
    }say Done.`,
    readTextFile: (request) => {
      assert.equal(request.path, path);
      return Promise.resolve({ content: text });
    },
    writeTextFile: async (request) => {
      text = request.content;
      await Deno.writeTextFile(path, text);
    },
  });
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Change two"), "end_turn");
  assert.equal(await acp.project.read("src/a.ts"), "const zero = 0;\nconst one = 1;\nconst two = 3;\n");
});

test("text that the user types meanwhile on the same lines is not lost", async (acp) => {
  const typed = "const one = 1;\nconst two = 22;\n";
  let reads = 0;
  acp.play({
    script: `${EDIT}expect nothing was written\nsay Too bad.`,
    // Typed after the call was judged.
    readTextFile: () =>
      Promise.resolve({ content: ++reads < 3 ? "const one = 1;\nconst two = 2;\n" : typed }),
    writeTextFile: () => Promise.reject(new Error("nothing may be written")),
  });
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Change two"), "end_turn");
  assert.equal(await acp.project.read("src/a.ts"), "const one = 1;\nconst two = 2;\n");
});

test("an editor that formats is believed, and one that refuses fails the call", async (acp) => {
  const path = acp.project.path("src/a.ts");
  acp.play({
    script: `${EDIT}say Done.`,
    writeTextFile: ({ content }) => Deno.writeTextFile(path, content.replaceAll(";", "")),
  });
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Change two"), "end_turn");
  assert.equal(await acp.project.read("src/a.ts"), "const one = 1\nconst two = 3\n");
  acp.play({
    script: 'call write {"path": "new.txt", "content": "x\\n"}\n---\nexpect the disk is full\nsay Too bad.',
    writeTextFile: () => Promise.reject(new Error("the disk is full")),
  });
  assert.equal(await acp.prompt(sessionId, "Write"), "end_turn");
  await assert.rejects(acp.project.read("new.txt"));
});

test("a write that the editor did not do fails, and one that it does late is done", async (acp) => {
  const path = acp.project.path("src/a.ts");
  acp.play({
    script: `${EDIT}expect the editor did not take the text; nothing was written\n` +
      'call write {"path": "lost.txt", "content": "x\\n"}\n---\nexpect the editor did not take the text\nsay Too bad.',
    writeTextFile: () => Promise.resolve(),
  });
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Change two"), "end_turn");
  assert.deepEqual(calls(acp.seen, sessionId).map(({ status }) => status), ["completed", "failed", "failed"]);
  // Longer than the editor may take for any other answer.
  const slow = () => new Promise((resolve) => setTimeout(resolve, 5_500));
  acp.play({
    script: `${EDIT}say Done.`,
    writeTextFile: ({ content }) => slow().then(() => Deno.writeTextFile(path, content)),
  });
  assert.equal(await acp.prompt(sessionId, "Change two"), "end_turn");
  assert.equal(calls(acp.seen, sessionId).at(-1)?.status, "completed");
  assert.equal(await acp.project.read("src/a.ts"), "const one = 1;\nconst two = 3;\n");
});

test("a file with unsaved text is neither moved nor deleted", async (acp) => {
  const unsaved = "src/a.ts has unsaved changes in the editor: save it first.";
  acp.play({
    script: `call move {"from": "src/a.ts", "to": "src/b.ts"}\n---\nexpect ${unsaved}\n` +
      `call delete {"path": "src/a.ts"}\n---\nexpect ${unsaved}\nsay Too bad.`,
    readTextFile: () => Promise.resolve({ content: "const one = 1;\nconst two = 2;\nconst typed = 3;\n" }),
  });
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Move it"), "end_turn");
  assert.equal(await acp.project.read("src/a.ts"), "const one = 1;\nconst two = 2;\n");
  acp.play({
    script: 'call move {"from": "src/a.ts", "to": "src/b.ts"}\n---\n' +
      'call delete {"path": "src/b.ts"}\n---\nexpect Deleted src/b.ts\nsay Done.',
  });
  assert.equal(await acp.prompt(sessionId, "Move and delete it"), "end_turn");
  await assert.rejects(acp.project.read("src/a.ts"));
});

test("an answer that is no text is one clear error", async (acp) => {
  acp.play({
    script: 'call read {"path": "src/a.ts"}\n---\n' +
      "expect the client answered with something that is no text\nsay Too bad.",
    readTextFile: () => Promise.resolve({ content: 5 as never }),
  });
  assert.equal(await acp.prompt(await acp.opened(), "Read it"), "end_turn");
});

test("a file outside of the project is never asked for, and a binary one is not text", async (acp) => {
  const paths: string[] = [];
  acp.play({
    script: 'call read {"path": "/etc/hostname"}\ncall read {"path": "src/raw.bin"}\n---\nsay Done.',
    readTextFile: async ({ path }) => {
      paths.push(path);
      return { content: path.endsWith("a.ts") ? await Deno.readTextFile(path) : "leaked" };
    },
  });
  await acp.project.write("src/raw.bin", new Uint8Array([0, 1, 2, 0]));
  const sessionId = await acp.opened();
  assert.equal(await acp.prompt(sessionId, "Read them"), "end_turn");
  assert.deepEqual(paths.filter((path) => !path.endsWith("a.ts")), []);
  assert.doesNotMatch(JSON.stringify(acp.server.requests.at(-1)?.body), /leaked/);
  await Deno.remove(acp.project.path("src/raw.bin"));
  assert.equal(calls(acp.seen, sessionId).length, 2);
});
