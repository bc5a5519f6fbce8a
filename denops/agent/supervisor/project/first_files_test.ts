import assert from "node:assert/strict";
import { FirstFiles } from "./first_files.ts";
import type { SearchOptions } from "./place.ts";

const OPTIONS: SearchOptions = {
  roots: ["/project"],
  rules: { deny_read: [], read_rules: { deny: [], ask: [] } },
  sandboxed: true,
};

/** Names each list by its number; `late`: the numbers of incomplete ones. */
function numbered(late: readonly number[] = []) {
  let count = 0;
  return new FirstFiles(() => {
    const number = ++count;
    const files = { paths: [String(number)], more: false, rules: [] };
    return Promise.resolve(late.includes(number) ? { ...files, late: true } : files);
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

Deno.test("an incomplete list is made again", async () => {
  const files = numbered([1]);
  files.begin(OPTIONS);
  assert.equal(await listOf(files), "2");
});
