/** Processes end when they should, and only then; and what could not start says why. */
import assert from "node:assert/strict";
import process from "node:process";
import { KeyCommands } from "../../denops/agent/supervisor/system/key_command.ts";
import { main } from "../../denops/agent/main.ts";
import { type AgentOptions, type RunningAgent, startAgent } from "../support/agent.ts";
import { say, transcript, waitForChat } from "../support/chat.ts";
import { DENO, openProjects, userConfig } from "../support/engine.ts";
import { pause, scratch, waitUntil } from "../support/project.ts";
import {
  age,
  ENGINE,
  marked,
  type RunningProcess,
  waitForMarked,
  waitForNone,
} from "../support/processes.ts";
import { IS_FULL } from "../support/sample.ts";
import { reached } from "../support/server.ts";
import { sharedAgent } from "../support/shared_agent.ts";
import { sample } from "../support/sample.ts";

const linux = Deno.build.os === "linux";

interface Marked extends RunningAgent {
  /** All processes of this test carry one of these. */
  readonly marks: readonly string[];
}

async function start(script: string, options: Partial<AgentOptions> = {}): Promise<Marked> {
  const mark = `agent-test-${crypto.randomUUID()}`;
  const agent = await startAgent({ script, ...options, env: { AGENT_TEST_MARK: mark, ...options.env } });
  return { ...agent, marks: [mark, agent.project.root] };
}

/** One that another test of this file may have begun: its Neovim stays. */
async function share(script: string, lua = ""): Promise<Marked> {
  const agent = await sharedAgent({ script, lua, group: "lifetime" });
  return { ...agent, marks: [agent.project.root] };
}

async function shareWithKeyCommand(script: string, command: string): Promise<Marked> {
  return await share(
    script,
    `vim.g.agent = vim.tbl_deep_extend("force", vim.g.agent, {
      providers = { test = { api_key = "cmd:${command}" } },
    })`,
  );
}

/** @param knows what of the session so far the model is sent */
async function goesOn({ nvim, server }: RunningAgent, knows: readonly string[] = []): Promise<void> {
  server.play("new-history\nexpect And now?\nsay All is well again.");
  await say(nvim, "And now?");
  await waitForChat(nvim, "All is well again.");
  assert.deepEqual(server.problems, []);
  const sent = JSON.stringify(server.requests.at(-1)?.body);
  for (const text of ["Hello", "The first half", "Hi."]) {
    assert.equal(sent.includes(text), knows.includes(text));
  }
}

function isEngine({ command }: RunningProcess): boolean {
  return /^\S*deno run/.test(command) && ENGINE.test(command);
}

/** The process of the engine itself, inside of its sandbox. */
async function engineProcess({ marks }: Marked): Promise<RunningProcess> {
  const all = await marked(...marks);
  const engine = all.find(isEngine);
  assert.ok(engine, `no engine among\n${all.map(({ command }) => command).join("\n")}`);
  return engine;
}

const ENDS = {
  ":qa!": ({ nvim }: RunningAgent) => nvim.quit(),
  SIGTERM: ({ nvim }: RunningAgent) => (nvim.kill("SIGTERM"), nvim.exited),
  SIGKILL: ({ nvim }: RunningAgent) => (nvim.kill("SIGKILL"), nvim.exited),
} as const;

const WAYS = [":qa!", "SIGTERM", "SIGKILL"] as const;

/** Nothing is left after Neovim has ended in this way. */
async function leavesNothing(agent: Marked, way: keyof typeof ENDS): Promise<void> {
  // Neovim, the supervisor and the engine, at least.
  await waitForMarked(agent.marks, 3);
  await ENDS[way](agent);
  await waitForNone(agent.marks);
}

for (const way of IS_FULL ? WAYS : []) {
  Deno.test({
    name: `nothing is left after ${way} in the middle of a turn`,
    ignore: !linux,
    async fn() {
      await using agent = await start("say One\nwait here\nsay two");
      await agent.nvim.command("Agent Hello");
      await reached(agent.server, "here");
      await leavesNothing(agent, way);
    },
  });
}

