/** What README.md, CHANGELOG.md and tests/repro.lua promise. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { TOOLS } from "../denops/agent/engine/tools/registry.ts";
import { VERSION } from "../denops/agent/protocol/version.ts";
import { PLUGIN } from "./support/agent.ts";
import { ChildNvim } from "./support/nvim.ts";

Deno.test("README: every dependency with its version; CHANGELOG: this version", async () => {
  const readme = await Deno.readTextFile(join(PLUGIN, "README.md"));
  const wanted = new Map<string, string>();
  for (const file of ["deno.json", "denops/agent/deno.json"]) {
    const { imports } = JSON.parse(await Deno.readTextFile(join(PLUGIN, file)));
    for (const [name, source] of Object.entries<string>(imports)) {
      wanted.set(name, source.slice(source.lastIndexOf("@") + 1));
    }
  }
  const rows = [...readme.matchAll(/^\| `([^`]+)` \| ([\d.]+) \| \S/gm)];
  assert.deepEqual(
    Object.fromEntries(rows.map(([, name = "", version]) => [name, version])),
    Object.fromEntries(wanted),
  );
  assert.ok(readme.split("\n").length < 200);
  assert.ok((await Deno.readTextFile(join(PLUGIN, "CHANGELOG.md"))).includes(VERSION));
});

Deno.test("README: the keys of an approval; CHANGELOG: every sub-command and tool", async () => {
  await using child = await ChildNvim.start({ runtime: [PLUGIN] });
  const readme = await Deno.readTextFile(join(PLUGIN, "README.md"));
  const keys = await child.lua<string>(`return require("agent.approval.content").keys({
    title = "write .env", reason = "", after = "x", suggestion = "write(.env)" })`);
  assert.ok(readme.includes(`─${keys}╯`), keys);
  const changelog = await Deno.readTextFile(join(PLUGIN, "CHANGELOG.md"));
  const actions = await child.lua<readonly { readonly name: string }[]>(`return require("agent.actions")`);
  const missing = [...actions, ...TOOLS].filter(({ name }) => !changelog.includes(`\`${name}\``));
  assert.deepEqual(missing.map(({ name }) => name), []);
});

Deno.test("tests/repro.lua starts a Neovim with the plugin and right options", async () => {
  await using child = await ChildNvim.start({
    lua: `dofile(${JSON.stringify(join(PLUGIN, "tests/repro.lua"))})`,
  });
  assert.equal(await child.lua(`return vim.fn.exists(":Agent")`), 2);
  assert.deepEqual(
    await child.lua(`require("agent.config").get() return require("agent.config").current_problems()`),
    [],
  );
});
