/** What is promised of commands over overlays, attacked: nothing reaches the project, and no list leads out of it. */
import assert from "node:assert/strict";
import { getPriority } from "node:os";
import { fileURLToPath } from "node:url";
import { Overlay } from "../../denops/agent/supervisor/commands/overlay/overlay.ts";
import { sweepRunFolders } from "../../denops/agent/supervisor/commands/overlay/run_folder.ts";
import { signalAll } from "../../denops/agent/supervisor/commands/process_tree.ts";
import { RunningCommand } from "../../denops/agent/supervisor/commands/runner.ts";
import { commandRunner } from "../support/command_sandbox.ts";
import { leftovers, rehearse, type Running } from "../support/rehearsal.ts";
import { DEFAULT_TIMEOUT, scratch, waitUntil } from "../support/project.ts";
import { treeOf } from "../support/trees.ts";

const ignore = Deno.build.os !== "linux";
const STORES = ["memory", "disk"] as const;
const exact = (root: string) => treeOf(root, { exact: true });

Deno.test({
  name: "what holds for a command holds over an overlay: no network, no secrets, no repository, no state",
  ignore,
  async fn() {
    await using project = await scratch({ "a.txt": "a\n", "secret.key": "hush\n" }, { git: true });
    await using state = await scratch({ "own.txt": "own\n" });
    await Deno.link(project.path("secret.key"), project.path("other name"));
    const { sandbox } = commandRunner([project.root], state.root, ["**/*.key"]);
    const before = exact(project.root);
    for (const store of STORES) {
      await using overlay = await Overlay.start({ roots: [project.root], state: state.root, store });
      const spec = await sandbox.specify({ access: "write", cwd: project.root }, ["**/*.key"]);
      const [program = "", ...args] = [...overlay.enter, spec.program, ...spec.args];
      const line = `cat secret.key "other name"; ln secret.key linked; cp secret.key copied
rm -f secret.key; mv "other name" moved; cat moved; echo b > a.txt
touch .git/hooks/pre-commit; ls ${state.root}; grep -c : /proc/net/dev; id -u; nice
unshare -Um true; umount ${project.root}; mount -o remount,rw ${project.root}; grep CapEff /proc/self/status`;
      const command = new RunningCommand(
        { ...spec, program, args, line, cwd: project.root, timeoutMs: 30_000 },
        () => {},
      );
      const end = await command.ended;
      assert.deepEqual(end.type, "exited", command.output);
      assert.doesNotMatch(command.output, /hush|own\.txt/);
      assert.match(command.output, /pre-commit': Read-only file system/);
      assert.match(
        command.output,
        new RegExp(`^1\n${Deno.uid()}\n${Math.min(19, getPriority() + 10)}$`, "m"),
      );
      assert.match(command.output, /CapEff:\s0{16}$/m);
      const [found] = await overlay.list(AbortSignal.timeout(DEFAULT_TIMEOUT));
      const paths = found?.changes.map(({ path }) => path) ?? [];
      assert.deepEqual(paths.filter((path) => path !== "copied"), ["a.txt"], command.output);
    }
    assert.deepEqual(exact(project.root), before);
    assert.deepEqual(leftovers(state.root), []);
  },
});

Deno.test({
  name:
    "a hostile tree is listed without leaving it: links out, deep folders, marks of overlays, late writers",
  ignore,
  async fn() {
    await using outside = await scratch({ "secret": "do not read\n", "e/name": "", "e/f": "" });
    await using project = await scratch({ "d/secret": "in\n", "d/other": "in\n", "f": "in\n" });
    await using state = await scratch();
    await Deno.symlink(outside.root, project.path("out"));
    const before = exact(project.root);
    for (const store of STORES) {
      const options = { roots: [project.root], state: state.root, store };
      const { changes: [found], output } = await rehearse(
        options,
        `rm out; mkdir -p out/e; rm -r d f; ln -s ${outside.root} d; ln -s ${
          outside.path("secret")
        } f; ln -s loop loop
mknod w c 0 0; mknod b b 7 0; mkfifo p; (setsid sh -c 'while :; do echo x >> late; done' &); until [ -s late ]; do :; done`,
      );
      assert.match(output, /mknod: w: Operation not permitted/);
      assert.match(output, /mknod: b: Operation not permitted/);
      const said = Object.fromEntries(found?.changes.map(({ path, after }) => [path, after?.type]) ?? []);
      assert.deepEqual(said, {
        "d": "link",
        "f": "link",
        "late": "file",
        "loop": "link",
        "out": "folder",
        "out/e": "folder",
      });
      assert.deepEqual(found?.refused.map(({ path }) => path), ["p"]);
      const deep = `p=$(printf 'dddddddddd/%.0s' $(seq 180)); for i in 1 2 3; do mkdir -p $p; cd $p; done`;
      const { changes: [long] } = await rehearse(options, deep);
      assert.deepEqual(long?.refused.map(({ reason }) => reason), ["its path is too long"]);
    }
    assert.deepEqual(exact(project.root), before);
    assert.equal(await outside.read("secret"), "do not read\n");
    assert.deepEqual(leftovers(state.root), []);
  },
});

Deno.test({
  name: "killed at any moment, a command leaves nothing; without its name space nothing is listed",
  ignore,
  async fn() {
    await using project = await scratch({ "a": "1\n", "d/b": "2\n" });
    await using state = await scratch();
    const before = exact(project.root);
    const line = `while :; do echo x; echo x >> a; rm -r d; mkdir -p d/e; echo 3 > d/b; mv a c; mv c a; done`;
    for (const [index, store] of [...STORES, ...STORES].entries()) {
      const withHolder = index >= STORES.length;
      const length = Math.floor(Math.random() * 60);
      let killed = Promise.resolve();
      const kill = async ({ command, processes, holder }: Running) => {
        await waitUntil("the command to run", () => command.output.length > length);
        signalAll([...await processes(), ...(withHolder ? [holder] : [])], "SIGKILL");
      };
      const rehearsed = rehearse({ roots: [project.root], state: state.root, store }, line, () => {}, {
        running: (running) => killed = kill(running),
      });
      if (withHolder) await assert.rejects(rehearsed);
      else assert.equal((await rehearsed).end.type, "signalled");
      await killed;
      assert.deepEqual(exact(project.root), before);
      assert.deepEqual(leftovers(state.root), []);
    }
  },
});

Deno.test({
  name: "nothing is listed as long as anything can still be written, and nothing can be written then",
  ignore,
  async fn() {
    await using project = await scratch({ "a": "1\n" });
    await using state = await scratch();
    await using overlay = await Overlay.start({ roots: [project.root], state: state.root, store: "disk" });
    const [program = "", ...args] = overlay.enter;
    const writer = new Deno.Command(program, {
      args: [
        ...args,
        "sh",
        "-c",
        `exec 9> "$1/late"; echo open; read -r _; echo more >&9`,
        "sh",
        project.root,
      ],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const reader = writer.stdout.getReader();
    await reader.read();
    await assert.rejects(overlay.list(AbortSignal.abort(new Error("still written"))), /still written/);
    await writer.stdin.close();
    await reader.cancel();
    await writer.status;
    const [found] = await overlay.list(AbortSignal.timeout(DEFAULT_TIMEOUT));
    const sizes = found?.changes.map(({ path, after }) => [path, after?.type === "file" ? after.size : 0]);
    assert.deepEqual(sizes, [["late", 5]]);
    assert.match(await overlay.run(`echo x > "$1/later"`, [project.root]) ?? "", /Read-only file system/);
  },
});

Deno.test({
  name: "what a supervisor that was killed has left behind is removed, and what another one uses is not",
  ignore,
  async fn() {
    await using project = await scratch({ "a": "1\n" });
    await using state = await scratch();
    const script = fileURLToPath(new URL("../support/overlay_to_kill.ts", import.meta.url));
    const other = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", script, project.root, state.root],
      stdin: "null",
      stdout: "piped",
    }).spawn();
    const reader = other.stdout.getReader();
    const { value } = await reader.read();
    const [, holder] = /^pid (\d+)$/m.exec(new TextDecoder().decode(value)) ?? [];
    assert.ok(holder !== undefined, new TextDecoder().decode(value));
    await sweepRunFolders(state.root);
    assert.equal(leftovers(state.root).length, 1);
    other.kill("SIGKILL");
    await other.status;
    await reader.cancel();
    await waitUntil("the name space to end", () => !isThere(`/proc/${holder}`));
    await sweepRunFolders(state.root);
    assert.deepEqual(leftovers(state.root), []);
    assert.deepEqual([...treeOf(project.root).keys()], ["", "a"]);
  },
});

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}