Deno.test({
  name:
    "the engine runs when the chat is open, without a word; after :qa! in the middle of a turn nothing is left",
  ignore: !linux,
  async fn() {
    await using agent = await start("say One\nwait here\nsay two");
    const { nvim, marks, server } = agent;
    await nvim.command("Agent");
    await waitUntil("the engine", async () => (await marked(...marks)).some(isEngine));
    // Lua starts the one and the supervisor the other, as frugal.
    const flags = (await marked(...marks)).flatMap(({ command }) => /--v8-flags=\S+/.exec(command) ?? []);
    assert.ok(flags.length >= 2);
    assert.equal(new Set(flags).size, 1, flags.join());
    await nvim.keys("<Esc>");
    await nvim.command("Agent toggle");
    await nvim.command("Agent sessions");
    await nvim.waitForScreen("this project has no sessions yet");
    assert.deepEqual(await transcript(nvim), []);
    await nvim.command("Agent Hello");
    await reached(server, "here");
    await leavesNothing(agent, ":qa!");
  },
});

Deno.test("an engine is that of the place at the first message; after SIGTERM nothing is left", async (test) => {
  await using agent = await start("say Hi.", {
    project: {
      ...{ "a/.git/HEAD": "", "b/.git/HEAD": "" },
      ...{ "notes/today.md": "", "tool/package.json": "{}", "tool/src/a.ts": "" },
    },
    lua: "vim.env.HOME = vim.fn.getcwd()",
  });
  const { nvim, project, server, marks } = agent;
  const rootOf = async (chat: number) => {
    await nvim.waitForScreen("· ready");
    return await nvim.lua<string>("return require('agent.chat').get(...).timeline.root", chat);
  };

  await test.step("the processes start for one place and are asked about another one: one engine", async () => {
    await nvim.command("cd a");
    await nvim.lua(`require("agent.client").start(require("agent.projects").place())
      vim.cmd.cd("../b") vim.cmd("Agent Hello")`);
    await waitForChat(nvim, "Hi.");
    assert.equal(await rootOf(1), project.path("b"));
    if (!linux) return;
    await waitUntil("one engine", async () => (await marked(...marks)).filter(isEngine).length === 1);
    assert.ok((await engineProcess(agent)).command.includes(`--allow-read=${project.path("b")}`));
  });

  await test.step("the home folder is no project, with dotfiles in a repository; what lies in it is", async () => {
    const [notes, tool] = [project.path("notes"), project.path("tool")];
    const opened = [[`${notes}/today.md | tcd ${notes}`, notes], [`${tool}/src/a.ts`, tool]];
    for (const [at, [file, root]] of opened.entries()) {
      await nvim.command("Agent toggle");
      server.play("new-history\nsay Ho.");
      await nvim.command(`tabnew ${file}`);
      await nvim.command("Agent Hello");
      await waitForChat(nvim, "Ho.");
      assert.equal(await rootOf(at + 2), root);
    }
    await nvim.command("Agent toggle");
    await nvim.command(`tabnew | tcd ${project.root}`);
    const asked = server.requests.length;
    await nvim.command("Agent Hello");
    await waitForChat(
      nvim,
      `Cannot use ${project.root} as the project: the agent could change your home folder. ` +
        "Go to a folder or a file of a project first.",
    );
    assert.equal(server.requests.length, asked);
  });

  if (linux) await leavesNothing(agent, "SIGTERM");
});

Deno.test({
  name: "a Neovim that is left as soon as the chat is open leaves nothing",
  ignore: !linux,
  async fn() {
    await using agent = await start("say Never.");
    const { nvim, marks } = agent;
    await nvim.command("Agent");
    await waitForMarked(marks, 2);
    await nvim.quit();
    await waitForNone(marks);
  },
});

