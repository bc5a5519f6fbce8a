import assert from "node:assert/strict";
import { FirstFiles } from "./first_files.ts";
import type { SearchOptions } from "./place.ts";

const OPTIONS: SearchOptions = {
  roots: ["/project"],
  rules: { deny_read: [], read_rules: { deny: [], ask: [] } },
  sandboxed: true,
};

/** Names each list by its number. @param failing the number of a list that fails */
function numbered(failing?: number) {
  let count = 0;
  return new FirstFiles(() => {
    const number = ++count;
    if (number === failing) return Promise.reject(new Error("no list"));
    return Promise.resolve({ paths: [String(number)], more: false, rules: [] });
  });
}

async function listOf(files: FirstFiles, options = OPTIONS): Promise<string | undefined> {
  return (await files.list(options, new AbortController().signal))?.paths[0];
}

Deno.test("a list that was begun is given once", async () => {
  const files = numbered();
  files.begin(OPTIONS);
  assert.deepEqual([await listOf(files), await listOf(files)], ["1", "2"]);
});

Deno.test("a list that was begun under other rules is not given", async () => {
  const files = numbered();
  files.begin(OPTIONS);
  const stricter = { ...OPTIONS, rules: { ...OPTIONS.rules, deny_read: ["secret/**"] } };
  assert.equal(await listOf(files, stricter), "2");
});

Deno.test("a list that failed is made again", async () => {
  const files = numbered(1);
  files.begin(OPTIONS);
  assert.equal(await listOf(files), "2");
});
