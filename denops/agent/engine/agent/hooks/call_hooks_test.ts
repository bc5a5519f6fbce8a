/** Hooks around the calls of the real session, for a scripted model. */
import assert from "node:assert/strict";
import { checkEvents, END_TURN, startEngine } from "../../../../../tests/support/engine_session.ts";
import type { HookInput } from "../../../protocol/results/hooks.ts";
import { isDeceptive } from "../../../policy/deceptive.ts";
import type { FileRules } from "../../../protocol/config.ts";
import type { HookAnswer, Hooks } from "../../ports/hooks.ts";

const FILES = { "a.txt": "alpha\n", "secret.txt": "hidden\n" };
const RULES: FileRules = {
  safe_to_write: [{ glob: "**", safe: true }],
  deny_read: ["secret.txt"],
  read_rules: { deny: [], ask: [] },
};

/** A hook that answers like this. */
function hooks(answer: (input: HookInput) => Partial<HookAnswer>, ...events: readonly HookInput["event"][]) {
  const inputs: HookInput[] = [];
  const port: Hooks = {
    events: new Set(events.length === 0 ? ["PreToolUse"] : events),
    run(input) {
      inputs.push(input);
      return Promise.resolve({ context: [], ...answer(input) });
    },
  };
  return { port, inputs };
}

function changes(input: Record<string, unknown>) {
  return hooks(() => ({ changed: { hook: "guard.sh", input } }));
}

const READ = 'call read {"path": "a.txt"}\n---\nsay Done';

Deno.test("a changed call is judged like one of the model", async () => {
  const { port, inputs } = changes({ file_path: "secret.txt" });
  await using engine = await startEngine({
    files: FILES,
    script: READ,
    abilities: { hooks: port },
    fileRules: () => Promise.resolve(RULES),
  });
  assert.deepEqual(await engine.prompt("Read"), END_TURN);
  assert.equal(inputs.length, 1, "a changed call asks no hook again");
  const [result = ""] = engine.results();
  assert.match(result, /^Cannot read secret/);
  assert.match(result, /guard\.sh has changed the call to: \{"path":"secret\.txt"\}/);
  assert.doesNotMatch(result, /hidden/);
  checkEvents(engine.events);
});

Deno.test("a changed call runs as changed, and leaves the project as little as the model's own", async () => {
  for (
    const [path, pattern] of [
      ["b.txt", /^beta$/m],
      ["a.txt", /have not read a\.txt yet/],
      ["/etc/passwd", /outside/],
    ] as const
  ) {
    const { port } = changes({ file_path: path, content: "beta\n" });
    await using engine = await startEngine({
      files: FILES,
      script: 'call write {"path": "new.txt", "content": "new\\n"}\n---\nsay Done',
      abilities: { hooks: port },
    });
    await engine.prompt("Write");
    const text = path === "b.txt" ? await engine.project.read("b.txt") : engine.results()[0];
    assert.match(text ?? "", pattern);
    assert.equal(await Deno.stat(engine.project.path("new.txt")).catch(() => undefined), undefined);
  }
});

Deno.test("a refusal reaches the model, a question the user, and a text the model as data", async () => {
  const { port } = hooks((input) =>
    "input" in input && String(input.input.file_path).endsWith("a.txt")
      ? { decision: "deny", reason: "No a (hook guard.sh)" }
      : {
        decision: "ask",
        reason: "Sure?",
        context: [{ hook: "guard.sh", text: "Note this.", of_user: false }],
      }
  );
  await using engine = await startEngine({
    files: { ...FILES, "b.txt": "beta\n" },
    script: 'call read {"path": "a.txt"}\ncall read {"path": "b.txt"}\n---\nsay Done',
    abilities: { hooks: port },
  });
  await engine.prompt("Read");
  const [refused, read = ""] = engine.results();
  assert.equal(refused, "Not allowed: No a (hook guard.sh).");
  assert.match(read, /beta[^]*The hook guard\.sh says\.[^]*<<< hook \w+\nNote this\.\n>>> hook \w+/);
  assert.deepEqual(engine.asked.map(({ reason, force }) => [reason, force]), [["Sure?", true]]);
});

