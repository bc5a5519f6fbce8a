/** What hostile commands leave over an overlay, and what an engine may have of it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { RequestPermissionRequest } from "../../denops/agent/deps/acp_sdk.ts";
import { approvalOf } from "../../denops/agent/supervisor/gate/outcome.ts";
import { ApprovalLog } from "../../denops/agent/supervisor/gate/approval_log.ts";
import { Gate } from "../../denops/agent/supervisor/gate/gate.ts";
import { RuleBook } from "../../denops/agent/supervisor/gate/rule_book.ts";
import { Terminals } from "../../denops/agent/supervisor/commands/terminals.ts";
import { lookups } from "../../denops/agent/supervisor/system/lookups.ts";
import type { TerminalMeta } from "../../denops/agent/protocol/commands.ts";
import { FileRules } from "../../denops/agent/protocol/config.ts";
import { META, PERMISSION_OPTIONS } from "../../denops/agent/protocol/extensions.ts";
import type { ApprovalUpdate, EffectRow } from "../../denops/agent/protocol/ui.ts";
import defaults from "../../denops/agent/policy/defaults.json" with { type: "json" };
import { commandRunner } from "../support/command_sandbox.ts";
import { gateContext } from "../support/gate.ts";
import { leftovers } from "../support/rehearsal.ts";
import { scratch, waitUntil } from "../support/project.ts";

type UserAnswer = NonNullable<Parameters<Gate["answer"]>[1]>;

const SESSION = "s";
const FILES = FileRules.parse({ safe_to_write: defaults.safe_to_write, deny_read: [] });

/** A project, and commands in it that need no engine. */
async function world(
  files: Readonly<Record<string, string>>,
  rules: Partial<Record<"allow" | "ask" | "deny", string[]>> = {},
) {
  const stack = new AsyncDisposableStack();
  const project = stack.use(await scratch(files));
  const state = stack.use(await scratch());
  const { sandbox } = commandRunner([project.root], state.root);
  const grant = { isMasked: true, agreed: false };
  const terminals = stack.use(
    new Terminals([project.root], lookups, {
      spend: () => ({ ...grant }),
      ask: () => Promise.resolve(undefined),
      specify: (input) => sandbox.specify(input, []),
      show: () => {},
      running: () => {},
    }),
  );
  const asked: ApprovalUpdate[] = [];
  let answer: UserAnswer = { option: "allow_once" };
  let last = 0;
  const gate = new Gate((update) => {
    if (update.type !== "approval") return;
    asked.push(update);
    setTimeout(() => gate.answer(update.request, answer));
  }, () => ++last);
  const context = gateContext({
    ...{ chat: 1, root: project.root, commands: "look", rehearses: true, files: FILES },
    view: { masks: { complete: true, folders: [], files: [] }, tracked: undefined },
    rules: await RuleBook.open(state.root, project.root, { allow: [], ask: [], deny: [], ...rules }),
    log: new ApprovalLog(state.root),
    ended: (sessionId, terminal) => terminals.endedCommand(sessionId, terminal),
  });
  return {
    ...{ project, state, terminals, asked },
    agree: () => grant.agreed = true,
    /** @returns its id, when it says that it is ready */
    async start(command: string): Promise<string> {
      const meta: TerminalMeta = {
        ...{ command, cwd: project.root, timeout: 60, access: "write", background: false },
        ...{ rehearsed: true, toolCallId: "call" },
      };
      const id = await terminals.create({
        ...{ sessionId: SESSION, command: "sh", args: ["-c", command], cwd: project.root },
        _meta: { [META]: meta },
      });
      await waitUntil("the command", async () => {
        const { output, exitStatus } = await terminals.output(id);
        return output.includes("ready") || exitStatus ? id : undefined;
      });
      return id;
    },
    async run(command: string): Promise<string> {
      const id = await this.start(command);
      await terminals.waitForExit(id, new AbortController().signal);
      return id;
    },
    /** False if nothing is to be kept. */
    async ask(terminal: string, said: UserAnswer, sessionId = SESSION): Promise<boolean> {
      answer = said;
      const accesses = { kind: "effects", terminal } as const;
      const request: RequestPermissionRequest = {
        sessionId,
        toolCall: { toolCallId: "call", title: "run it", kind: "execute" },
        options: [...PERMISSION_OPTIONS],
        _meta: { [META]: { reason: "", force: false, accesses } },
      };
      return approvalOf(await gate.permission(request, context), PERMISSION_OPTIONS) !== undefined;
    },
    /** What was shown last. */
    rows(): readonly EffectRow[] {
      const shown = asked.at(-1);
      return shown?.kind === "effects" ? shown.effects : [];
    },
    kept: (terminal: string) =>
      terminals.rehearsal(SESSION, terminal).kept(0).changes.map(({ path }) =>
        path.slice(project.root.length + 1)
      ),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

const ONCE: UserAnswer = { option: "allow_once" };

Deno.test("what a command leaves for the user's tools is named, and not kept unless it is chosen", async () => {
  await using place = await world({ "a.txt": "a\n", "bare/HEAD": "ref: refs/heads/main\n" });
  const id = await place.run(
    `echo b > a.txt; echo x > .envrc; mkdir -p sub/.git/hooks .vscode; echo '#!' > sub/.git/hooks/post-checkout
     echo '{}' > .vscode/tasks.json; printf '[core]\\nfsmonitor=x' > bare/config; mkdir bare/hooks; echo x > bare/hooks/pre-commit
     cp /bin/true suid; chmod u+s suid; ln -s /etc/passwd out; ln -s /usr/bin/env fine; ln -s ../.. up; ln -s sub/.git in
     mkfifo pipe; touch "$(printf 'new\\nline')"; touch "$(printf 'not\\377utf')"`,
  );
  place.agree();
  assert.ok(await place.ask(id, ONCE));
  const state = (wanted: EffectRow["state"]) =>
    place.rows().filter((row) => row.state === wanted).map(({ path }) => path).sort();
  assert.deepEqual(state("left"), [
    ".envrc",
    ".vscode/tasks.json",
    "bare/config",
    "bare/hooks/pre-commit",
    "in",
    "out",
    "sub/.git/hooks/post-checkout",
    "suid",
    "up",
  ]);
  assert.deepEqual(state("kept"), ["a.txt", "fine", "new␊line"]);
  assert.equal(state("refused").length, 2);
  assert.ok(place.rows().every((row) => row.state === "kept" || row.note !== undefined), "each says why");
  assert.deepEqual(place.kept(id).sort(), ["a.txt", "fine", "new\nline"]);
  assert.equal(await Deno.readTextFile(place.project.path("a.txt")), "a\n");
});

Deno.test("the engine gets what was agreed to, of its own commands alone", async () => {
  await using place = await world({ "a.txt": "a\n" });
  const id = await place.run("echo b > a.txt; echo n > new.txt; echo x > .envrc");
  assert.deepEqual(place.kept(id), [], "nothing before the answer");
  assert.deepEqual(place.terminals.rehearsal(SESSION, id).contents({ change: 0, offset: 0 }).parts, []);
  assert.equal(await place.ask(id, ONCE, "another session"), false);
  assert.equal(await place.ask("no such id", ONCE), false);
  assert.throws(() => place.terminals.rehearsal("another session", id));
  assert.equal(place.asked.length, 0, "nobody is asked about what is not there");
  assert.equal(await place.ask(await place.run("touch made"), { option: "reject" }), false);
  assert.equal(place.asked.at(-1)?.suggestion, "run(touch *)");
  assert.equal(await place.ask(id, { option: "reject" }), false);
  assert.deepEqual(place.kept(id), []);
  const number = (path: string) => place.rows().find((row) => row.path === path)?.number ?? 0;
  assert.ok(await place.ask(id, { option: "allow_once", kept: [number("new.txt"), number(".envrc"), 99] }));
  assert.deepEqual(place.kept(id).sort(), [".envrc", "new.txt"]);
  const { left } = place.terminals.rehearsal(SESSION, id).kept(0);
  assert.deepEqual(left, [{ path: place.project.path("a.txt"), why: "the user left it out" }]);
  place.terminals.release(id);
  assert.throws(() => place.kept(id));
});

Deno.test("rules decide file by file, and a word for the command is none for what is sensitive", async () => {
  const rules = { deny: ["write(src/**)"], ask: ["write(docs/**)"], allow: ["write(.envrc)"] };
  await using place = await world({ "src/a": "a", "docs/a": "a" }, rules);
  const line = "echo b > src/a; echo b > docs/a; echo b > .envrc; echo b > b";
  const first = await place.run(line);
  place.agree();
  assert.ok(await place.ask(first, ONCE));
  assert.deepEqual(place.rows().map(({ path, state }) => `${path} ${state}`).sort(), [
    ".envrc kept",
    "b kept",
    "docs/a left",
    "src/a refused",
  ]);
  const all = place.rows().map(({ number }) => number);
  assert.ok(await place.ask(first, { option: "allow_once", kept: all }));
  assert.deepEqual(place.kept(first).sort(), [".envrc", "b", "docs/a"], "what is denied is never kept");
  const plain = await place.run("echo b > b");
  const before = place.asked.length;
  assert.ok(await place.ask(plain, { option: "reject" }));
  assert.equal(place.asked.length, before, "the command was agreed to");
});

Deno.test("a folder goes by the strictest word on anything in it, and so does one that is moved or replaced", async () => {
  const rules = { deny: ["write(src/**)"], ask: ["write(docs/**)"] };
  const files = {
    "src/a": "a",
    "docs/deep/a": "a",
    ".github/workflows/ci.yml": "on: push\n",
    "plain/a": "a",
  };
  await using place = await world(files, rules);
  const id = await place.run("rm -r src .github plain; mv docs moved");
  place.agree();
  assert.ok(await place.ask(id, ONCE));
  const states = Object.fromEntries(place.rows().map(({ path, state }) => [path, state]));
  assert.deepEqual(states, {
    ".github/": "left",
    "docs/": "left",
    "src/": "refused",
    "plain/": "kept",
    "moved/deep/a": "kept",
  });
  assert.deepEqual(place.kept(id).filter((path) => !path.startsWith("moved")), ["plain"]);
});

Deno.test("what the user has saved meanwhile cannot be kept", async () => {
  await using place = await world({ "a.txt": "a\n", "b.txt": "b\n", go: "" });
  const id = await place.start(
    "echo x > a.txt; echo x > b.txt; echo ready; until grep -q 1 go; do sleep 0.01; done",
  );
  await Deno.writeTextFile(place.project.path("a.txt"), "mine\n");
  await Deno.writeTextFile(place.project.path("go"), "1");
  await place.terminals.waitForExit(id, new AbortController().signal);
  assert.ok(await place.ask(id, ONCE));
  assert.deepEqual(place.rows().map(({ path, state, note }) => [path, state, note]), [
    ["b.txt", "kept", undefined],
    ["a.txt", "refused", "changed meanwhile"],
  ]);
  assert.deepEqual(place.kept(id), ["b.txt"]);
});

Deno.test("a command that was cut off leaves nothing, and nothing is left of any", async () => {
  await using place = await world({ "a.txt": "a\n" });
  const killed = await place.run("echo x > a.txt; kill -9 $$");
  assert.ok(await place.ask(killed, ONCE), "one that kills itself has ended as it would");
  const id = await place.start("echo x > a.txt; echo ready; sleep 60");
  place.terminals.stopTurn(SESSION);
  await place.terminals.waitForExit(id, new AbortController().signal);
  const { output } = await place.terminals.output(id);
  assert.match(output, /it was cut off: nothing that it changed was kept/);
  assert.equal(await place.ask(id, ONCE), false);
  assert.equal(await Deno.readTextFile(join(place.project.root, "a.txt")), "a\n");
  for (const one of [killed, id]) place.terminals.release(one);
  await place.terminals[Symbol.asyncDispose]();
  assert.deepEqual(leftovers(place.state.root), []);
});

Deno.test("a command whose engine ends while its sandbox is made is not started, and leaves nothing", async () => {
  await using place = await world({ "a.txt": "a\n" });
  const starting = place.run("echo x > a.txt; sleep 60");
  const refused = assert.rejects(starting, /the engine is gone/);
  await waitUntil("the overlay", () => leftovers(place.state.root).length > 0);
  await place.terminals[Symbol.asyncDispose]();
  await refused;
  assert.deepEqual(leftovers(place.state.root), []);
});
