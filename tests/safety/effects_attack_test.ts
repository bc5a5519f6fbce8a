/** What hostile commands leave over an overlay, and what an engine may have of it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { EffectRow } from "../../denops/agent/protocol/ui.ts";
import { leftovers } from "../support/rehearsal.ts";
import { ONCE, rehearsedProject, SESSION } from "../support/rehearsed_project.ts";
import { waitUntil } from "../support/project.ts";

Deno.test("what a command leaves for the user's tools is named, and not kept unless it is chosen", async () => {
  await using place = await rehearsedProject({ "a.txt": "a\n", "bare/HEAD": "ref: refs/heads/main\n" });
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
  await using place = await rehearsedProject({ "a.txt": "a\n" });
  const id = await place.run("echo b > a.txt; echo n > new.txt; echo x > .envrc");
  assert.deepEqual(place.kept(id), [], "nothing before the answer");
  assert.deepEqual(place.terminals.changes(SESSION, id).contents({ change: 0, offset: 0 }).parts, []);
  assert.equal(await place.ask(id, ONCE, "another session"), false);
  assert.equal(await place.ask("no such id", ONCE), false);
  assert.throws(() => place.terminals.changes("another session", id));
  assert.equal(place.asked.length, 0, "nobody is asked about what is not there");
  assert.equal(await place.ask(await place.run("touch made"), { option: "reject" }), false);
  assert.equal(place.asked.at(-1)?.suggestion, "run(touch *)");
  assert.equal(await place.ask(id, { option: "reject" }), false);
  assert.deepEqual(place.kept(id), []);
  const number = (path: string) => place.rows().find((row) => row.path === path)?.number ?? 0;
  assert.ok(await place.ask(id, { option: "allow_once", kept: [number("new.txt"), number(".envrc"), 99] }));
  assert.deepEqual(place.kept(id).sort(), [".envrc", "new.txt"]);
  const { left } = place.terminals.changes(SESSION, id).kept(0);
  assert.deepEqual(left, [{ path: place.project.path("a.txt"), why: "the user left it out" }]);
  place.terminals.release(id);
  assert.throws(() => place.kept(id));
});

Deno.test("rules decide file by file, and a word for the command is none for what is sensitive", async () => {
  const rules = { deny: ["write(src/**)"], ask: ["write(docs/**)"], allow: ["write(.envrc)"] };
  await using place = await rehearsedProject({ "src/a": "a", "docs/a": "a" }, rules);
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
  await using place = await rehearsedProject(files, rules);
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

/** What is shown of a command's changes: "left: deleted AGENTS.md". */
function described(rows: readonly EffectRow[]): readonly string[] {
  return rows.map(({ state, what, path }) => `${state}: ${what} ${path}`).sort();
}

Deno.test("a file that becomes a folder or a link, and the other way round, is two rows, each with its own word", async () => {
  const files = {
    "AGENTS.md": "rules\n",
    "notes.md": "a\nb\n",
    "plain": "p\n",
    ".github/workflows/ci.yml": "on: push\n",
    "docs/a": "a\n",
  };
  await using place = await rehearsedProject(files);
  const id = await place.run(
    `for file in AGENTS.md notes.md; do rm $file; mkdir $file; echo x > $file/x; done
     rm plain; ln -s docs plain; rm -r .github; echo x > .github; rm -r docs; ln -s notes.md docs`,
  );
  place.agree();
  assert.ok(await place.ask(id, ONCE));
  assert.deepEqual(described(place.rows()), [
    "kept: created .github",
    "kept: created docs",
    "kept: created notes.md/x",
    "kept: created plain",
    "kept: deleted docs/",
    "kept: deleted notes.md",
    "kept: deleted plain",
    "left: created AGENTS.md/x",
    "left: deleted .github/",
    "left: deleted AGENTS.md",
  ]);
  // Half of a change is none.
  assert.deepEqual(place.kept(id).sort(), ["docs", "notes.md", "notes.md/x", "plain"]);
  const all = place.rows().map(({ number }) => number);
  assert.ok(await place.ask(id, { option: "allow_once", kept: all }));
  assert.deepEqual(place.kept(id).sort(), [
    ".github",
    "AGENTS.md",
    "AGENTS.md/x",
    "docs",
    "notes.md",
    "notes.md/x",
    "plain",
  ]);
});

Deno.test("a link is judged by where it leads in the new tree, and its content by every name that it gives", async () => {
  const files = {
    "g/workflows/ci.yml": "on: push\n",
    "plain/a": "a\n",
    "old/tasks.json": "{}",
    "a.txt": "a\n",
  };
  await using place = await rehearsedProject(files);
  await Deno.symlink("old", place.project.path(".vscode"));
  const id = await place.run(
    `mkdir -p a/b/c; ln -s ../../.. a/b/c/up; ln -s a/b/c/up/../OUTSIDE far; ln -s a/b/c/up/a.txt near
     ln -s g .github; ln -s plain other; mkdir h; ln -s h .husky; echo x > h/pre-commit; echo x > old/tasks.json
     ln -s chain .idea; ln -s i chain; mkdir i; echo x > i/x; ln -s round trip; ln -s trip round`,
  );
  place.agree();
  assert.ok(await place.ask(id, ONCE));
  assert.deepEqual(described(place.rows()), [
    "kept: created a/b/c/up",
    "kept: created chain",
    "kept: created near",
    "kept: created other",
    "left: created .github",
    "left: created .husky",
    "left: created .idea",
    "left: created far",
    "left: created h/pre-commit",
    "left: created i/x",
    "left: created round",
    "left: created trip",
    "left: modified old/tasks.json",
  ]);
});

Deno.test("what the user has saved meanwhile cannot be kept", async () => {
  await using place = await rehearsedProject({ "a.txt": "a\n", "b.txt": "b\n", go: "" });
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
  await using place = await rehearsedProject({ "a.txt": "a\n" });
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
  await using place = await rehearsedProject({ "a.txt": "a\n" });
  const starting = place.run("echo x > a.txt; sleep 60");
  const refused = assert.rejects(starting, /the engine is gone/);
  await waitUntil("the overlay", () => leftovers(place.state.root).length > 0);
  await place.terminals[Symbol.asyncDispose]();
  await refused;
  assert.deepEqual(leftovers(place.state.root), []);
});
