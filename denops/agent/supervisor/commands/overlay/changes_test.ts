import assert from "node:assert/strict";
import { type Scratch, scratch } from "../../../../../tests/support/project.ts";
import { listChanges } from "./changes.ts";
import { namesIn } from "./layer.ts";

const { signal } = new AbortController();

function layersIn(folder: Scratch) {
  const seen = (path: string) => namesIn(folder.path(`view/${path}`));
  return { upper: folder.path("upper"), lower: folder.path("lower"), seen };
}

Deno.test("a list has a limit of files and one of bytes, and says which was passed", async () => {
  await using folder = await scratch({
    "upper/a": "12345",
    "upper/d/b": "12345",
    "lower/a": "54321",
    "view/a": "12345",
  });
  const layers = layersIn(folder);
  const listed = (files: number, bytes: number) => listChanges(layers, { files, bytes }, signal);
  assert.equal((await listed(3, 10)).changes.length, 3);
  await assert.rejects(listed(2, 10), /^Error: it changed more than 2 files$/);
  await assert.rejects(listed(3, 9), /^Error: it wrote more than 9 bytes$/);
});

Deno.test("a list is given up when it is no longer wanted", async () => {
  await using folder = await scratch({ "upper/a": "x".repeat(2 ** 26), "lower/b": "", "view/a": "" });
  const layers = layersIn(folder);
  const limits = { files: 10, bytes: 2 ** 30 };
  await assert.rejects(listChanges(layers, limits, AbortSignal.abort(new Error("enough"))), /enough/);
});

Deno.test("of a folder that was replaced all is deleted that was not made again, and of others nothing", async () => {
  await using folder = await scratch({
    "upper/new/a": "1",
    "lower/new/a": "1",
    "lower/new/b": "2",
    "view/new/a": "1",
    "upper/old/a": "1",
    "lower/old/a": "0",
    "lower/old/b": "2",
    "view/old/a": "1",
    "view/old/b": "2",
  });
  const layers = layersIn(folder);
  const { changes, touched } = await listChanges(layers, { files: 100, bytes: 100 }, signal);
  const said = changes.map(({ path, after }) => `${path} ${after?.type ?? "deleted"}`);
  assert.deepEqual(said.sort(), ["new/b deleted", "old/a file"]);
  assert.equal(touched, 1);
});
