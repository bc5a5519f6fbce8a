/**
 * A folder of the project becomes a link to another place and back, as fast as a process can rename. Whatever an
 * engine asks Neovim to read or write there meanwhile, nothing outside is read or written.
 */
import assert from "node:assert/strict";
import { takeSnapshot } from "../../denops/agent/engine/checkpoint/snapshot.ts";
import { oneFile } from "../../denops/agent/supervisor/system/one_file.ts";
import { PLUGIN } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { type Scratch, scratch } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";
import type { SwapRequest } from "../attacks/swap_links.ts";

const TRIES = IS_FULL ? 10_000 : 400;
const AT_ONCE = 100;
const SECRET = "unsaved secret";

/** One of each kind of question, so often; what they gave. */
const ASK = `
local path, outside, tries = ...
local reload = require("agent.reload")
local buf = vim.fn.bufnr(path)
local seen = {}
for i = 1, tries do
  local base = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\\n") .. "\\n"
  local ok, text = pcall(reload.unsaved_text, path)
  seen[text or "nothing"] = true
  pcall(reload.write_unsaved, { path = path, base = base, text = "try " .. i .. "\\n" })
  reload.file_modified({ path = path, kind = "modified" })
  vim.wait(1)
  seen[table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\\n")] = true
  local kept = vim.uv.fs_open(outside, "r", 0)
  seen["outside: " .. vim.uv.fs_read(kept, 1000)] = true
  vim.uv.fs_close(kept)
end
return vim.tbl_keys(seen)`;

async function swap(root: string): Promise<AsyncDisposable> {
  const worker = new Worker(new URL("../attacks/swap_links.ts", import.meta.url), { type: "module" });
  const over = new SharedArrayBuffer(4);
  const answer = () => new Promise((resolve) => worker.onmessage = resolve);
  const ready = answer();
  worker.postMessage({ root, over } satisfies SwapRequest);
  await ready;
  return {
    async [Symbol.asyncDispose]() {
      const done = answer();
      Atomics.store(new Int32Array(over), 0, 1);
      await done;
      worker.terminate();
    },
  };
}

async function ground(): Promise<Scratch> {
  const folder = await scratch({ "project/dir/f.txt": "inside\n", "outside/f.txt": "outside\n" });
  await Deno.symlink("../outside", folder.path("project/link"));
  return folder;
}

Deno.test({
  name: "no file outside is read or written through Neovim while folders become links",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await ground();
    const [path, outside] = [folder.path("project/dir/f.txt"), folder.path("outside/f.txt")];
    await using nvim = await ChildNvim.start({ runtime: [PLUGIN], files: [path] });
    await nvim.lua("require('agent.reload'); vim.o.autoread = true");
    await nvim.command(`edit ${outside} | call setline(1, "${SECRET}") | buffer ${path}`);
    const seen = new Set<string>();
    {
      await using _swapping = await swap(folder.path("project"));
      for (let tries = 0; tries < TRIES; tries += AT_ONCE) {
        for (const text of await nvim.lua<readonly string[]>(ASK, path, outside, AT_ONCE)) seen.add(text);
      }
    }
    const leaks = [...seen].filter((text) => !/^(nothing|inside|try \d+|outside: outside\n)?\n?$/.test(text));
    assert.deepEqual(leaks, []);
    // In a quiet moment all of it works.
    await nvim.lua(`require("agent.reload").file_modified({ path = ..., kind = "modified" })`, path);
    const [text = ""] = (await folder.read("project/dir/f.txt")).split("\n");
    await nvim.waitFor(`vim.api.nvim_buf_get_lines(0, 0, 1, true)[1] == "${text}"`);
    const last = await nvim.lua<readonly string[]>(ASK, path, outside, 1);
    assert.ok(last.includes("try 1"), last.join());
    assert.equal(await folder.read("project/dir/f.txt"), "try 1\n");
    assert.equal(await folder.read("outside/f.txt"), "outside\n");
    assert.deepEqual((await Array.fromAsync(Deno.readDir(folder.path("outside")))).map(({ name }) => name), [
      "f.txt",
    ]);
  },
});

Deno.test({
  name: "no checkpoint keeps a file outside while folders become links",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await ground();
    const root = await Deno.realPath(folder.path("project"));
    const kept: Record<string, number> = {};
    const contents = {
      put(bytes: Uint8Array) {
        const text = new TextDecoder().decode(bytes);
        kept[text] = (kept[text] ?? 0) + 1;
        return text;
      },
      putParts: () => Promise.reject(new Error("it is small")),
    };
    {
      await using _swapping = await swap(root);
      for (let tries = 0; tries < TRIES * 10; tries++) {
        await takeSnapshot(`${root}/dir/f.txt`, contents, [root]).catch(() => {});
      }
    }
    const { "inside\n": own = 0, ...outside } = kept;
    assert.deepEqual(outside, {});
    assert.ok(own > 0);
  },
});

Deno.test({
  name: "no file outside is taken for one of the project while folders become links",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using folder = await ground();
    const root = await Deno.realPath(folder.path("project"));
    const found = new Set<string>();
    {
      await using _swapping = await swap(root);
      for (let tries = 0; tries < TRIES * 10; tries++) {
        await oneFile(`${root}/dir/f.txt`, 1_000).then(
          ({ real, text }) => found.add(`${real.startsWith(root)} ${text}`),
          () => {},
        );
      }
    }
    assert.deepEqual([...found].sort(), ["false outside\n", "true inside\n"]);
  },
});
