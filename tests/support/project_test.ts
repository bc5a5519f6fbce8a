import assert from "node:assert/strict";
import { git, scratch, waitUntil } from "./project.ts";

Deno.test("a scratch folder holds its files and is gone afterwards", async () => {
  let root = "";
  {
    await using folder = await scratch({ "a/b.txt": "text\n", "c.bin": new Uint8Array([0, 255]) });
    root = folder.root;
    assert.equal(await Deno.realPath(root), root);
    assert.equal(await folder.read("a/b.txt"), "text\n");
    assert.deepEqual(await Deno.readFile(folder.path("c.bin")), new Uint8Array([0, 255]));
    await folder.write("new/x.txt", "x");
    assert.equal(await Deno.readTextFile(folder.path("new", "x.txt")), "x");
  }
  await assert.rejects(Deno.stat(root), Deno.errors.NotFound);
});

Deno.test("a scratch repository is clean, with its files in one commit", async () => {
  await using folder = await scratch({ "a.txt": "a\n" }, { git: true });
  assert.equal(await git(folder.root, "status", "--porcelain"), "");
  assert.equal(await git(folder.root, "rev-parse", "--abbrev-ref", "HEAD"), "main");
  assert.equal(await git(folder.root, "show", "--name-only", "--format=%s"), "Start\n\na.txt");
});

Deno.test("waitUntil gives the first thing found", async () => {
  let calls = 0;
  assert.equal(await waitUntil("three calls", () => ++calls === 3 && "found"), "found");
  assert.equal(calls, 3);
  assert.equal(await waitUntil("zero", () => 0), 0);
});

Deno.test("waitUntil says what it waited for, and a probe that hangs does not hang it", async () => {
  await assert.rejects(
    waitUntil("the moon", () => undefined, { timeout: 20 }),
    /^Error: Waited 20 ms for the moon$/,
  );
  const never = new Promise<undefined>(() => {});
  await assert.rejects(waitUntil(() => "nothing", () => never, { timeout: 20 }), /for nothing/);
  await assert.rejects(waitUntil("x", () => Promise.reject(new Error("probe broke"))), /probe broke/);
});
