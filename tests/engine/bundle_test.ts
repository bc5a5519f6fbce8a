/** Bundles: those of the modules are used, those of others never. */
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import {
  type BundleName,
  BUNDLES,
  ENTRIES,
  recordName,
  recordOf,
} from "../../denops/agent/supervisor/agents/bundle.ts";
import { copyOfPlugin, PLUGIN, startAgent } from "../support/agent.ts";
import { waitForChat } from "../support/chat.ts";
import { denoCache } from "../support/nvim_process.ts";
import { marked } from "../support/processes.ts";
import type { Scratch } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";

/**
 * Stand-ins for bundles, as esbuild may not be at hand: the engine's loads the module, and the supervisor's leaves a
 * file and fails.
 */
async function writeStandIns(plugin: Scratch): Promise<void> {
  const agent = plugin.path("denops/agent");
  const write = async (name: BundleName, textOf: (entry: string) => string) => {
    const bundles = ENTRIES[name].map((entry) => `${BUNDLES}/${entry.replace(/\.ts$/, ".js")}`);
    for (const [at, entry] of ENTRIES[name].entries()) {
      await plugin.write(`denops/agent/${bundles[at]}`, textOf(entry));
    }
    await Deno.writeTextFile(
      join(agent, BUNDLES, recordName(name)),
      recordOf(agent, [...ENTRIES[name], ...bundles]),
    );
  };
  const up = (entry: string) => "../".repeat(entry.split("/").length);
  await write("engine", (entry) => `export * from "${up(entry)}${entry}";\n`);
  const fails = `Deno.writeTextFileSync(import.meta.filename + ".tried", "");\nthrow new Error("broken");\n`;
  await write(
    "supervisor",
    (entry) => entry.endsWith("boot.ts") ? `export * from "${up(entry)}${entry}";\n` : fails,
  );
}

/** Sends a message in a new Neovim; the file that its engine runs, below denops/agent. */
async function engineFile(plugin: Scratch, health: string): Promise<string> {
  await using agent = await startAgent({ script: "say Hello.", plugin: plugin.root });
  await agent.nvim.command("Agent hello");
  await waitForChat(agent.nvim, "Hello.");
  await agent.nvim.command("silent! checkhealth agent");
  const report = await agent.nvim.lua<string>(
    `return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")`,
  );
  assert.ok(report.includes(health), report);
  const folder = `${plugin.path("denops/agent")}/`;
  const engines = await marked(`--state=${agent.state.root}`);
  const file = engines.flatMap(({ command }) => command.split(" ")).find((part) => part.startsWith(folder));
  return file?.slice(folder.length) ?? "";
}

/** What the supervisor opens to look at sessions is closed again: a lock that stays keeps engines out. */
async function assertClosesLocks(plugin: Scratch): Promise<void> {
  await using agent = await startAgent({ script: "say Hello.", plugin: plugin.root });
  await agent.nvim.command("Agent hello");
  await waitForChat(agent.nvim, "Hello.");
  await agent.nvim.command("Agent sessions");
  await agent.nvim.waitForScreen("1 turn");
  const [supervisor] = await marked(plugin.path("denops/agent/standalone.ts"));
  assert.ok(supervisor !== undefined);
  const folder = `/proc/${supervisor.pid}/fd`;
  const open = Array.from(Deno.readDirSync(folder), ({ name }) => readlink(join(folder, name)));
  assert.deepEqual(open.filter((path) => path.includes("/locks/")), []);
}

/** Empty if it is closed meanwhile. */
function readlink(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}

Deno.test({
  name: "the engine's bundle is used; where the supervisor's does not load, its modules are",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using plugin = await copyOfPlugin();
    await writeStandIns(plugin);
    assert.equal(await engineFile(plugin, "OK The plugin's modules are bundled"), "dist/engine/main.js");
    assert.ok(existsSync(plugin.path("denops/agent/dist/supervisor/supervisor.js.tried")));
  },
});

const DOWNLOADS = join(denoCache().DENO_DIR, "dl");
const hasEsbuild = existsSync(DOWNLOADS) &&
  readdirSync(DOWNLOADS).some((name) => name.startsWith("esbuild-"));
if (IS_FULL && !hasEsbuild) {
  console.log("bundle_test.ts makes no bundles: esbuild is not in Deno's cache. Try deno task bundle");
}

Deno.test({
  name: "deno task bundle makes them",
  ignore: Deno.build.os !== "linux" || !IS_FULL || !hasEsbuild,
  async fn() {
    await using plugin = await copyOfPlugin();
    cpSync(join(PLUGIN, "scripts"), plugin.path("scripts"), { recursive: true });
    await plugin.write("denops/agent/dist/engine/old.js", "");
    const command = new Deno.Command(Deno.execPath(), { args: ["task", "bundle"], cwd: plugin.root });
    const { success, stderr } = await command.output();
    assert.ok(success, new TextDecoder().decode(stderr));
    const names = Array.from(Deno.readDirSync(plugin.path("denops/agent")), ({ name }) => name);
    assert.deepEqual(names.filter((name) => name.startsWith("dist")), ["dist"]);
    assert.ok(!existsSync(plugin.path("denops/agent/dist/engine/old.js")));
    const bundle = await plugin.read("denops/agent/dist/supervisor/supervisor.js");
    assert.doesNotMatch(bundle, /[\u0080-\uffff]/);
    // It stands in a raw template.
    assert.ok(bundle.includes(JSON.stringify("git *\ufffc*").slice(1, -1).replace("\ufffc", "\\ufffc")));
    assert.equal(await engineFile(plugin, "OK The plugin's modules are bundled"), "dist/engine/main.js");
    await assertClosesLocks(plugin);
  },
});