const WRONG: readonly (readonly [name: string, options: string, line: string])[] = [
  [
    "no Deno",
    'deno = { "no-such-deno" }',
    "Cannot start: no-such-deno was not found. Install Deno (https://deno.com), or set the option deno.",
  ],
  [
    "a command that is no Deno",
    'deno = { "false" }',
    "The supervisor stopped (exit code 1).",
  ],
  [
    "an unknown provider",
    'provider = "nobody", providers = { work = { base_url = "http://127.0.0.1:9/v1" } }',
    'Unknown provider "nobody". Known are: work, ',
  ],
  [
    "an option that only the supervisor checks",
    "shell = { write = { 1 } }",
    "Invalid option shell.write.0: must be a string.",
  ],
  [
    "a root that is not there",
    'root = "/no/such/folder"',
    "Cannot use /no/such/folder as the project: the folder does not exist. Set the option root.",
  ],
];

Deno.test("what cannot start: one line, and after setup() it works", async (test) => {
  await using agent = await share("");
  const { nvim, marks } = agent;
  for (const [at, [name, options, line]] of sample(WRONG, 2).entries()) {
    await test.step(name, async () => {
      // The next one starts with these options.
      await waitUntil("no supervisor", async () => {
        const running = (await marked(...marks)).filter(({ command }) => command.includes("standalone.ts"));
        for (const { pid } of running) process.kill(pid, "SIGKILL");
        return await nvim.lua(`return not require("agent.client").host()`);
      });
      await nvim.lua(`require("agent").setup({ ${options} })`);
      await nvim.command("Agent new");
      await nvim.command("Agent Hello");
      await waitForChat(nvim, line);
      const shown = await transcript(nvim, 0, at + 1);
      assert.equal(shown.length, 2, shown.join("\n"));
      // The message is back in the input.
      await nvim.keys("<Esc>ggdG");
      await nvim.lua("require('agent').setup({})");
      // A message that no model could be asked about is back in the input.
      await nvim.keys("<Esc>ggdG");
      await goesOn(agent);
    });
  }
});

Deno.test({
  name: "an engine that is killed in the middle of a turn: an honest line, and the next message works",
  ignore: !linux,
  async fn() {
    await using agent = await share("say The first half\nwait here\nsay and the second.");
    const { nvim, server } = agent;
    await nvim.command("Agent Hello");
    await reached(server, "here");
    await waitForChat(nvim, "The first half");
    process.kill((await engineProcess(agent)).pid, "SIGKILL");
    const line = "The engine stopped (signal SIGKILL). The next message continues the stored session.";
    await waitForChat(nvim, line);
    assert.deepEqual(await transcript(nvim), ["Hello", "The first half", line]);
    await goesOn(agent, ["Hello", "The first half"]);
  },
});

Deno.test({
  name: "an engine that dies with a message that it has not stored: the message is back in the input, once",
  ignore: !linux,
  async fn() {
    await using agent = await share("say Hi.");
    const { nvim } = agent;
    await nvim.command("Agent Hello");
    await nvim.waitForScreen("· ready");
    const { pid } = await engineProcess(agent);
    process.kill(pid, "SIGSTOP");
    await nvim.command("Agent Lost in between");
    await nvim.waitForScreen("Lost in between");
    await nvim.waitForScreen("· working");
    process.kill(pid, "SIGKILL");
    await waitForChat(nvim, "The engine stopped (signal SIGKILL).");
    await waitForChat(nvim, "Lost in between (not sent)");
    const input = await nvim.lua<readonly string[]>(
      `return vim.api.nvim_buf_get_lines(require("agent.chat").current().input.buffer, 0, -1, false)`,
    );
    assert.deepEqual(input, ["Lost in between"]);
  },
});

Deno.test({
  name: "an engine that does not react to a stop is ended",
  ignore: !linux,
  async fn() {
    await using agent = await share("say The first half\nwait here\nsay and the second.");
    const { nvim } = agent;
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "The first half");
    process.kill((await engineProcess(agent)).pid, "SIGSTOP");
    await nvim.keys("<C-c>");
    // The turn is over at once, whatever the engine does.
    await waitForChat(nvim, "Stopped.");
    await waitForChat(nvim, "The engine stopped (it did not react to a stop within 5 s).");
    await goesOn(agent, ["Hello", "The first half"]);
  },
});

