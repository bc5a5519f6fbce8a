/** Overlays that are renewed under a living program: each turn's changes are known, and nothing else is written. */
import assert from "node:assert/strict";
import { TurnOverlay } from "../../denops/agent/supervisor/commands/overlay/turn_overlay.ts";
import { DEFAULT_TIMEOUT, scratch, waitUntil } from "../support/project.ts";
import { leftovers } from "../support/rehearsal.ts";
import { sandboxedShell } from "../support/foreign/sandboxed_shell.ts";
import { treeOf } from "../support/trees.ts";

const ignore = Deno.build.os !== "linux";
const NOTHING = { folders: [], files: [] };
const STORES = ["memory", "disk"] as const;

async function changesOf(overlay: TurnOverlay): Promise<readonly string[]> {
  const [found] = await overlay.list(AbortSignal.timeout(DEFAULT_TIMEOUT));
  return found?.changes.toSorted((a, b) => a.path < b.path ? -1 : 1).map(({ path, before, after }) =>
    `${path}: ${before} → ${after?.type}`
  ) ?? [];
}

Deno.test({
  name: "a living program sees each turn's project, writes only during turns, and only to the turn's layer",
  ignore,
  async fn() {
    for (const store of STORES) {
      await using project = await scratch({ "a.txt": "one\n", "d/b.txt": "b\n" });
      await using state = await scratch();
      const before = treeOf(project.root, { exact: true });
      await using overlay = await TurnOverlay.start(
        { roots: [project.root], state: state.root, store },
        NOTHING,
      );
      await using agent = await sandboxedShell(overlay, project.root, state.root);
      assert.match(await agent.run("echo x > new.txt; cat a.txt"), /Read-only file system[^]*one/);

      await overlay.renew(NOTHING);
      const { root } = project;
      assert.match(
        await agent.run("echo x > new.txt"),
        /Read-only file system/,
        "an old folder stays closed",
      );
      assert.equal(
        await agent.run(`cd ${root}; echo two >> a.txt; echo n > new.txt; rm -r d; cat a.txt`),
        "one\ntwo\n",
      );
      assert.ok(await overlay.freeze());
      assert.match(await agent.run("echo x > late.txt"), /Read-only file system/);
      assert.deepEqual(await changesOf(overlay), [
        "a.txt: file → file",
        "d: folder → undefined",
        "new.txt: undefined → file",
      ]);
      assert.deepEqual(treeOf(project.root, { exact: true }), before);

      await project.write("a.txt", "one\nuser\n");
      await overlay.renew(NOTHING);
      assert.equal(
        await agent.run(`cat ${root}/a.txt; ls ${root}/d; cat ${root}/new.txt`).then((text) =>
          text.replace(/cat: .*/, "gone")
        ),
        "one\nuser\nb.txt\ngone\n",
      );
      assert.equal(await agent.run(`cd ${root}; echo three >> a.txt; pwd`), `${root}\n`);
      assert.ok(await overlay.freeze());
      assert.deepEqual(await changesOf(overlay), ["a.txt: file → file"]);
      assert.equal(await Deno.readTextFile(`${overlay.upper(0)}/a.txt`), "one\nuser\nthree\n");
    }
  },
});

Deno.test({
  name: "hidden files stay hidden in each turn, also those that come later",
  ignore,
  async fn() {
    await using project = await scratch({ ".env": "hush\n", "keys/one": "hush\n", "a.txt": "a\n" });
    await using state = await scratch();
    const hidden = { folders: [project.path("keys")], files: [project.path(".env"), project.path("gone")] };
    for (const store of STORES) {
      await using overlay = await TurnOverlay.start(
        { roots: [project.root], state: state.root, store },
        hidden,
      );
      await using agent = await sandboxedShell(overlay, project.root, state.root);
      const look =
        `cd ${project.root}; cat .env keys/* later; rm -rf .env keys; mv .env moved; mv keys other; echo x > .env; ln .env l; true`;
      assert.doesNotMatch(await agent.run(look), /hush/);
      await project.write("later", "hush\n");
      await overlay.renew({ ...hidden, files: [...hidden.files, project.path("later")] });
      const output = await agent.run(look);
      assert.doesNotMatch(output, /hush/);
      assert.match(output, /busy/);
      assert.doesNotMatch(
        await agent.run(
          `umount ${project.root}; umount ${project.path(".env")}; cat ${project.path(".env")}`,
        ),
        /hush/,
      );
      assert.ok(await overlay.freeze());
      assert.deepEqual(await changesOf(overlay), []);
      await Deno.remove(project.path("later"));
    }
    assert.deepEqual(leftovers(state.root), []);
  },
});

Deno.test({
  name:
    "a file that is held open for writing leaves the layer open, and reaches no later turn and no project",
  ignore,
  async fn() {
    for (const store of STORES) {
      await using project = await scratch({ "a.txt": "a\n" });
      await using state = await scratch();
      const before = treeOf(project.root, { exact: true });
      await using overlay = await TurnOverlay.start(
        { roots: [project.root], state: state.root, store },
        NOTHING,
      );
      await using agent = await sandboxedShell(overlay, project.root, state.root);
      await overlay.renew(NOTHING);
      await agent.run(`cd ${project.root}; exec 7>>a.txt 8>log; echo one >&7`);
      assert.equal(await overlay.freeze(), false);
      assert.deepEqual(await changesOf(overlay), ["a.txt: file → file", "log: undefined → file"]);
      await overlay.renew(NOTHING);
      assert.equal(
        await agent.run(`echo two >&7; echo late > new; cat ${project.root}/a.txt; exec 7>&- 8>&-`),
        "a\n",
      );
      assert.ok(await overlay.freeze());
      assert.deepEqual(await changesOf(overlay), []);
      assert.deepEqual(treeOf(project.root, { exact: true }), before);
    }
  },
});

Deno.test({
  name: "a turn that writes more than its limits: in memory its writes fail, on disk it is found",
  ignore,
  async fn() {
    for (const store of STORES) {
      await using project = await scratch({ "a.txt": "a\n" });
      await using state = await scratch();
      const options = {
        roots: [project.root],
        state: state.root,
        store,
        limits: { bytes: 2 ** 20, files: 100 },
      };
      await using overlay = await TurnOverlay.start(options, NOTHING);
      await using agent = await sandboxedShell(overlay, project.root, state.root);
      for (let turn = 0; turn < 3; turn++) {
        await overlay.renew(NOTHING);
        assert.equal(await overlay.isPastLimits(), false);
        await agent.run(`cd ${project.root}; head -c 700000 /dev/zero > big`);
        assert.equal(await overlay.isPastLimits(), false);
      }
      const output = await agent.run("head -c 700000 /dev/zero > more");
      if (store === "memory") assert.match(output, /No space left/);
      // If another program frees as much space meanwhile, it is counted a little later.
      else await waitUntil("it to be found", () => overlay.isPastLimits());
    }
  },
});
