/** The engine starts quickly inside of its sandbox: what Deno makes of its modules is made before, outside. */
import assert from "node:assert/strict";
import { fillCodeCache } from "../../denops/agent/supervisor/agents/code_cache.ts";
import { bwrapArguments, engineEnvironment } from "../../denops/agent/supervisor/agents/grants.ts";
import { sandbox } from "../../denops/agent/supervisor/system/sandbox.ts";
import { copyOfPlugin } from "../support/agent.ts";
import { BUBBLEWRAP, prepareEngine } from "../support/engine.ts";
import { scratch } from "../support/project.ts";

Deno.test({
  name:
    "what Deno makes of the engine's modules is made once, anew after a change, and not used when it is broken",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using project = await scratch({ "a.txt": "one\n" });
    await using state = await scratch();
    await using cache = await scratch();
    await using plugin = await copyOfPlugin();
    const setup = {
      level: BUBBLEWRAP,
      root: project.root,
      stateDir: state.root,
      baseUrl: "http://127.0.0.1:9/v1",
    };
    const { launch } = await prepareEngine(setup);
    const npm = `${launch.grants.denoDir}/npm`;
    await Deno.symlink(npm, cache.path("npm"));
    const main = plugin.path("denops/agent/engine/main.ts");
    const grants = { ...launch.grants, plugin: plugin.root, module: main, denoDir: cache.root };
    assert.equal(await fillCodeCache(grants, state.root), true);
    const sizes = (await Array.fromAsync(Deno.readDir(cache.root)))
      .filter(({ name }) => name.startsWith("v8_code_cache"))
      .map(({ name }) => Deno.statSync(cache.path(name)).size);
    assert.ok(sizes.reduce((all, size) => all + size, 0) > 1_000_000, "V8's code is there");
    assert.equal(await fillCodeCache(grants, state.root), false);
    await Deno.writeTextFile(main, "\n", { append: true });
    assert.equal(await fillCodeCache(grants, state.root), true);

    await Deno.writeTextFile(cache.path("v8_code_cache_v2"), "no database");
    const level = await sandbox([project.root]);
    assert.ok(level.level === "bubblewrap");
    const args = bwrapArguments(grants, [], level.system);
    const { success, stderr } = await new Deno.Command(level.bwrap, {
      // What the link leads to, in front of where to begin.
      args: args.toSpliced(args.indexOf("--chdir"), 0, "--ro-bind", npm, npm),
      env: engineEnvironment(grants, {}),
      clearEnv: true,
      stdin: "null",
    }).output();
    assert.ok(success, new TextDecoder().decode(stderr));
    assert.equal(await Deno.readTextFile(cache.path("v8_code_cache_v2")), "no database");
  },
});
