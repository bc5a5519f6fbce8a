/** Commands over overlays: the project stays as it is, and what they would change of it is known exactly. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { sequences } from "../support/shell_sequences.ts";
import { playSequence } from "../support/rehearsal_play.ts";
import { leftovers, rehearse } from "../support/rehearsal.ts";
import { commandRunner } from "../support/command_sandbox.ts";
import { DEFAULT_TIMEOUT, scratch, waitUntil } from "../support/project.ts";
import { Overlay } from "../../denops/agent/supervisor/commands/overlay/overlay.ts";
import { overlaySupport } from "../../denops/agent/supervisor/commands/overlay/probe.ts";
import { IS_FULL } from "../support/sample.ts";
import { treeOf } from "../support/trees.ts";

const ignore = Deno.build.os !== "linux";

Deno.test({
  name: "random commands change nothing, and their list makes of a copy what running them makes of it",
  ignore,
  async fn() {
    const store = fc.constantFrom("memory" as const, "disk" as const);
    await fc.assert(fc.asyncProperty(sequences, store, playSequence), { numRuns: IS_FULL ? 60 : 8 });
  },
});

Deno.test({
  name: "the list says what is new, changed, deleted, moved, closed, only touched, and what cannot be kept",
  ignore,
  async fn() {
    await using project = await scratch({
      "changed": "old\n",
      "touched": "same\n",
      "mode": "m\n",
      "gone": "g\n",
      "moved": "content that moves\n",
      "replaced/one": "1",
      "replaced/two": "2",
      "whole/one": "one",
      "link": "will be a link",
    });
    await using state = await scratch();
    const before = treeOf(project.root, { exact: true });
    const line = `echo new > changed; touch touched; chmod 755 mode; rm gone; mv moved here
rm -r replaced; mkdir replaced; echo 3 > replaced/three; rm -r whole; rm link; ln -s /etc link
mkdir -m 000 closed; mkfifo pipe; printf x > $'line\\nbreak'; printf x > $'byte\\377'; printf k > key; chmod 000 key`;
    for (const store of ["memory", "disk"] as const) {
      const { changes: [found], output } = await rehearse(
        { roots: [project.root], state: state.root, store },
        line,
      );
      const said = Object.fromEntries(
        (found?.changes ?? []).map(({ path, before, after, from }) => {
          const mode = after !== undefined && "mode" in after ? ` ${after.mode.toString(8)}` : "";
          return [path, `${before} → ${after?.type}${mode}${from === undefined ? "" : ` from ${from}`}`];
        }),
      );
      assert.deepEqual(said, {
        "changed": "file → file 644",
        "closed": "undefined → folder 0",
        "gone": "file → undefined",
        "here": "undefined → file 644 from moved",
        "key": "undefined → file 0",
        "line\nbreak": "undefined → file 644",
        "link": "file → link",
        "mode": "file → file 755",
        "moved": "file → undefined",
        "replaced/one": "file → undefined",
        "replaced/three": "undefined → file 644",
        "replaced/two": "file → undefined",
        "whole": "folder → undefined",
      }, output);
      assert.equal(found?.touched, 1);
      assert.deepEqual(found?.refused, [
        { path: "byte\ufffd", reason: "its name is not UTF-8" },
        { path: "pipe", reason: "it is neither a file, a folder nor a link" },
      ]);
    }
    assert.deepEqual(treeOf(project.root, { exact: true }), before);
    assert.deepEqual(leftovers(state.root), []);
  },
});

Deno.test({
  name: "roots of any name, one in the other too, each have their own list",
  ignore,
  async fn() {
    await using folder = await scratch({
      "a:b,c\\d e\nf=1/sub/x": "x\n",
      "a:b,c\\d e\nf=1/y": "y\n",
      "two/z": "z\n",
    });
    await using state = await scratch();
    const first = folder.path("a:b,c\\d e\nf=1");
    const roots = [first, folder.path("two"), `${first}/sub`];
    const before = treeOf(folder.root, { exact: true });
    const line = `echo 1 > y; echo 2 > sub/x; rm '${folder.path("two/z")}'`;
    for (const store of ["memory", "disk"] as const) {
      const { changes, output } = await rehearse({ roots, state: state.root, store }, line);
      const said = changes.map((one) => one.changes.map(({ path, after }) => `${path} ${after?.type}`));
      assert.deepEqual(said, [["y file"], ["z undefined"], ["x file"]], output);
    }
    assert.deepEqual(treeOf(folder.root, { exact: true }), before);
  },
});

Deno.test({
  name: "what the user makes while a command runs is no change of the command's",
  ignore,
  async fn() {
    await using project = await scratch({ "d/a": "1\n", "e/a": "1\n" });
    await using state = await scratch();
    const options = { roots: [project.root], state: state.root, store: "memory" as const };
    const line = `ls d e; rm -r e; mkdir e; echo c > d/c; echo ready; exec sleep 60`;
    const { changes: [found] } = await rehearse(options, line, () => {}, {
      running: ({ command }) =>
        waitUntil("the command to have looked", () => command.output.includes("ready")).then(async () => {
          await project.write("d/b", "the user's\n");
          command.stop();
        }),
    });
    const said = found?.changes.map(({ path, after }) => `${path} ${after?.type}`);
    assert.deepEqual(said, ["e/a undefined", "d/c file"]);
  },
});

Deno.test({
  name: "a command that writes more than it may is told so in memory, and seen on disk",
  ignore,
  async fn() {
    await using project = await scratch({ "a": "1\n" });
    await using state = await scratch();
    const options = { roots: [project.root], state: state.root, limits: { bytes: 2 ** 20, files: 100 } };
    const line = `head -c 5000000 /dev/zero > big; mkdir many; touch many/{1..200}`;
    const { output } = await rehearse({ ...options, store: "memory" }, line);
    assert.match(output, /No space left on device/);
    const ended: Overlay[] = [];
    for (const what of ["head -c 5000000 /dev/zero > big", "touch {1..200}"]) {
      await using overlay = await Overlay.start({ ...options, store: "disk" });
      assert.equal(await overlay.isPastLimits(), false);
      assert.equal(await overlay.run(`cd "$1"; exec bash -c "$2"`, [project.root, what]), undefined);
      // Until it counts again, it relies on the free space, which other programs change.
      await waitUntil("the limit to be seen", () => overlay.isPastLimits());
      await assert.rejects(
        overlay.list(AbortSignal.timeout(DEFAULT_TIMEOUT)),
        /^Error: it (wrote|changed) more than/,
      );
      ended.push(overlay);
    }
    // Whoever watches the command may ask once more.
    for (const overlay of ended) assert.equal(await overlay.isPastLimits(), false);
    assert.deepEqual([...treeOf(project.root).keys()], ["", "a"]);
    assert.deepEqual(leftovers(state.root), []);
  },
});

Deno.test({
  name: "a folder of command_write can be written over an overlay, and stays as it is",
  ignore,
  async fn() {
    await using project = await scratch({ "a": "" });
    await using cache = await scratch({ "warm": "1\n" });
    await using state = await scratch();
    const before = treeOf(cache.root, { exact: true });
    const { sandbox, run } = commandRunner([project.root], state.root, [], { command_write: [cache.root] });
    assert.ok((await sandbox.rehearses()).works);
    for (const access of ["try", "write"] as const) {
      const { output } = await run(access, `cd '${cache.root}' && cat warm && echo 2 | tee new`, {
        rehearsed: true,
      });
      assert.equal(output.trim(), "1\n2");
    }
    assert.deepEqual(treeOf(cache.root, { exact: true }), before);
    assert.deepEqual(leftovers(state.root), []);
    // That was agreed to.
    await run("write+network", `echo 3 > '${cache.path("new")}'`, { rehearsed: true });
    assert.equal(await cache.read("new"), "3\n");
  },
});

Deno.test({
  name: "whether overlays work is tried, and said where they do not",
  ignore,
  async fn() {
    await using project = await scratch({ "a.txt": "" });
    await using state = await scratch();
    for (const store of ["memory", "disk"] as const) {
      const options = { roots: [project.root], state: state.root, store };
      assert.deepEqual(await overlaySupport(options), { works: true });
      const inside = await overlaySupport({ ...options, roots: ["/dev"] });
      assert.match(inside.works ? "" : inside.reason, /^another file system is mounted at \/dev\/./);
      const own = await overlaySupport({ ...options, roots: [state.root] });
      assert.deepEqual(own, { works: false, reason: `the state folder is in ${state.root}` });
    }
    // Nothing can be written there.
    const closed = await overlaySupport({ roots: ["/proc/self/fd"], state: "/proc/self", store: "disk" });
    assert.equal(closed.works, false);
    if (Deno.uid() !== 0) {
      const foreign = await overlaySupport({ roots: ["/usr/lib"], state: state.root, store: "memory" });
      assert.deepEqual(foreign, { works: false, reason: "/usr/lib belongs to another user or group" });
    }
    assert.deepEqual([...treeOf(project.root).keys()], ["", "a.txt"]);
    assert.deepEqual(leftovers(state.root), []);
  },
});