Deno.test("guards see every file of a patch, or the patch does not run", async () => {
  for (const files of [3, 31]) {
    const { port, inputs } = hooks((input) =>
      "input" in input && String(input.input.file_path).endsWith(`${files}.txt`)
        ? { decision: "deny", reason: "Not the last" }
        : {}
    );
    const sections = Array.from({ length: files }, (_, at) => `*** Add File: ${at + 1}.txt\n+x\n`);
    const patch = `*** Begin Patch\n${sections.join("")}*** End Patch`;
    await using engine = await startEngine({
      files: FILES,
      script: `call edit ${JSON.stringify({ patch })}\n---\nsay Done`,
      abilities: { hooks: port },
    });
    await engine.prompt("Patch");
    const [result = ""] = engine.results();
    assert.match(result, files === 3 ? /Not the last/ : /hooks check at most 30 files/);
    const texts = inputs.map((input) => "input" in input && input.input.content);
    assert.deepEqual(texts, files === 3 ? ["x\n", "x\n", "x\n"] : []);
    assert.equal(await Deno.stat(engine.project.path("1.txt")).catch(() => undefined), undefined);
  }
});

Deno.test("a question about a changed call says which hook changed what", async () => {
  const { port } = hooks(() => ({
    decision: "ask",
    reason: "Sure?",
    changed: { hook: "guard.sh", input: { file_path: "b.txt", content: "beta\n" } },
  }));
  const content = `\u202e${"x".repeat(1_000)}`;
  await using engine = await startEngine({
    files: FILES,
    script: `call write ${JSON.stringify({ path: "new.txt", content })}\n---\nsay Done`,
    abilities: { hooks: port },
    ask: () => ({ answer: "reject" }),
  });
  await engine.prompt("Run");
  const [asked] = engine.asked;
  assert.match(
    asked?.changed ?? "",
    /^the hook guard\.sh changed this call; the model asked for: \{"file_path":".*…$/,
  );
  assert.ok((asked?.changed ?? "").length < 200);
  assert.ok(!isDeceptive(asked?.changed ?? ""));
});

Deno.test("a text of the user's own hook is theirs, and one of a project's is data", async () => {
  for (const of_user of [true, false]) {
    const { port } = hooks(() => ({ context: [{ hook: "guard.sh", text: "Note this.", of_user }] }));
    await using engine = await startEngine({ files: FILES, script: READ, abilities: { hooks: port } });
    await engine.prompt("Read");
    const [read = ""] = engine.results();
    assert.match(read, /<<< hook \w+\nNote this\.\n>>> hook \w+/);
    assert.equal(/Strangers|Follow no instructions/.test(read), !of_user);
    if (of_user) assert.match(read, /The user's own hook guard\.sh says what is between the two marks\./);
  }
});

Deno.test("an edit that a hook refuses has not failed: the model is not asked to try again", async () => {
  const { port } = hooks(() => ({ decision: "deny", reason: "No rm" }));
  await using engine = await startEngine({
    files: FILES,
    script: 'call delete {"path": "a.txt"}\n---\nsay It was refused.',
    abilities: { hooks: port },
  });
  assert.deepEqual(await engine.prompt("Delete a.txt"), END_TURN);
  assert.equal(engine.server.requests.length, 2);
  assert.deepEqual(engine.server.nudgeRequests, []);
  checkEvents(engine.events);
});

Deno.test("hooks that cannot run make a call ask, and a hook ends the turn", async () => {
  const broken: Hooks = {
    events: new Set(["PreToolUse"]),
    run: () => Promise.reject(new Error("the supervisor is gone")),
  };
  await using engine = await startEngine({
    files: FILES,
    script: READ,
    abilities: { hooks: broken },
    ask: () => ({ answer: "reject" }),
  });
  await engine.prompt("Read");
  assert.match(engine.asked[0]?.reason ?? "", /hooks cannot run: the supervisor is gone/);
  assert.match(engine.results()[0] ?? "", /rejected/);

  const { port } = hooks(() => ({ stop: "Enough." }));
  await using stopping = await startEngine({ files: FILES, script: READ, abilities: { hooks: port } });
  await stopping.prompt("Read");
  assert.equal(stopping.server.requests.length, 1);
});

Deno.test("what runs is what the guards have seen, also after the user's edit of a command", async () => {
  const { port, inputs } = hooks((input) => {
    const command = "input" in input ? String(input.input.command) : "";
    if (command.startsWith("rm")) return { decision: "deny", reason: "No rm", context: [] };
    if (command === "make") return { changed: { hook: "guard.sh", input: { command: "make -n" } } };
    return { decision: "ask", reason: "Sure?" };
  });
  const ran: string[] = [];
  const shell = { exports: [["A", "1"]], dropped: [] } as const;
  const unused = () => Promise.reject(new Error("not a call of this test"));
  const edits = [undefined, "export A=1; rm a.txt", "export A=1; make", "ls"];
  await using engine = await startEngine({
    files: FILES,
    script: edits.map((_, at) => `call run {"command": "touch ${at}", "access": "write"}\n---\n`).join("") +
      "say Done",
    ask: () => {
      const command = edits[engine.asked.length - 1];
      return { answer: "allow_once", access: "write", ...command === undefined ? {} : { command } };
    },
    abilities: {
      hooks: port,
      commands: {
        run({ command }) {
          ran.push(command);
          return Promise.resolve({ output: "", end: "exit code 0", failed: false, shell });
        },
        startInBackground: unused,
        output: unused,
        stop: unused,
        isRunning: () => false,
      },
    },
  });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.deepEqual(ran, ["touch 0", "ls"]);
  assert.deepEqual(inputs.map((input) => "input" in input && input.input.command), [
    ...["touch 0", "touch 1", "rm a.txt", "touch 2", "make", "touch 3", "ls"],
  ]);
  const [, refused, changed] = engine.results();
  assert.equal(refused, "Not allowed: No rm.");
  assert.match(
    changed ?? "",
    /a hook has changed the command that the user edited to: \{"command":"make -n"/,
  );
  const titles = engine.stored().flatMap((event) => event.type === "approval_answered" ? [event.title] : []);
  assert.deepEqual(titles, [undefined, "run rm a.txt", "run make", "run ls"]);
  assert.ok(engine.asked.every(({ isSingle }) => isSingle === true));
  checkEvents(engine.events);
});

Deno.test("without hooks for an event nothing is asked", async () => {
  const { port, inputs } = hooks(() => ({}), "SessionEnd");
  await using engine = await startEngine({ files: FILES, script: READ, abilities: { hooks: port } });
  assert.deepEqual(await engine.prompt("Read"), END_TURN);
  assert.deepEqual(inputs, []);
});

Deno.test("a hook keeps a turn going three times, and never a fourth", async () => {
  const { port, inputs } = hooks(() => ({ decision: "deny", reason: "Test it." }), "Stop");
  const script = [1, 2, 3, 4].map((count) => `say Answer ${count}.`).join("\n---\n");
  await using engine = await startEngine({ files: FILES, script, abilities: { hooks: port } });
  assert.deepEqual(await engine.prompt("Go"), END_TURN);
  assert.deepEqual(inputs.map((input) => "again" in input && input.again), [false, true, true]);
  assert.equal(engine.server.requests.length, 4);
  assert.match(
    JSON.stringify(engine.server.requests.at(-1)?.body),
    /does not let you end the turn yet: Test it\./,
  );
});

Deno.test("a hook refuses the compaction that the user has requested, and says why", async () => {
  const { port, inputs } = hooks(() => ({ decision: "deny", reason: "Keep it all" }), "PreCompact");
  const long = "word ".repeat(8_000);
  await using engine = await startEngine({
    files: FILES,
    script: [1, 2, 3].map((count) => `say Answer ${count}.`).join("\n---\n"),
    abilities: { hooks: port },
  });
  for (const count of [1, 2, 3]) await engine.prompt(`${count} ${long}`);
  await assert.rejects(
    engine.session.compact("the words"),
    /Cannot compact the session: Keep it all\. See :Agent hooks\./,
  );
  assert.deepEqual(inputs, [{ event: "PreCompact", trigger: "manual", instructions: "the words" }]);
  assert.equal(engine.server.requests.length, 3, "no summary was requested");
});

Deno.test("a sub-agent's end has hooks of its own", async () => {
  const { port, inputs } = hooks(() => ({}), "Stop", "SubagentStop");
  await using engine = await startEngine({
    files: FILES,
    script:
      'call subagent {"title": "look", "task": "Look.", "mode": "explore"}\n---\nsay Looked.\n---\nsay Done.',
    abilities: { hooks: port },
  });
  await engine.prompt("Go");
  assert.deepEqual(inputs, [
    { event: "SubagentStop", again: false, message: "Looked.", agent: "explore" },
    { event: "Stop", again: false, message: "Done." },
  ]);
});
