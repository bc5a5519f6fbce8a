/** Commands over an overlay, as a user meets them. Whole program. */
import assert from "node:assert/strict";
import { transcript } from "../support/chat.ts";
import { sharedAgent } from "../support/shared_agent.ts";
import { waitUntil } from "../support/project.ts";
import { leftovers } from "../support/rehearsal.ts";

const call = (command: string, access = "write") =>
  `call run_terminal_command ${JSON.stringify({ command, access })}`;

const FILES = { "a.txt": "one\ntwo\n", "src/b.txt": "b\n", ".gitignore": "out/\n", "out/old": "old\n" };
const CHANGE =
  "sed -i s/one/ONE/ a.txt; rm src/b.txt; mkdir -p src/new; echo n > src/new/c; echo new > out/old; " +
  "echo made > out/made; echo use > .envrc; chmod +x a.txt";

Deno.test("what a command would change is shown, chosen, kept and undone, exactly and of ignored files too", async () => {
  await using agent = await sharedAgent({
    script: `${call(CHANGE)}\n---\nsay Seen.`,
    project: FILES,
    lines: 45,
  });
  const { nvim, project, server } = agent;
  await nvim.command("edit a.txt");
  await nvim.command("Agent go");
  const screen = await nvim.waitForScreen("a keep");
  for (
    const row of [
      "☐ A .envrc  +1 · direnv runs it automatically",
      "M a.txt  +1 −1",
      "D src/b.txt",
      "A src/new/c  +1",
    ]
  ) {
    assert.ok(screen.includes(row), `${row}\n${screen}`);
  }
  assert.equal(await project.read("a.txt"), "one\ntwo\n", "nothing of it has happened");
  await nvim.command("Agent approve");
  await nvim.waitForScreen("Seen.");
  assert.equal(await project.read("a.txt"), "ONE\ntwo\n");
  assert.equal(await project.read("out/old"), "new\n");
  assert.equal(await project.read("out/made"), "made\n");
  assert.equal(((await Deno.stat(project.path("a.txt"))).mode ?? 0) & 0o111, 0o111);
  for (const gone of ["src/b.txt", ".envrc"]) await assert.rejects(project.read(gone), Deno.errors.NotFound);
  await nvim.waitFor(`vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 0, 1, true)[1] == "ONE"`);
  const told = server.requests.at(-1)?.text ?? "";
  assert.match(told, /\[kept: [^\]]*a\.txt/);
  assert.match(told, /\[not kept: \.envrc \(the user left it out\)\]/);
  await nvim.command("Agent undo");
  await nvim.waitForScreen("undid turn 1");
  assert.equal(await project.read("a.txt"), "one\ntwo\n");
  assert.equal(await project.read("out/old"), "old\n");
  assert.equal(await project.read("src/b.txt"), "b\n");
  for (const gone of ["src/new/c", "out/made"]) {
    await assert.rejects(project.read(gone), Deno.errors.NotFound);
  }
  await assert.rejects(Deno.stat(project.path("src/new")), Deno.errors.NotFound);
  await waitUntil("nothing to be left of it", () => leftovers(agent.state.root).length === 0);
});

Deno.test("a try keeps nothing and says so; what changes nothing asks nothing; a no tells the model why", async () => {
  const script = [
    call("echo x >> a.txt; cat a.txt", "try"),
    `expect what it wrote was not kept\n${call("cat a.txt")}`,
    call("echo y >> a.txt"),
    "expect The user did not keep what the command changed (1 change): too early\nsay Seen.",
  ];
  await using agent = await sharedAgent({ script: script.join("\n---\n"), project: FILES });
  const { nvim, project, server } = agent;
  await nvim.command("Agent go");
  await nvim.waitForScreen("a keep");
  assert.equal(await nvim.lua("return require('agent.approval').count()"), 1);
  await nvim.command("Agent reject too early");
  await nvim.waitForScreen("Seen.");
  assert.deepEqual(server.problems, []);
  assert.equal(await project.read("a.txt"), "one\ntwo\n");
});

Deno.test("what the user saves while the approval waits stays, and unsaved text is merged with what is kept", async () => {
  const line = "sed -i s/one/ONE/ a.txt; echo x > src/b.txt";
  await using agent = await sharedAgent({ script: `${call(line)}\n---\nsay Seen.`, project: FILES });
  const { nvim, project, server } = agent;
  await nvim.command("edit a.txt");
  await nvim.command("call append('$', 'three')");
  await nvim.command("Agent! go");
  await nvim.waitFor(`require("agent.approval").count() > 0`);
  await project.write("src/b.txt", "mine\n");
  await nvim.command("Agent approve");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.equal(await project.read("src/b.txt"), "mine\n");
  const lines = await nvim.lua(`return vim.api.nvim_buf_get_lines(vim.fn.bufnr("a.txt"), 0, -1, true)`);
  assert.deepEqual(lines, ["ONE", "two", "three"]);
  assert.match(server.requests.at(-1)?.text ?? "", /\[not kept: src\/b\.txt \(changed meanwhile\)\]/);
});

Deno.test("a file that the user saves while its move waits stays, and the chat says so; a converted file keeps its encoding", async () => {
  const line = "mv a.txt moved.txt; printf '\\351\\n' > src/b.txt";
  const project = { ...FILES, "src/b.txt": "é\n" };
  await using agent = await sharedAgent({ script: `${call(line)}\n---\nsay Seen.`, project });
  const { nvim, project: { read, path } } = agent;
  await nvim.command("edit src/b.txt");
  await nvim.command("edit a.txt");
  await nvim.command("call append('$', 'three')");
  await nvim.command("Agent! go");
  await nvim.waitFor(`require("agent.approval").count() > 0`);
  await nvim.command("write");
  await nvim.command("Agent approve");
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.deepEqual([await read("a.txt"), await read("moved.txt")], ["one\ntwo\nthree\n", "one\ntwo\n"]);
  const chat = (await transcript(nvim)).join(" ").replaceAll(/\s+/g, " ");
  assert.ok(chat.includes("Changed meanwhile, so the command's result was not kept: a.txt."), chat);
  await nvim.waitFor(`vim.bo[vim.fn.bufnr("src/b.txt")].fileencoding == "latin1"`);
  await nvim.command("buffer b.txt | silent write!");
  assert.deepEqual([...await Deno.readFile(path("src/b.txt"))], [0xe9, 0x0a]);
});

Deno.test("commands = project keeps unasked what touches nothing sensitive, and asks about the rest", async () => {
  await using agent = await sharedAgent({
    script: `${call("echo x > a.txt")}\n---\n${call("echo x > .envrc")}\n---\nsay Seen.`,
    project: FILES,
    options: 'shell = { commands = "project" }',
  });
  const { nvim, project } = agent;
  await nvim.command("Agent go");
  assert.match(await nvim.waitForScreen("a keep"), /✓ A \.envrc/);
  assert.equal(await project.read("a.txt"), "x\n");
  await nvim.command("Agent approve");
  await nvim.waitForScreen("Seen.");
  assert.equal(await project.read(".envrc"), "x\n");
});
