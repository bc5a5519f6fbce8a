/** Single calls are undone, whatever others and the user have changed since. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type CheckpointedFolder, checkpointedFolder } from "../../../../../tests/support/checkpoints.ts";
import { merge3 } from "../../../shared/text/merge.ts";

const A = "one\ntwo\nthree\nfour\nfive\n";

/** A call of a tool that writes one file; undefined deletes it. */
async function write(
  { project, tool }: CheckpointedFolder,
  id: string,
  path: string,
  text: string | undefined,
): Promise<void> {
  const act = () => text === undefined ? Deno.remove(project.path(path)) : project.write(path, text);
  await tool([path], async () => void await act(), id);
}

/** Call → how much of it is undone. */
function states({ store }: CheckpointedFolder): Record<string, string | undefined> {
  return Object.fromEntries(
    store.checkpoints.undoneCalls("s1", 1, 99).map(({ call, undone }) => [call, undone]),
  );
}

Deno.test("one of three edits of a file, in any turn: the others and the user's lines stay; redo; the rest of the turn", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A } });
  const { project } = folder;
  folder.nextTurn();
  await write(folder, "1", "a.txt", A.replace("one", "ONE"));
  await write(folder, "2", "a.txt", A.replace("one", "ONE").replace("three", "THREE"));
  folder.nextTurn();
  await write(folder, "3", "a.txt", "ONE\ntwo\nTHREE\nfour\nFIVE\n");
  await project.write("a.txt", "ONE\ntwo\nTHREE\nfour\nFIVE\nmine\n");
  assert.deepEqual(await folder.undoCalls("2"), { "a.txt": "merged" });
  assert.equal(await project.read("a.txt"), "ONE\ntwo\nthree\nfour\nFIVE\nmine\n");
  assert.deepEqual(states(folder), { 1: undefined, 2: "all", 3: undefined });
  assert.match(folder.checkpoints.takeNote() ?? "", /taken back changes that you made, in: a\.txt\./);
  await assert.rejects(folder.undoCalls("2"), /this call is undone already/);
  await assert.rejects(folder.undoCalls("4"), /this call has changed no file/);
  await folder.redo();
  assert.equal(await project.read("a.txt"), "ONE\ntwo\nTHREE\nfour\nFIVE\nmine\n");
  assert.deepEqual(states(folder), { 1: undefined, 2: undefined, 3: undefined });
  await folder.undoCalls("1");
  assert.deepEqual(await folder.undo(1), { "a.txt": "merged" });
  assert.equal(await project.read("a.txt"), "one\ntwo\nthree\nfour\nFIVE\nmine\n");
  assert.deepEqual(states(folder), { 1: "all", 2: "all", 3: undefined });
  await assert.rejects(folder.undo(1), /turn 1 is undone already/);
});

Deno.test("a call whose lines another one has changed since is left alone, and undone once that one is", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A } });
  const { project } = folder;
  folder.nextTurn();
  await write(folder, "1", "a.txt", A.replace("two", "2"));
  await write(folder, "2", "a.txt", A.replace("two", "TWO"));
  assert.deepEqual(await folder.undoCalls("1"), { "a.txt": "conflict" });
  assert.deepEqual(states(folder), { 1: undefined, 2: undefined });
  assert.deepEqual(await folder.undoCalls("2"), { "a.txt": "restored" });
  assert.deepEqual(await folder.undoCalls("1"), { "a.txt": "restored" });
  assert.equal(await project.read("a.txt"), A);
});

Deno.test("calls that created, deleted and moved files, and a command; several at once", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A, "b.txt": A, "sub/c.txt": A } });
  const { project } = folder;
  const before = await folder.tree();
  folder.nextTurn();
  await write(folder, "create", "new/n.txt", "new\n");
  await write(folder, "delete", "a.txt", undefined);
  await folder.command(
    async () => {
      await Deno.rename(project.path("b.txt"), project.path("moved.txt"));
      await Deno.remove(project.path("sub"), { recursive: true });
      await Deno.symlink("moved.txt", project.path("link"));
    },
    "foreground",
    "run",
  );
  await project.write("moved.txt", A.replace("five", "5"));
  await folder.undoCalls("run");
  assert.equal(await project.read("b.txt"), A.replace("five", "5"));
  assert.equal(await project.read("sub/c.txt"), A);
  await assert.rejects(Deno.lstat(project.path("link")), Deno.errors.NotFound);
  assert.equal(await project.read("new/n.txt"), "new\n");
  await project.write("b.txt", A);
  assert.deepEqual(await folder.undoCalls("create", "delete", "reads"), {
    "a.txt": "restored",
    "new/n.txt": "restored",
  });
  assert.deepEqual(await folder.tree(), before);
});

