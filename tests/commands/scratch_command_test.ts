/** The scratch folders of sessions, as commands see them at each level, and attacked from inside. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { projectState, scratchFolder } from "../../denops/agent/supervisor/system/project_state.ts";
import { commandRunner, type Runner } from "../support/command_sandbox.ts";
import { type Scratch, scratch } from "../support/project.ts";

const ON_LINUX = Deno.build.os === "linux";

interface World extends AsyncDisposable {
  readonly project: Scratch;
  /** A session's folder. */
  readonly notes: string;
  readonly runner: Runner;
}

/** @param isVisible the state folder lies in a folder that commands may read */
async function open(isVisible = false): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const project = stack.use(await scratch({ "a.txt": "a\n" }));
  const state = stack.use(await scratch({ "state/secret.txt": "SECRET\n" }));
  const stateDir = state.path("state");
  const notes = join(await scratchFolder(await projectState(project.root, stateDir)), "s1");
  await Deno.mkdir(notes);
  await Deno.writeTextFile(join(notes, "note.md"), "a note\n");
  const runner = commandRunner([project.root], stateDir, [], isVisible ? { command_read: [state.root] } : {});
  const owned = stack.move();
  return { project, notes, runner, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

for (const isVisible of [false, true]) {
  const where = isVisible ? "a folder that is shown" : "a folder that is not there";
  Deno.test({
    name: `in ${where}: a look reads it, a try writes what is gone after it, a write stays`,
    ignore: !ON_LINUX,
    async fn() {
      await using world = await open(isVisible);
      const { notes, runner } = world;
      const names = () => [...Deno.readDirSync(notes)].map(({ name }) => name).sort();
      const look = await runner.run("look", `cat ${notes}/note.md; echo x > ${notes}/x`);
      assert.match(look.output, /a note\n.*Read-only file system/);
      assert.deepEqual(names(), ["note.md"]);
      if ((await runner.sandbox.rehearses()).works) {
        const tried = await runner.run("try", `echo tried > ${notes}/x; cat ${notes}/x`, { rehearsed: true });
        assert.match(tried.output, /^tried/);
        assert.deepEqual(names(), ["note.md"]);
      }
      await runner.run("write", `echo written > ${notes}/x`);
      assert.equal(await Deno.readTextFile(join(notes, "x")), "written\n");
    },
  });
}

Deno.test({
  name: "no command replaces it, or sees what else is in the state folder",
  ignore: !ON_LINUX,
  async fn() {
    for (const isVisible of [false, true]) {
      await using world = await open(isVisible);
      const { notes, runner, project } = world;
      const folder = join(notes, "..");
      const state = join(folder, "..", "..");
      const { output } = await runner.run(
        "write",
        [
          `mv ${folder} ${folder}2`,
          `cat ${state}/secret.txt; ls -a ${state} ${state}/..`,
          `echo evil > ${state}/secret.txt; echo evil > ${folder}/../agent.db`,
          `ln ${project.root}/a.txt ${folder}/hard`,
          `rm -rf ${folder}; rmdir ${folder}; ln -s / ${folder}`,
        ].join("; "),
      );
      assert.doesNotMatch(output, /SECRET/);
      assert.ok((await Deno.lstat(folder)).isDirectory);
      assert.equal(await Deno.readTextFile(join(state, "secret.txt")), "SECRET\n");
      await assert.rejects(Deno.lstat(join(folder, "..", "agent.db")), Deno.errors.NotFound);
      await assert.rejects(Deno.lstat(join(folder, "hard")), Deno.errors.NotFound);
    }
  },
});

Deno.test("behind a link it is no scratch folder", async () => {
  await using project = await scratch({ "outside/x": "", "state/y": "" });
  await Deno.symlink(project.path("outside"), project.path("state/scratch"));
  await assert.rejects(scratchFolder(project.path("state")), /is behind a link/);
});
