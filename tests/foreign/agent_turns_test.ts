/** The turns of agents from elsewhere: their changes are listed exactly, and merged with what the user saves. */
import assert from "node:assert/strict";
import { hostedShell } from "../support/foreign/hosted_shell.ts";
import { leftovers } from "../support/rehearsal.ts";
import { waitUntil } from "../support/project.ts";

const ignore = Deno.build.os !== "linux";
const LINES = "one\ntwo\nthree\nfour\nfive\nsix\nseven\n";

/** In Neovim. */
async function save(agent: Agent, name: string, text: string) {
  const path = agent.project.path(name);
  await agent.copyBeforeWrite(path);
  await replace(path, text);
}

/** As editors do: the file gets another inode. */
async function replace(path: string, text: string) {
  await Deno.writeTextFile(`${path}~`, text);
  await Deno.rename(`${path}~`, path);
}

/** Number of files whose bases are known. */
function copiesOf(state: string): number {
  const runs = Array.from(Deno.readDirSync(`${state}/overlays`), ({ name }) => name);
  return runs.flatMap((run) => {
    try {
      return Array.from(Deno.readDirSync(`${state}/overlays/${run}/disk/turns/1/copies/bases`));
    } catch {
      return [];
    }
  }).length;
}

Deno.test({
  name: "an agent writes only during its turns, and its changes are those of the turn",
  ignore,
  async fn() {
    await using agent = await hostedShell({ "a.txt": LINES, "gone.txt": "g\n" });
    assert.match(
      await agent.run("echo x > a.txt; echo x > ~/x && cat ~/x; cat a.txt"),
      /Read-only[^]*x\none/,
    );
    await agent.begin();
    const { root } = agent.project;
    await agent.run(`cd ${root}; sed -i s/two/2/ a.txt; echo n > new.txt; rm gone.txt`);
    const { effects, notes } = await agent.end();
    assert.equal(effects?.changes, 3);
    assert.deepEqual(notes, []);
    assert.deepEqual(agent.changes(), ["a.txt: file", "gone.txt: deleted", "new.txt: file"]);
    assert.equal(await agent.project.read("a.txt"), LINES);
    const kept = agent.kept().map((
      { change, bytes },
    ) => [change.path.slice(root.length + 1), new TextDecoder().decode(bytes)]);
    assert.deepEqual(Object.fromEntries(kept), {
      "a.txt": LINES.replace("two", "2"),
      "gone.txt": "",
      "new.txt": "n\n",
    });
    await agent.begin();
    assert.equal((await agent.end()).effects, undefined);
    assert.match(await agent.run(`cat ${root}/new.txt; echo x > ${root}/late`), /No such file[^]*Read-only/);
    agent.host.close(agent.pipe);
    agent.pipes.close(agent.pipe);
    await waitUntil("the overlay to be gone", () => leftovers(agent.state.root).length === 0);
  },
});

type Agent = Awaited<ReturnType<typeof hostedShell>>;

