/** What a command would change is asked about and kept, in a turn of the real session. */
import assert from "node:assert/strict";
import * as z from "../../../deps/zod.ts";
import { type CopyEffects, copyOf, effectsOf } from "../../../../../tests/support/effects.ts";
import {
  CANCELLED,
  checkEvents,
  END_TURN,
  startEngine,
} from "../../../../../tests/support/engine_session.ts";
import type { Effects } from "../../ports/commands.ts";
import type { ApprovalAnswer } from "../../ports/approvals.ts";
import { defineTool, type Tool } from "../../tools/define.ts";

const FILES = { "a.txt": "one\ntwo\n", "b.txt": "b\n", "package.json": "{}\n" };

/** A command that has ended, and would make this of the project. */
function ended(effects: () => Promise<Effects>): Tool {
  return defineTool({
    name: "rehearse",
    description: "Runs a command over a copy.",
    kind: "execute",
    readOnly: false,
    schema: z.object({}),
    title: () => "run it",
    prepare: () => ({
      access: {
        kind: "command",
        command: "it",
        cwd: "/",
        timeout: 10,
        access: "write",
        background: false,
      },
      run: async () => ({ text: "done\n[exit code 0]", summary: "exit code 0", effects: await effects() }),
    }),
  });
}

interface Turn extends AsyncDisposable {
  readonly engine: Awaited<ReturnType<typeof startEngine>>;
  readonly effects: CopyEffects;
}

/** A turn with one such command, over the project as it is now. @param answer to the question about its effects */
async function turn(
  line: string,
  answer: (engine: Turn["engine"]) => ApprovalAnswer | Promise<ApprovalAnswer>,
  meanwhile = "",
): Promise<Turn> {
  await using stack = new AsyncDisposableStack();
  const given = Promise.withResolvers<CopyEffects>();
  const engine: Turn["engine"] = stack.use(
    await startEngine({
      files: FILES,
      tools: [ended(() => given.promise)],
      script: "call rehearse {}\n---\nsay Done",
      ask: ({ access }) =>
        access.kind === "effects"
          ? answer(engine)
          : { answer: "allow_once", access: "write", rehearsed: true, rule: "runs over a copy" },
    }),
  );
  const copy = stack.use(await copyOf(engine.project.root));
  await copy.run(line);
  const effects = await effectsOf(engine.project.root, copy.root);
  await copy.run(meanwhile, engine.project.root);
  given.resolve(effects);
  const kept = stack.move();
  return { engine, effects, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

const LINE = "sed -i s/one/ONE/ a.txt; rm b.txt; echo '{\"a\": 1}' > package.json; echo n > new.txt";

function eventsOf({ engine }: Turn): readonly string[] {
  return engine.events.flatMap((event) => {
    if (event.type === "approval_answered") return [`${event.answer}: ${event.rule}`];
    if (event.type === "tool_running") return [`running: ${event.rule}`];
    if (event.type === "file_modified") {
      return [`${event.change.kind} ${event.change.path.slice(engine.project.root.length + 1)}`];
    }
    if (event.type === "tool_done") return [`${event.status}: ${event.summary}`];
    return event.type === "approval_requested" ? [`asked: ${event.reason}`] : [];
  });
}

Deno.test("what is agreed to is kept: the model is told what, buffers follow, and a turn is undone as any", async () => {
  await using one = await turn(
    LINE,
    () => ({ answer: "allow_once", rule: "commands = project" }),
    "echo mine > new.txt",
  );
  const { engine, effects } = one;
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.deepEqual(engine.results(), [
    "done\n[exit code 0]\n[kept: a.txt, b.txt, package.json (+2 −3)]\n[not kept: new.txt (changed meanwhile)]",
  ]);
  assert.deepEqual(eventsOf(one), [
    "asked: needs your approval",
    "allow_once: runs over a copy",
    "running: runs over a copy",
    "asked: the command would make 4 changes",
    "allow_once: commands = project",
    "running: commands = project",
    "deleted b.txt",
    "modified a.txt",
    "modified package.json",
    "completed: exit code 0, 3 files kept, 1 not",
  ]);
  assert.equal(await engine.project.read("a.txt"), "ONE\ntwo\n");
  assert.equal(await engine.project.read("new.txt"), "mine\n");
  assert.ok(effects.isReleased);
  checkEvents(engine.events);
  await engine.session.takeBack({ kind: "undo", turn: undefined });
  assert.deepEqual([await engine.project.read("a.txt"), await engine.project.read("b.txt")], [
    "one\ntwo\n",
    "b\n",
  ]);
  assert.equal(await engine.project.read("new.txt"), "mine\n");
});

Deno.test("a no of the user or of a rule, a stop, an error: nothing is kept, the model is told why in a line", async () => {
  const cases: readonly (readonly [Parameters<typeof turn>[1], RegExp, string])[] = [
    [
      () => ({ answer: "reject", reason: "not now." }),
      /\n\[The user did not keep what the command changed \(4 changes\): not now\. The project is as it was before\.\]$/,
      "completed: exit code 0, not kept",
    ],
    [
      () => ({ answer: "reject", rule: "write(**)", reason: "denied by rule write(**)" }),
      /\n\[What the command changed \(4 changes\) was not kept: denied by rule write\(\*\*\)\. The project/,
      "completed: exit code 0, not kept",
    ],
    [
      ({ session }) => {
        session.cancel();
        return { answer: "cancelled" };
      },
      /was not kept: the turn was stopped\. The project is as it was/,
      "failed: exit code 0, not kept",
    ],
  ];
  for (const [answer, told, summary] of cases) {
    await using one = await turn(LINE, answer);
    const { engine, effects } = one;
    const isStop = summary.startsWith("failed");
    assert.deepEqual(await engine.prompt("Go"), isStop ? CANCELLED : END_TURN);
    const [result = ""] = engine.messages().flatMap((message) =>
      message.role === "tool" ? [message.text] : []
    );
    assert.match(result, told);
    assert.equal(eventsOf(one).at(-1), summary);
    assert.equal(await engine.project.read("a.txt"), FILES["a.txt"]);
    assert.ok(effects.isReleased);
    await assert.rejects(engine.session.takeBack({ kind: "undo", turn: undefined }), /nothing to undo/);
  }
});

Deno.test("what cannot be had is not kept, and that is the end of the call, not of the turn", async () => {
  await using one = await turn(LINE, () => ({ answer: "allow_once" }));
  one.effects.contents = () => Promise.reject(new Error("it is gone"));
  assert.deepEqual(await one.engine.prompt("Go"), END_TURN);
  assert.match(
    one.engine.results()[0] ?? "",
    /\[What the command changed was not kept: it is gone\. The project/,
  );
  assert.equal(await one.engine.project.read("a.txt"), FILES["a.txt"]);
  assert.ok(one.effects.isReleased);
});
