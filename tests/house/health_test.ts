/** `:checkhealth agent`: what holds the engine and the commands, exactly as passed, and what is wrong. */
import assert from "node:assert/strict";
import { PROFILES } from "../../denops/agent/supervisor/system/programs.ts";
import { PLUGIN, providerOptions, type RunningAgent, startAgent } from "../support/agent.ts";
import { transcript, waitForChat } from "../support/chat.ts";
import { MINED_PATH } from "../support/mines.ts";
import { ChildNvim } from "../support/nvim.ts";
import { scratch } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";
import { endEngines, inOneNeovim } from "../support/shared_agent.ts";

async function report(agent: Pick<RunningAgent, "nvim">): Promise<string> {
  // What setup() has to say may come meanwhile, and is no error of this command.
  await agent.nvim.command("silent! checkhealth agent");
  return await shownReport(agent);
}

async function shownReport({ nvim }: Pick<RunningAgent, "nvim">): Promise<string> {
  return await nvim.lua<string>(`return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n")`);
}

/** The section's lines, without the marks and the indentation. */
function section(text: string, name: string): readonly string[] {
  const [, rest = ""] = text.split(`agent: ${name}`);
  const [own = ""] = rest.split(/^agent: /m);
  return own.split("\n").map((line) => line.replace(/^\s*(- )?/, "").trim()).filter((line) =>
    line !== "" && line !== "~"
  );
}

const ORDER = [
  "options",
  "supervisor and engine",
  "sandbox of the engine",
  "sandbox of commands",
  "hidden from commands",
  "other agents",
  "programs",
  "language servers",
  "host",
];

/** Neighbours in a list, as an argument and its values are. */
function holds(lines: readonly string[], ...wanted: readonly string[]): boolean {
  return lines.some((_, at) => wanted.every((text, offset) => lines[at + offset] === text));
}

const shared = inOneNeovim({ script: "say Hi." });

/** A test in a program that others share, with these options of the user's. */
function test(name: string, options: string, body: (agent: RunningAgent) => Promise<void>): void {
  shared(name, async (agent) => {
    await agent.nvim.lua(`require("agent").setup({ ${options} })`);
    await body(agent);
  });
}

Deno.test({
  name: "`nvim '+checkhealth agent'`: levels, grants and arguments as passed, hidden files, programs, host",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using home = await scratch({ ".ssh/id_rsa": "", ".netrc": "", "go/bin/tool": "" });
    await using agent = await startAgent({
      script: "say Hi.",
      project: { "a.ts": "", ".env": "A=1\n", "private/one.txt": "", "package.json": "{}" },
      options: `rules = { ask = { "read(private/**)" } }`,
      env: { HOME: home.root },
      commands: ["checkhealth agent"],
    });
    const text = await shownReport(agent);
    const root = agent.project.root;
    const places = ORDER.map((name) => text.indexOf(`agent: ${name}`));
    assert.ok(places.every((at, index) => at > (places[index - 1] ?? 0)), text);

    const engine = section(text, "sandbox of the engine");
    assert.match(engine[0] ?? "", /OK bubblewrap and Deno permissions/);
    const deno = engine.findIndex((line) => line.endsWith("Deno is started with exactly:"));
    const around = engine.findIndex((line) => line.endsWith("Around it, exactly:"));
    assert.ok(deno > 0 && around > deno, text);
    assert.ok(engine.slice(deno, around).some((line) => line.startsWith(`--allow-write=${root},`)), text);
    assert.ok(engine.slice(deno, around).some((line) => /^--allow-net=127\.0\.0\.1:\d+$/.test(line)), text);
    assert.ok(holds(engine.slice(around), "--bind", root, root), text);

    const commands = section(text, "sandbox of commands");
    assert.match(commands[0] ?? "", /OK bubblewrap/);
    assert.ok(commands.includes("--unshare-net") && holds(commands, "--ro-bind", root, root), text);
    assert.ok(holds(commands, "--chdir", root), text);
    const hidden = section(text, "hidden from commands");
    assert.ok(!commands.some((line) => /\.ssh$|\.netrc$/.test(line)), "the home folder is not there");
    assert.ok(holds(commands, "--ro-bind", home.path("go/bin"), home.path("go/bin")), text);
    assert.doesNotMatch(text, /\|[\w-]+[^\w|-]+\|/, "a link ends before a full stop");
    for (const path of [".env", "private"]) assert.ok(hidden.includes(`${root}/${path}`), text);
    assert.ok(!hidden.includes(`${root}/a.ts`), text);
    assert.ok(holds(commands, "--tmpfs", home.root), text);

    const programs = section(text, "programs").join("\n");
    assert.match(programs, /ripgrep: ripgrep \d+\.\d+.* \(\/.*\/rg\)/);
    assert.match(programs, /git: git version \d+\.\d+.* \(\/.*\/git\)/);
    const profiles = section(text, "profiles of programs");
    for (const name of Object.keys(PROFILES)) {
      assert.ok(profiles.some((line) => line.startsWith(`${name}: `)), `${name}\n${text}`);
    }
    assert.match(section(text, "language servers").join("\n"), /None is attached/);
    assert.match(section(text, "host").join("\n"), /in a process of its own: denops\.vim is not installed/);
    assert.match(section(text, "options").join("\n"), /OK No mistakes found/);
    assert.match(
      section(text, "supervisor and engine").join("\n"),
      /OK test answers, and has the model scripted\./,
    );
    assert.doesNotMatch(text, /sk-test/);
  },
});