Deno.test({
  name: "an engine that is killed while it idles: the next message starts another one, which knows all",
  ignore: !linux,
  async fn() {
    await using agent = await share("say Hi.");
    const { nvim } = agent;
    await nvim.command("Agent Hello");
    await nvim.waitForScreen("· ready");
    const { pid } = await engineProcess(agent);
    process.kill(pid, "SIGKILL");
    await waitForChat(nvim, "The engine stopped (signal SIGKILL).");
    await goesOn(agent, ["Hello", "Hi."]);
    assert.notEqual((await engineProcess(agent)).pid, pid);
  },
});

Deno.test({
  name: "an engine that idles stays",
  // The limit is that of threads in Deno.
  ignore: !linux || !IS_FULL,
  async fn() {
    await using agent = await share("say Hi.");
    const { nvim, server } = agent;
    await nvim.command("Agent Hello");
    await nvim.waitForScreen("· ready");
    const { pid } = await engineProcess(agent);
    // Threads that idle end after some 10 s, and bwrap dies with the thread that started it.
    while (await age(pid) < 16) await pause(500);
    server.play("expect And now?\nsay All is well.");
    await say(nvim, "And now?");
    await waitForChat(nvim, "All is well.");
    assert.equal((await engineProcess(agent)).pid, pid);
    assert.deepEqual(await transcript(nvim), ["Hello", "Hi.", "And now?", "All is well."]);
  },
});

Deno.test({
  name: "a supervisor that is killed: an honest line, waiting messages come back, and the next one works",
  ignore: !linux,
  async fn() {
    await using agent = await share("say The first half\nwait here\nsay and the second.");
    const { nvim, marks } = agent;
    await nvim.command("Agent Hello");
    await waitForChat(nvim, "The first half");
    await say(nvim, "This one waits");
    await waitForChat(nvim, "This one waits (waiting for the turn to end)");
    const all = await marked(...marks);
    const supervisor = all.find(({ command }) => command.includes("standalone.ts"));
    assert.ok(supervisor);
    const { pid: engine } = await engineProcess(agent);
    process.kill(supervisor.pid, "SIGKILL");
    await waitForChat(
      nvim,
      "The supervisor stopped (signal SIGKILL). The next message continues the stored session.",
    );
    await waitForChat(nvim, "This one waits (not sent)");
    assert.equal(await nvim.lua("return vim.api.nvim_get_current_line()"), "This one waits");
    await waitUntil(
      "the engine to end",
      async () => (await marked(...marks)).every(({ pid }) => pid !== engine),
    );
    await nvim.keys("cc<Esc>");
    await goesOn(agent, ["Hello", "The first half"]);
  },
});

Deno.test("options are those of the first message; a command for the key, which may ask a person, runs once for each message until it succeeds", async () => {
  await using agent = await shareWithKeyCommand("say Hi.", "echo asked >> asked; cat key");
  const { nvim, project, server } = agent;
  await nvim.command("Agent");
  await nvim.waitFor("require('agent.client').host()");
  await nvim.keys("typed<Esc>");
  await nvim.lua("require('agent').setup({ model = 'another' })");
  const sent = await nvim.lua<number>("return vim.uv.clock_gettime('realtime').sec * 1000");
  await nvim.keys("<CR>");
  await waitForChat(
    nvim,
    "The command for the API key failed (exit code 1): echo … Try it in a shell, without input.",
  );
  assert.equal(await project.read("asked"), "asked\n");
  const { mtime } = await Deno.stat(project.path("asked"));
  assert.ok((mtime?.getTime() ?? 0) >= sent, "it was asked when the chat was opened");
  await project.write("key", "sk-key\n");
  await nvim.keys("<Esc><CR>");
  await waitForChat(nvim, "Hi.");
  assert.equal(await project.read("asked"), "asked\nasked\n");
  assert.equal(JSON.parse(JSON.stringify(server.requests[0]?.body)).model, "another");
});