Deno.test("half an undo of a call after a kill marks this call only, and continues", async () => {
  await using folder = await checkpointedFolder({ files: { "a.txt": A, "b.txt": A } });
  const { project, store } = folder;
  folder.nextTurn();
  await write(folder, "1", "a.txt", "1\n");
  await folder.tool(["a.txt", "b.txt"], async () => {
    await project.write("a.txt", "2\n");
    await project.write("b.txt", "2\n");
  }, "2");
  const { files = [] } = store.checkpoints.list("s1").at(-1) ?? {};
  store.checkpoints.begin(
    { session: "s1", turn: 1, kind: "undo", target: 1, calls: ["2"] },
    files.map(({ path, before, after }) => ({ path, before: after, after: before })),
  );
  await project.write("a.txt", "1\n");
  await folder.again().recover();
  assert.deepEqual(folder.notices, [
    "The undo of a call of turn 1 was cut off: 1 of 2 files are done. `gru` on its line continues.",
  ]);
  assert.deepEqual(states(folder), { 1: undefined, 2: "part" });
  assert.deepEqual(await folder.undoCalls("2"), { "b.txt": "restored" });
  assert.deepEqual(states(folder), { 1: undefined, 2: "all" });
  assert.equal(await project.read("a.txt"), "1\n");
});

/** Lines of the project, calls and the user: each is unique, so that none can be taken for another. */
const ZONES = 6;

function textOf(calls: ReadonlySet<number>, users: ReadonlyMap<number, string>): string {
  return Array.from({ length: ZONES }, (_, zone) => [
    calls.has(zone) ? `call ${zone}` : `line ${zone}`,
    `fence ${zone}`,
    ...users.has(zone) ? [users.get(zone)] : [],
    `end ${zone}`,
  ]).flat().join("\n") + "\n";
}

Deno.test("calls undone in any order among the user's edits: only their own lines change, and redo reverses that", async () => {
  const order = fc.shuffledSubarray(Array.from({ length: ZONES }, (_, zone) => zone), { minLength: 1 });
  const edits = fc.array(fc.integer({ min: 0, max: ZONES - 1 }), { minLength: ZONES, maxLength: ZONES });
  await fc.assert(
    fc.asyncProperty(order, order, edits, fc.nat(3), async (made, undone, zones, redone) => {
      const [calls, users] = [new Set<number>(), new Map<number, string>()];
      await using folder = await checkpointedFolder({ files: { "a.txt": textOf(calls, users) } });
      const { project } = folder;
      const write = () => project.write("a.txt", textOf(calls, users));
      const type = async (at: number) => {
        users.set(zones[at] ?? 0, `mine ${at}`);
        await write();
      };
      folder.nextTurn();
      for (const [at, zone] of made.entries()) {
        calls.add(zone);
        await folder.tool(["a.txt"], async () => void await write(), String(zone));
        if (at % 2 === 0) await type(at);
      }
      const taken = undone.filter((zone) => calls.has(zone));
      for (const [at, zone] of taken.entries()) {
        calls.delete(zone);
        await folder.undoCalls(String(zone));
        assert.equal(await project.read("a.txt"), textOf(calls, users));
        if (at % 2 === 1) await type(at);
      }
      for (const zone of taken.toReversed().slice(0, redone)) {
        calls.add(zone);
        await folder.redo();
        assert.equal(await project.read("a.txt"), textOf(calls, users));
      }
      for (const zone of made) assert.equal(states(folder)[zone], calls.has(zone) ? undefined : "all");
    }),
    { numRuns: 15 },
  );
});

Deno.test("calls that rewrite each other's lines, undone in any order: each is the three-way merge, and no line of the user's is lost", async () => {
  const splice = fc.record({ at: fc.nat(8), count: fc.nat(3), add: fc.nat(2), byUser: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.array(splice, { minLength: 2, maxLength: 6 }),
      fc.infiniteStream(fc.nat()),
      async (splices, choices) => {
        const start = Array.from({ length: 8 }, (_, index) => `line ${index}`);
        await using folder = await checkpointedFolder({ files: { "a.txt": joined(start) } });
        const { project } = folder;
        const made: { readonly before: string; readonly after: string }[] = [];
        folder.nextTurn();
        for (const [number, { at, count, add, byUser }] of splices.entries()) {
          const before = await project.read("a.txt");
          const lines = before.split("\n").slice(0, -1);
          const word = byUser ? "mine" : "call";
          const more = Array.from({ length: add + 1 }, (_, index) => `${word} ${number} ${index}`);
          // Neither deletes what the user has typed.
          const isFree = !lines.slice(at, at + count).some((line) => line.startsWith("mine"));
          lines.splice(at, isFree ? count : 0, ...more);
          if (byUser) await project.write("a.txt", joined(lines));
          else {
            await write(folder, String(made.length), "a.txt", joined(lines));
            made.push({ before, after: joined(lines) });
          }
        }
        const left = new Set(made.keys());
        for (const choice of choices) {
          if (left.size === 0) break;
          const call = [...left][choice % left.size] ?? 0;
          left.delete(call);
          const { before, after } = made[call] ?? { before: "", after: "" };
          const now = await project.read("a.txt");
          const merged = merge3(after, now, before);
          const { "a.txt": outcome } = await folder.undoCalls(String(call));
          const found = await project.read("a.txt");
          assert.equal(found, now === before || !merged.ok ? now : merged.text);
          assert.equal(outcome === "conflict", now !== before && !merged.ok);
          const mine = now.split("\n").filter((line) => line.startsWith("mine"));
          assert.deepEqual(mine.filter((line) => !found.split("\n").includes(line)), []);
        }
      },
    ),
    { numRuns: 25 },
  );
});

function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
