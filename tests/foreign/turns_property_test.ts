/**
 * Random turns of an agent from elsewhere, during which the user saves at random moments: no text of the user's is lost,
 * every change of the agent is kept or its conflict is told, and undo leaves the user's own saves alone.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { CHANGED_MEANWHILE } from "../../denops/agent/engine/ports/commands.ts";
import { type CheckpointedFolder, checkpointedFolder } from "../support/checkpoints.ts";
import { hostedShell } from "../support/foreign/hosted_shell.ts";
import { IS_FULL } from "../support/sample.ts";

const FILES = ["a.txt", "b.txt", "d/c.txt"];
const LINES = 9;
const text = (name: string) => Array.from({ length: LINES }, (_, line) => `${name} ${line}\n`).join("");

const file = fc.constantFrom(...FILES);
const line = fc.integer({ min: 1, max: LINES });
const agentStep = fc.oneof(
  fc.record({
    who: fc.constant("agent" as const),
    what: fc.constantFrom("edit", "append", "read", "open"),
    file,
    line,
  }),
  fc.record({
    who: fc.constant("agent" as const),
    what: fc.constantFrom("delete", "create", "move", "folder"),
    file,
    line,
  }),
);
const userStep = fc.record({
  who: fc.constant("user" as const),
  what: fc.constantFrom("edit", "edit", "edit", "edit", "delete", "create"),
  how: fc.constantFrom("neovim", "neovim", "rename", "in place"),
  file,
  line,
});
const turns = fc.record({
  steps: fc.array(fc.oneof(agentStep, userStep), { minLength: 1, maxLength: 10 }),
  late: fc.array(userStep, { maxLength: 2 }),
});
type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Turn = ValueOf<typeof turns>;
type UserStep = ValueOf<typeof userStep>;

let marks = 0;

/** The line that it runs. @param root of the project */
function agentLine({ what, file, line }: Turn["steps"][number], root: string): string {
  const mark = `agent${marks++}`;
  const there = `cd ${root}; [ -f ${file} ] &&`;
  switch (what) {
    case "edit":
      return `${there} sed -i '${line}s/.*/${mark}/' ${file}`;
    case "append":
      return `${there} echo ${mark} >> ${file}`;
    case "open":
      return `${there} exec 7>>${file}`;
    case "delete":
      return `${there} rm ${file}`;
    case "create":
      return `cd ${root}; mkdir -p d; echo ${mark} > new${line % 2}.txt`;
    case "move":
      return `${there} mv ${file} new${line % 2}.txt`;
    case "folder":
      return `cd ${root}; rm -rf d; true`;
    default:
      return `cat ${root}/*.txt`;
  }
}

for (const overlays of [true, false]) {
  Deno.test({
    name: `random turns over ${
      overlays ? "overlays" : "copies"
    }, and a user who saves at random moments: ${"nothing of the user's is lost, and undo is exact"}`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using folder = await checkpointedFolder({});
      await using agent = await hostedShell({}, { project: folder.project, overlays });
      const play = (turn: Turn) => playTurn(turn, folder, agent);
      await fc.assert(fc.asyncProperty(turns, play), { numRuns: IS_FULL ? 100 : 6 });
    },
  });
}

async function playTurn(
  { steps, late }: Turn,
  folder: CheckpointedFolder,
  agent: Awaited<ReturnType<typeof hostedShell>>,
): Promise<void> {
  const { project, checkpoints } = folder;
  await Promise.all(
    ["new0.txt", "new1.txt", "d"].map((name) =>
      Deno.remove(project.path(name), { recursive: true }).catch(() => {})
    ),
  );
  for (const name of FILES) await project.write(name, text(name));
  await old(project.root);
  const changed = new Set<string>();
  const save = async ({ what, how, file, line }: UserStep) => {
    const name = what === "create" ? `new${line % 2}.txt` : file;
    const path = project.path(name);
    const before = await Deno.readTextFile(path).catch(() => undefined);
    if (what !== "create" && before === undefined) return;
    if (what === "delete") {
      changed.add(path);
      return await Deno.remove(path);
    }
    const lines = (before ?? "\n").split("\n");
    const after = lines.with(Math.min(line, lines.length) - 1, `user${marks++}`).join("\n");
    if (how === "neovim" && !changed.has(path)) await agent.copyBeforeWrite(path);
    changed.add(path);
    if (how === "in place") return await Deno.writeTextFile(path, after);
    await Deno.writeTextFile(`${path}~`, after);
    await Deno.rename(`${path}~`, path);
  };
  const turn = folder.nextTurn();
  await agent.begin();
  for (const step of steps) {
    if (step.who === "user") await save(step);
    else await agent.run(agentLine(step, project.root));
  }
  const view = await agent.run(`cat ${project.root}/*.txt ${project.root}/d/* 2>/dev/null`);
  const told: string[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    const { effects, notes } = await agent.end();
    told.push(...notes);
    if (attempt === 0) { for (const step of late) await save(step); }
    const listed = agent.listed();
    if (effects === undefined || listed === undefined) break;
    told.push(...listed.effects.flatMap(({ inRoot, refused }) => refused === undefined ? [] : [inRoot]));
    listed.keep(() => undefined);
    const before = await folder.tree();
    const users = await linesOf(folder);
    const { left } = await checkpoints.keep(
      {
        ...effects,
        terminal: "t",
        agreed: (from) => Promise.resolve(listed.kept(from)),
        contents: (from) => Promise.resolve(listed.contents(from)),
        [Symbol.dispose]: () => {},
      },
      `turn${turn}-${attempt}`,
      new AbortController().signal,
    );
    told.push(...left.map(({ path }) => path));
    const after = await linesOf(folder);
    const lost = [...users].filter((mark) => !after.has(mark));
    assert.deepEqual(lost, [], `the user's lines, after ${told.join("; ")}`);
    const call = `turn${turn}-${attempt}`;
    const isKept = JSON.stringify(await folder.tree()) !== JSON.stringify(before);
    if (isKept) await folder.undoCalls(call);
    assert.deepEqual(await folder.tree(), before, "undo");
    if (isKept) await folder.redo();
    if (!left.some(({ why }) => why === CHANGED_MEANWHILE)) break;
  }
  await agent.run("exec 7>&-; cd /");
  const kept = await linesOf(folder, /agent\d+/g);
  const missing = (view.match(/agent\d+/g) ?? []).filter((mark) => !kept.has(mark));
  assert.ok(missing.length === 0 || told.length > 0, `silently dropped: ${missing.join()}`);
  assert.equal(turn, folder.store.turn("s1"));
}

/** The user's lines, or others, in all files. */
async function linesOf(folder: CheckpointedFolder, marks = /user\d+/g): Promise<ReadonlySet<string>> {
  const texts = Object.values(await folder.tree()).flatMap((entry) => {
    const [kind, , hex = ""] = entry.split(" ");
    return kind === "file" ? [new TextDecoder().decode(Uint8Array.fromHex(hex))] : [];
  });
  return new Set(texts.flatMap((text) => text.match(marks) ?? []));
}

/** The files are older than the turn, as usual. */
async function old(root: string): Promise<void> {
  const time = new Date(Date.now() - 60_000);
  for (const name of FILES) await Deno.utime(`${root}/${name}`, time, time);
}