Deno.test({
  name: "a command for the key that takes too long ends with its children, and is named",
  ignore: !linux,
  async fn() {
    await using folder = await scratch();
    const command = `sleep 1000 & MARK=${folder.root} sh -c "sleep 1000 & sleep 1000"`;
    const keys = new KeyCommands();
    const ended = assert.rejects(keys.run(command, [], 1_000), {
      message: "The command for the API key took longer than 1 s: sleep … Try it in a shell, without input.",
    });
    await waitForMarked([folder.root], 2);
    await ended;
    await waitForNone([folder.root]);
    // One that has printed the key may leave others behind.
    assert.equal(await keys.run("echo sk-key; setsid sleep 3 &", [], 100), "sk-key\n");
    // None starts after the end, not even one that was about to.
    const late = keys.run(`touch ${folder.path("late")}`, []);
    keys.end();
    await assert.rejects(late, { message: "Neovim ends" });
    await assert.rejects(folder.read("late"), Deno.errors.NotFound);
  },
});

Deno.test({
  name: "a command for the key that waits ends with Neovim; after SIGKILL nothing is left",
  ignore: !linux,
  async fn() {
    // The last test of this program: nobody else can use it. The idle engine of an earlier test ends too.
    await using agent = await shareWithKeyCommand(
      "say Never.",
      "MARK=$PWD sh -c 'touch asked; sleep 1000 & sleep 1000'",
    );
    const { nvim, project } = agent;
    await nvim.command("Agent Hello");
    await waitUntil("the command", () => project.read("asked").then(() => true, () => false));
    await engineProcess(agent);
    await leavesNothing(agent, "SIGKILL");
  },
});

Deno.test({
  name: "a supervisor that came too late, after Neovim has started another one, ends with its engine",
  ignore: !linux,
  async fn() {
    await using folder = await scratch();
    await using state = await scratch();
    const setup = { level: DENO, root: folder.root, stateDir: state.root, baseUrl: "http://127.0.0.1:9/v1" };
    const place = { root: folder.root };
    const hint = { config: userConfig(setup), place, environment: Deno.env.toObject() };
    let before = 0;
    const denops = {
      dispatcher: {} as Record<string, (...args: readonly unknown[]) => unknown>,
      async call(name: string, code?: string) {
        if (name === "getpid") return Deno.pid;
        if (name === "environ") return Deno.env.toObject();
        if (code?.includes("started") !== true) return null;
        before = (await waitForMarked([folder.root], 1)).length;
        return false;
      },
    };
    const plugin = await main(denops as unknown as Parameters<typeof main>[0]);
    // The second one waits for the end of the first.
    await Promise.all([1, 2].map((host) => denops.dispatcher.start?.(host, hint)));
    assert.ok(before > 0);
    await waitForNone([folder.root]);
    await plugin?.[Symbol.asyncDispose]();
  },
});

Deno.test("a Neovim that did not tell its environment is asked again; an engine that no chat uses ends after a while, and starts again when it is asked", async () => {
  await using folder = await scratch({ "a.txt": "one\n" });
  await using state = await scratch();
  const setup = { level: DENO, root: folder.root, stateDir: state.root, baseUrl: "http://127.0.0.1:9/v1" };
  let isUsed = true;
  let looks = 0;
  let asked = 0;
  const { projects, ended, open } = openProjects(setup, 200, () => (looks += 1, isUsed), () => {
    asked += 1;
    return asked === 1 ? Promise.reject(new Error("no answer")) : Promise.resolve(Deno.env.toObject());
  });
  await using _ = projects;
  await assert.rejects(open, /no answer/);
  const first = await open();
  await open();
  const { pid } = first.engine;
  assert.ok(pid > 0);
  await waitUntil("two looks at whether it is in use", () => looks >= 2);
  assert.deepEqual(ended, []);
  isUsed = false;
  await waitUntil("its end", () => ended.length > 0);
  assert.notEqual((await open()).engine.pid, pid);
});