const MISTAKES =
  `spiner = true, ui = { layout = "top" }, rules = { deny = { "read([x)", "git push" } }, files = { deny_read = { "/etc/**" } },
  web = { search = { engine = "brave", api_key = "env:NO_SUCH_KEY" } }`;

test("health: mistakes in the options by name, patterns too", MISTAKES, async (agent) => {
  const options = section(await report(agent), "options").join("\n");
  for (
    const line of [
      "ERROR unknown option spiner, did you mean ui = { spinner = … }?",
      'ERROR ui.layout must be one of float, right, left, bottom, tab, current, auto, not "top"',
      "ERROR Invalid option rules.deny: Not a rule: read([x). Its pattern needs a closing ].",
      "ERROR Invalid option rules.deny: Not a rule: git push. Rules look like ",
      "ERROR Invalid option files.deny_read: /etc/** must be relative to the project, without ./ before it.",
      "ERROR Invalid option web.search: Cannot use Brave Search: NO_SUCH_KEY is not set. Set it, or web.search.",
    ]
  ) assert.ok(options.includes(line), options);
});

test("health: a server that is silent, and an old Deno", "", async (agent) => {
  const closed = new AbortController();
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const answers = () => end.then(() => new Response());
  await using silent = Deno.serve({ port: 0, signal: closed.signal, onListen() {} }, answers);
  // Whatever fails, the server can end.
  using _end = { [Symbol.dispose]: () => resolve() };
  using _answered = { [Symbol.dispose]: resolve };
  await using folder = await scratch({ deno: '#!/bin/sh\necho "deno 2.2.12 (stable)"\n' });
  await Deno.chmod(folder.path("deno"), 0o755);
  const url = `http://127.0.0.1:${silent.addr.port}`;
  await agent.nvim.lua(
    `require("agent").setup({ ${providerOptions("openai_chat", url, agent.state.root)} })`,
  );
  const text = (await report(agent)).replaceAll(/\s+/g, " ");
  assert.ok(text.includes(`ERROR Cannot reach test at ${url}: no answer within 2 s`), text);
  resolve();
  await agent.nvim.lua(`require("agent").setup({ deno = { ... } })`, folder.path("deno"));
  const old = (await report(agent)).replaceAll(/\s+/g, " ");
  assert.ok(old.includes("ERROR Deno is too old: it needs Deno 2.8 or newer, and this is 2.2.12."), old);
});

const PROVIDERS =
  `providers = { quiet = { wire = "openai_chat", base_url = "http://127.0.0.1:9", api_key = "env:NO_SUCH_KEY" },
    vault = { wire = "openai_chat", base_url = "http://127.0.0.1:9", api_key = "cmd:false" } }, provider = "vault"`;

test(
  "health: the user's own providers, and a misspelt option of one",
  PROVIDERS,
  async (agent) => {
    const lines = section(await report(agent), "supervisor and engine").join("\n");
    assert.match(lines, /WARNING provider quiet: NO_SUCH_KEY is not set\n/);
    assert.match(lines, /OK provider vault: key by a command/);
    await agent.nvim.lua(`require("agent").setup({ providers = { work = { base_ur = "x" } } })`);
    const text = (await report(agent)).replaceAll(/\s+/g, " ");
    const line = "ERROR unknown option providers.work.base_ur, did you mean base_url?";
    assert.ok(text.includes(line) && !text.includes("Known are wire"), text);
    assert.ok(text.includes("See :help |agent-option-providers|"), text);
  },
);

