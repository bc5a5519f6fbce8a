/** What README.md, CHANGELOG.md, tests/repro.lua and the rockspec promise. */
import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { TOOLS } from "../../denops/agent/engine/tools/registry.ts";
import { PRESETS } from "../../denops/agent/protocol/providers.ts";
import { denoProblem, VERSION } from "../../denops/agent/protocol/version.ts";
import { PLUGIN, startAgent } from "../support/agent.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";

Deno.test("README: every dependency with its version, and every provider; CHANGELOG: this version", async () => {
  const readme = await Deno.readTextFile(join(PLUGIN, "README.md"));
  const deps = join(PLUGIN, "denops/agent/deps");
  const files = (await Array.fromAsync(Deno.readDir(deps))).map((entry) => join(deps, entry.name));
  const texts = await Promise.all(
    [join(PLUGIN, "deno.json"), ...files].map((file) => Deno.readTextFile(file)),
  );
  const named = texts.join("\n").matchAll(/"npm:(.+)@([^/]+?)(?:\/.+?)?"/g);
  const wanted = new Map([...named].map(([, name = "", version = ""]) => [name, version]));
  const rows = [...readme.matchAll(/^\| `([^`]+)` \| ([\d.]+) \| \S/gm)];
  assert.deepEqual(
    Object.fromEntries(rows.map(([, name = "", version]) => [name, version])),
    Object.fromEntries(wanted),
  );
  assert.ok(readme.trimEnd().split("\n").length <= 120);
  assert.ok(readme.replaceAll(/\s+/g, " ").includes(`Known by name: ${Object.keys(PRESETS).join(", ")}.`));
  assert.ok((await Deno.readTextFile(join(PLUGIN, "CHANGELOG.md"))).includes(VERSION));
});

Deno.test("README: the keys of an approval; CHANGELOG: every sub-command and tool", async () => {
  await using child = await ChildNvim.start({ runtime: [PLUGIN] });
  const readme = await Deno.readTextFile(join(PLUGIN, "README.md"));
  const keys = await child.lua<readonly string[]>(
    `return require("agent.approval.content").KINDS.command.keys({ suggestion = "run(x)" })`,
  );
  const [, row = ""] = /^\| answer an approval \| (.*) \|$/m.exec(readme) ?? [];
  const named = [...row.matchAll(/`(\w)` (\w+)/g)].map(([, key, action]) => `${key} ${action}`);
  assert.deepEqual(named, keys.slice(0, 4));
  const oldest = await child.lua<string>(`return require("agent.config.schema").oldest_deno`);
  assert.ok(readme.includes(`Deno](https://deno.com) ${oldest} or newer`), oldest);
  assert.equal(denoProblem(`${oldest}.0`), undefined);
  const [major = 0, minor = 0] = oldest.split(".").map(Number);
  assert.match(denoProblem(`${major}.${minor - 1}.9`) ?? "", new RegExp(`needs Deno ${oldest} `));
  const neovim = await child.lua<string>(`return require("agent.config.schema").oldest_neovim`);
  for (
    const file of ["README.md", "doc/agent.txt", "agent.nvim-scm-1.rockspec", ".github/workflows/ci.yml"]
  ) {
    const text = await Deno.readTextFile(join(PLUGIN, file));
    const versions = [...text.matchAll(/(?:Neovim |neovim: \[v)(\d+\.\d+)/g)].map(([, version]) => version);
    assert.deepEqual([...new Set(versions)], [neovim], file);
  }
  const tools = await Deno.readTextFile(join(PLUGIN, "scripts/tools.ts"));
  assert.ok(tools.includes(`oldestNeovim = [${neovim.replace(".", ", ")}, 0]`), neovim);
  const changelog = await Deno.readTextFile(join(PLUGIN, "CHANGELOG.md"));
  const actions = await child.lua<readonly { readonly name: string }[]>(
    `return vim.tbl_map(function(row) return { name = row.name } end, require("agent.actions").all)`,
  );
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

interface Build {
  readonly copy_directories: readonly string[];
  /** Where a file goes, seen from the rock's folder `conf`, and which one. */
  readonly install: { readonly conf: Readonly<Record<string, string>> };
}

Deno.test("the rockspec says where the plugin is, and what it installs works", async () => {
  await using child = await ChildNvim.start();
  const spec = await child.lua<{ package: string; version: string; build: Build }>(
    `local spec = {}
    setfenv(assert(loadfile(...)), spec)()
    return spec`,
    join(PLUGIN, "agent.nvim-scm-1.rockspec"),
  );
  assert.equal(`${spec.package}-${spec.version}`, "agent.nvim-scm-1");
  // As LuaRocks installs it and rocks.nvim finds it: Lua apart from the rock, which is on the runtimepath.
  const { copy_directories, install: { conf } } = spec.build;
  await using tree = await scratch();
  const rock = tree.path("lib/luarocks/rocks-5.1/agent.nvim/scm-1");
  const copies = [
    ["lua", "../../../../../share/lua/5.1"],
    ...copy_directories.map((folder) => [folder, folder]),
    ...Object.entries(conf).map(([to, from]) => [from, join("conf", to)]),
  ] as const;
  for (const [from, to] of copies) cpSync(join(PLUGIN, from), join(rock, to), { recursive: true });
  const found = `package.path = ${JSON.stringify(tree.path("share/lua/5.1"))} .. "/?.lua;" ..
    ${JSON.stringify(tree.path("share/lua/5.1"))} .. "/?/init.lua;" .. package.path`;
  await using agent = await startAgent({ script: "say Hi.", plugin: rock, lua: found });
  await agent.nvim.command("Agent hello");
  // Deno has seen these modules nowhere before.
  await agent.nvim.waitForScreen("Hi.");
});