/** Files of the project, and what happens to them; all in the life of one agent. */
const PLAYS: readonly {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  play(agent: Agent): Promise<void>;
}[] = [
  {
    name:
      "what the user saves during a turn is merged; where both changed the same lines, the user's file stays",
    files: {
      "a.txt": LINES,
      "b.txt": LINES,
      "c.txt": LINES,
      "d.txt": LINES,
      "e/f": "f\n",
    },
    async play(agent) {
      await agent.begin();
      const { root } = agent.project;
      await agent.run(
        `cd ${root}; sed -i s/six/6/ a.txt; sed -i s/two/2/ b.txt; rm c.txt; echo n > new.txt; rm -r e; echo x >> d.txt`,
      );
      await save(agent, "a.txt", LINES.replace("two", "user"));
      await save(agent, "b.txt", LINES.replace("two", "user"));
      // A copy knows what it began with.
      if (agent.hasOverlays) await waitUntil("a look at the changes", () => copiesOf(agent.state.root) > 0);
      await save(agent, "c.txt", LINES.replace("two", "user"));
      await save(agent, "new.txt", "the user's\n");
      await save(agent, "e/f", "the user's\n");
      await Deno.remove(agent.project.path("d.txt"));
      const { notes } = await agent.end();
      assert.deepEqual(agent.changes(), [
        "a.txt: file",
        "b.txt: you changed the same lines meanwhile (line 2)",
        "c.txt: you changed it meanwhile",
        "d.txt: you deleted it meanwhile",
        "e: you changed e/f in it meanwhile",
        "new.txt: you have made a file of this name",
      ]);
      const [{ bytes } = { bytes: new Uint8Array() }] = agent.kept();
      assert.equal(new TextDecoder().decode(bytes), LINES.replace("two", "user").replace("six", "6"));
      const note = notes.find((line) => line.startsWith("b.txt")) ?? "";
      const [copy = ""] = /\/\S+b\.txt/.exec(note) ?? [];
      assert.equal(await Deno.readTextFile(copy), LINES.replace("two", "2"), note);
      assert.equal(await agent.project.read("b.txt"), LINES.replace("two", "user"));
    },
  },
  {
    name: "changes that could not be kept, because the user saved once more, are merged again",
    files: { "a.txt": LINES, "b.txt": LINES },
    async play(agent) {
      await agent.begin();
      await agent.run(`cd ${agent.project.root}; sed -i s/six/6/ a.txt; sed -i s/six/6/ b.txt`);
      await agent.end();
      assert.equal(agent.kept().length, 2);
      await agent.project.write("b.txt", LINES.replace("six", "6"));
      await save(agent, "a.txt", LINES.replace("one", "user"));
      await agent.end();
      assert.deepEqual(agent.changes(), ["a.txt: file"]);
      assert.deepEqual(agent.listed()?.kept(0).changes.length, 1, "it stays approved");
      const [{ bytes } = { bytes: new Uint8Array() }] = agent.kept();
      assert.equal(new TextDecoder().decode(bytes), LINES.replace("one", "user").replace("six", "6"));

      // An approval is of one version.
      await agent.begin();
      await agent.run(`cd ${agent.project.root}; exec 7>>b.txt; echo one >&7`);
      await agent.end();
      assert.equal(agent.kept().length, 1);
      await agent.run("echo two >&7; exec 7>&-");
      await save(agent, "b.txt", LINES);
      await agent.end();
      assert.deepEqual(agent.changes(), []);
    },
  },
  {
    name:
      "a file that the user saves before the agent changes it: an old text that the overlay still shows undoes nothing",
    files: { "a.txt": LINES, "b.txt": LINES },
    async play(agent) {
      const { root } = agent.project;
      for (const name of ["a.txt", "b.txt"]) {
        await agent.begin();
        await agent.run(`cat ${root}/*`);
        const user = LINES.replace("two", "user");
        // Another editor makes no copy.
        if (name === "a.txt") await save(agent, name, user);
        else await replace(agent.project.path(name), user);
        await agent.run(`sed -i s/six/6/ ${root}/${name}`);
        await agent.end();
        assert.equal(await agent.project.read(name), user);
        const [{ bytes } = { bytes: new Uint8Array() }] = agent.kept();
        if (name === "a.txt") assert.equal(new TextDecoder().decode(bytes), user.replace("six", "6"));
        else {assert.deepEqual(agent.changes(), [
            "b.txt: you changed it meanwhile, and its old text is unknown",
          ]);}
      }
    },
  },
];

for (const overlays of [true, false]) {
  Deno.test({
    name: `turns of one agent over ${overlays ? "overlays" : "copies"}, while the user saves`,
    ignore,
    async fn(t) {
      await using agent = await hostedShell({}, { overlays });
      for (const { name, files, play } of PLAYS) {
        for (const { name } of Deno.readDirSync(agent.project.root)) {
          await Deno.remove(agent.project.path(name), { recursive: true });
        }
        for (const [path, text] of Object.entries(files)) await agent.project.write(path, text);
        await t.step(name, () => play(agent));
      }
    },
  });
}