/** Wrong options, and their errors. Those of a row are tried at once; with `--full` each is tried alone. */
const WRONG: readonly Readonly<Record<string, string>>[] = [
  {
    '{ providers = { test = { api_key = "cmd :pass" } } }': "providers.test.api_key must be",
    '{ hooks = { Stop = { { hooks = {}, "a" } } } }':
      "hooks.Stop.1 must be a list or a table with names, not both",
    '{ providers = { test = { api_kye = "env:A" } } }': "did you mean api_key?",
    "{ ui = { witdh = 3 } }": "did you mean ui.width?",
  },
  {
    "{ providers = { test = { headers = { a = function() end } } } }":
      "providers.test.headers.a must not be a function",
    "{ shell = { write = { 1 } } }": "shell.write.0: must be a string",
    '{ rules = { deny = { "nothing" } } }': "Not a rule: nothing",
    '{ mode = "nobody" }': "Unknown mode: nobody",
  },
];

shared("health: with a wrong option, its error comes first and the sandboxes are checked", async (agent) => {
  const alone = WRONG.flatMap((row) => Object.entries(row).map(([option, error]) => ({ [option]: error })));
  for (const row of IS_FULL ? alone : WRONG) {
    const options = Object.keys(row).join(", ");
    await agent.nvim.lua(`require("agent").setup(vim.tbl_deep_extend("force", {}, ${options}))`);
    const text = await report(agent);
    const [first = ""] = /^agent: (\w.*)$/m.exec(text)?.slice(1) ?? [];
    assert.ok(first.startsWith("options"), text);
    const told = section(text, "options").join(" ");
    for (const error of Object.values(row)) assert.ok(told.includes(error), `${error}\n${text}`);
    for (const name of ["sandbox of the engine", "sandbox of commands"]) {
      assert.match(section(text, name)[0] ?? "", /OK bubblewrap/, `${options}\n${text}`);
    }
    assert.ok(section(text, "hidden from commands").length > 0, text);
  }
}, Deno.build.os !== "linux");

test("health: without a sandbox it says so", `sandbox = "off"`, async (agent) => {
  const text = await report(agent);
  assert.match(
    section(text, "sandbox of the engine").join("\n"),
    /WARNING Deno permissions only \(switched off/,
  );
  assert.match(section(text, "sandbox of commands").join("\n"), /WARNING None: each command asks/);
  assert.doesNotMatch(text, /Around it, exactly/);
});

test("health: language servers of the project's buffers", "", async (agent) => {
  await agent.nvim.command("edit src/greet.ts");
  await agent.nvim.lua(`vim.lsp.start({ name = "ts", cmd = function(dispatchers)
    return {
      request = function(_, _, callback)
        callback(nil, { capabilities = {} })
        return true, 1
      end,
      notify = function() return true end,
      is_closing = function() return false end,
      terminate = function() dispatchers.on_exit(0, 0) end,
    }
  end })`);
  await agent.nvim.waitFor("#vim.lsp.get_clients({ bufnr = 0 }) > 0");
  assert.match(section(await report(agent), "language servers").join("\n"), /OK ts is attached to 1 buffer$/);
});

const MORE_MISTAKES =
  `providers = { work = { wire = "grpc", api_key = "k" } }, shell = { write = { 1 } }, rules = { deny = { "nothing" } }`;

test("health: all mistakes that only the supervisor finds, in plain words", MORE_MISTAKES, async (agent) => {
  const options = section(await report(agent), "options").join("\n");
  for (
    const line of [
      "ERROR providers.work.wire must be one of openai_chat, openai_responses, anthropic_messages, ollama\n",
      'ERROR providers.work.api_key must be "env:NAME" or "cmd:COMMAND"\n',
      "ERROR Invalid option shell.write.0: must be a string.",
      "ERROR Invalid option rules.deny: Not a rule: nothing.",
    ]
  ) assert.ok(options.includes(line), options);
  assert.equal(options.split("providers.work.api_key").length, 2, "one line for one mistake");
  await agent.nvim.command("Agent! go");
  await agent.nvim.waitFor(`require("agent").status():find("ready$")`);
  const told = (await transcript(agent.nvim)).join(" ");
  assert.match(told, /Invalid option [\w.]+: must be .*\. And 3 more, see :checkhealth agent\./);
});

const PATTERNS = `rules = { deny = { "read([x)", "nothing" } }`;

test(
  "a wrong pattern is told in one line at the first use, and nothing is asked of the model",
  PATTERNS,
  async (agent) => {
    const { nvim, server } = agent;
    await nvim.command("Agent! go");
    await nvim.waitFor(`require("agent").status():find("ready$")`);
    const lines = await transcript(nvim);
    assert.ok(
      lines.join(" ").includes(
        "Invalid option rules.deny: Not a rule: read([x). Its pattern needs a closing ]. And 1 more, see :checkhealth agent.",
      ),
      lines.join("\n"),
    );
    assert.equal(server.requests.length, 0);
  },
);

/** What bubblewraps refuse that cannot hold a sandbox. */
const REFUSALS = [
  {
    // For root, --unshare-all does without the namespace that it may not make.
    bubblewrap: "root may make no user namespace",
    flag: "--unshare-user",
    refusal: "bwrap: No permissions to create a new namespace",
    advice: "Allow user namespaces",
  },
  {
    bubblewrap: "bubblewrap is older than 0.8",
    flag: "--disable-userns",
    refusal: "bwrap: Unknown option --disable-userns",
    advice: "Update bubblewrap to 0.8 or later",
  },
] as const;

type Refusal = typeof REFUSALS[number];

Deno.test("health: programs that are missing; where bubblewrap does not work, the engine runs without it", async (test) => {
  await using folder = await scratch({ "bin/keep": "" });
  // A machine with Deno, a shell and nothing else.
  for (const program of ["sh", "uname"]) {
    await Deno.symlink(`/bin/${program}`, folder.path(`bin/${program}`)).catch(() => {});
  }
  await using agent = await startAgent({
    script: "",
    env: { PATH: folder.path("bin") },
    options: `deno = { "${Deno.execPath()}" }`,
  });
  const text = (await report(agent)).replaceAll(/\s+/g, " ");
  for (
    const part of [
      "WARNING ripgrep was not found: the agent cannot search",
      "Install ripgrep",
      "WARNING git was not found: the agent sees no changes,",
      "Install git",
      "On Linux install bubblewrap",
    ]
  ) assert.ok(text.includes(part), `${part}\n${text}`);
  for (const refusal of Deno.build.os === "linux" ? REFUSALS : []) {
    await test.step(refusal.bubblewrap, () => runsWithout(agent, refusal));
    await endEngines(agent);
  }
});

async function runsWithout(agent: RunningAgent, { flag, refusal, advice }: Refusal): Promise<void> {
  const { nvim, server } = agent;
  const bwrap = `#!/bin/sh
case " $* " in *" ${flag} "*) echo "${refusal}" >&2; exit 1 ;; esac
`;
  await using folder = await scratch({ bwrap });
  await Deno.chmod(folder.path("bwrap"), 0o755);
  await nvim.lua("vim.env.PATH = ...", `${folder.root}:${MINED_PATH}:${Deno.env.get("PATH")}`);
  server.play("new-history\nsay Hi.");
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "Hi.");
  const text = await report(agent);
  const without = `Deno permissions only (bubblewrap does not work here: ${refusal})`;
  const engine = section(text, "sandbox of the engine").join(" ");
  assert.ok(engine.includes(`WARNING ${without}`), text);
  assert.ok(engine.includes(advice), engine);
  const running = section(text, "supervisor and engine").filter((line) => line.includes("running engine"));
  assert.ok(running.length === 1 && running[0]?.endsWith(without), text);
  const commands = section(text, "sandbox of commands").join(" ");
  assert.match(commands, /WARNING None: each command asks/);
  assert.ok(commands.includes(advice), commands);
}

Deno.test("in a Neovim that is too old one line says so: at setup(), :Agent and :checkhealth", async () => {
  await using nvim = await ChildNvim.start({
    runtime: [PLUGIN],
    lua: `local has = vim.fn.has
      vim.fn.has = function(feature) return feature == "nvim-0.12" and 0 or has(feature) end
      vim.version = function() return { major = 0, minor = 11, patch = 5 } end`,
  });
  const line = "cannot start: needs Neovim 0.12 or later, this is 0.11.5. Update Neovim";
  assert.doesNotMatch(nvim.text(), /agent/);
  for (
    const use of ["Agent Hello", "Agent", "lua require('agent').setup({})", "lua require('agent').open()"]
  ) {
    await nvim.command(use);
    await nvim.waitForScreen(`agent: ${line}`);
    await nvim.keys("<C-l>");
    await nvim.waitForScreenGone(line);
  }
  await nvim.keys(":Agent");
  await nvim.waitForScreen(":Agent");
  await nvim.keys("<Esc>");
  assert.ok(!nvim.text().includes(line));
  assert.equal(await nvim.lua("return require('agent').status()"), "");
  assert.equal(await nvim.lua("return package.loaded['agent.client'] == nil"), true);
  const text = (await report({ nvim })).replaceAll(/\s+/g, " ");
  assert.ok(text.includes(`ERROR C${line.slice(1)}`) && text.includes("github.com/neovim"), text);
});
