/** Broken set-ups: what is wrong, why and what to do, said by the first message in the chat and by `:checkhealth`. */
import assert from "node:assert/strict";
import { PLUGIN, startAgent } from "../support/agent.ts";
import { transcript, waitForChat } from "../support/chat.ts";
import { USERS_PATH } from "../support/mines.ts";
import type { ChildNvim } from "../support/nvim.ts";
import { waitForNone } from "../support/processes.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { sharedAgent } from "../support/shared_agent.ts";

interface Broken {
  readonly name: string;
  /** Lua of options. */
  readonly options: string;
  /** In the transcript; what a running engine says is tried in tests/engine/fault_test.ts. */
  readonly chat?: string;
  /** In the report, if other words fit there. */
  readonly health?: string;
  /** Nowhere in the report: what would lead astray. */
  readonly astray?: RegExp;
}

const oneLine = (lines: readonly string[]) => lines.join(" ").replaceAll(/\s+/g, " ");

/** What a new chat says of its first message. */
async function firstAnswer(nvim: ChildNvim): Promise<string> {
  await nvim.command("Agent new");
  await nvim.command("stopinsert");
  await nvim.command("Agent! go");
  await nvim.waitFor(
    `require("agent").status():find("ready$")
    and vim.api.nvim_buf_line_count(require("agent.chat").get().transcript.buffer) > 2`,
  );
  const lines = `vim.api.nvim_buf_get_lines(require("agent.chat").get().transcript.buffer, 0, -1, true)`;
  return oneLine(await nvim.lua<string[]>(`return ${lines}`));
}

async function report(nvim: ChildNvim): Promise<string> {
  await nvim.command("checkhealth agent");
  const text = oneLine(await nvim.lua<string[]>(`return vim.api.nvim_buf_get_lines(0, 0, -1, false)`));
  await nvim.command("bwipeout");
  return text;
}

async function check(nvim: ChildNvim, cases: readonly Broken[]): Promise<void> {
  for (const { name, options, chat, health = `ERROR ${chat}`, astray } of cases) {
    await nvim.lua(`require("agent").setup({ ${options} })`);
    const said = chat === undefined ? "" : await firstAnswer(nvim);
    assert.ok(said.includes(chat ?? ""), `${name}\n${chat}\n${said}`);
    const text = await report(nvim);
    assert.ok(text.includes(health), `${name}\n${health}\n${text}`);
    if (astray !== undefined) assert.doesNotMatch(text, astray, name);
  }
}

Deno.test("broken set-ups of the provider, the place and the folders are named, with what to do", async () => {
  await using folder = await scratch({ file: "" });
  await using service = Deno.serve({ port: 0, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/refuses")) return new Response("no", { status: 401 });
    if (pathname === "/lacks/models") return Response.json({ data: [{ id: "other" }] });
    if (pathname.startsWith("/lacks")) return new Response("no", { status: 404 });
    return new Response("<!doctype html><p>Log in", { headers: { "content-type": "text/html" } });
  });
  const gone = Deno.listen({ port: 0 });
  const dead = `http://127.0.0.1:${gone.addr.port}`;
  gone.close();
  const url = `http://127.0.0.1:${service.addr.port}`;
  const at = (base: string, key = "env:TEST_API_KEY") =>
    `providers = { test = { wire = "openai_chat", base_url = "${base}", api_key = "${key}" } }`;
  await using agent = await sharedAgent({ script: "say Never.", options: "sessions = { title = false }" });
  const state = folder.path("file/state");
  await check(agent.nvim, [
    {
      name: "no key",
      options: at(url, "env:NO_SUCH_KEY"),
      chat: 'Cannot use test: NO_SUCH_KEY is not set. Set it, or providers.test.api_key to "cmd:…".',
    },
    {
      name: "a command for the key that fails",
      options: at(url, "cmd:false now"),
      // In the chat it is tried in tests/engine/lifetime_test.ts.
      health:
        "ERROR The command for the API key failed (exit code 1): false … Try it in a shell, without input.",
    },
    {
      name: "a wrong key",
      options: at(`${url}/refuses`),
      health: "ERROR test refused the key (HTTP 401). Check TEST_API_KEY.",
    },
    {
      name: "an unknown model",
      options: at(`${url}/lacks`),
      health: 'ERROR test has no model "scripted". It has other.',
    },
    {
      name: "a dead address",
      options: at(dead),
      health:
        `ERROR Cannot reach test at ${dead}: connection refused. Is the server running? Check base_url.`,
    },
    {
      name: "a page to log in",
      options: at(`${url}/page`),
      health: `ERROR Cannot read the answer of ${url}/page: it is a web page, not an API. Check base_url.`,
    },
    {
      name: "an unknown provider",
      options: `provider = "nobody"`,
      chat: 'Unknown provider "nobody". Known are: test, ollama, ',
    },
    {
      name: "a state folder that cannot be written",
      options: `state_dir = "${state}"`,
      chat: `Cannot write into the state folder ${state} (Not a directory (os error 20)). ` +
        "Make it writable, or set the option state_dir.",
      astray: /project's rules/,
    },
    {
      name: "a project that is not there",
      options: `root = "/nowhere"`,
      chat: "Cannot use /nowhere as the project: the folder does not exist. Set the option root.",
    },
  ]);
  assert.equal(agent.server.requests.length, 0);
});

Deno.test("files that cannot be used are named, and the turn goes on; rules that cannot be read stop it", async () => {
  await using agent = await sharedAgent({
    script: "say Hi.\nrepeat",
    options: "sessions = { title = false }",
    // An engine that runs has read its modes.
    hasOwnState: true,
    project: {
      "a.ts": "",
      ".agents/agents/loud.md": "---\nmode: nonsense\n---\n",
      ".agents/skills/loud/SKILL.md": "---\nname: loud\n---\n",
      ...Object.fromEntries(
        ["big", "big1", "big2", "big3"].map((name) => [`.agents/commands/${name}.md`, "x".repeat(70_000)]),
      ),
      ".cursorrules/one": "",
    },
  });
  const { nvim, project, state } = agent;
  await Deno.symlink("/etc/hostname", project.path("AGENTS.md"));
  const digest = new Uint8Array(
    await crypto.subtle.digest("SHA-256", new TextEncoder().encode(project.root)),
  );
  const rules = state.path(`rules/${digest.toHex().slice(0, 16)}.json`);
  await Deno.mkdir(state.path("rules"), { recursive: true });
  await Deno.writeTextFile(rules, "{");
  const options = `mode = "nobody"`;
  const unread = `Cannot read the rules in ${rules}. Correct the file or delete it.`;
  await check(nvim, [{ name: "the project's rules", options, chat: unread }]);
  await Deno.remove(rules);
  await check(nvim, [
    { name: "a mode", options, chat: "Cannot use .agents/agents/loud.md: mode: nonsense is not a mode" },
  ]);
  const said = await firstAnswer(nvim);
  assert.ok(
    said.includes("Unknown mode: nobody. This session is in mode ask; :Agent mode chooses another one."),
    said,
  );
  const text = await report(nvim);
  const mode = "ERROR Invalid option mode: Unknown mode: nobody. :Agent mode lists those that there are.";
  assert.ok(text.includes(mode), text);
  for (
    const line of [
      "Cannot use .agents/commands/big.md: it is larger than 64 kB.",
      "Cannot use .agents/commands/big3.md: it is larger than 64 kB.",
      "Cannot use AGENTS.md: it leads out of the project.",
      "Cannot use .cursorrules: it is not a file.",
    ]
  ) {
    assert.ok(text.includes(`ERROR ${line}`), `${line}\n${text}`);
    assert.ok(!said.includes(line), "once is enough");
  }
  assert.ok(text.includes("ERROR Cannot use the skill .agents/skills/loud: it has no description."), text);
  assert.match(said, /Hi\.$/);
  // Notices of what the supervisor finds come at their own time.
  let all = "";
  for (
    const line of [
      /Cannot use AGENTS\.md: it leads out of the project\..* Hi\.$/,
      /big1\.md: it is larger than 64 kB\. 2 more files cannot be used: see :checkhealth/,
    ]
  ) {
    await waitUntil(
      () => `${line} in ${all}`,
      async () => line.test(all = oneLine(await transcript(nvim, 0, 2))),
    );
  }
});

Deno.test({
  name: "a full disk is named, with what to do",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using folder = await scratch({ "state/keep": "" });
    const state = folder.path("state");
    const nvim = folder.path("nvim");
    const program = Deno.env.get("AGENT_NVIM") ?? "nvim";
    await Deno.writeTextFile(
      nvim,
      `#!/bin/sh\nexec bwrap --dev-bind / / --size ${
        16 * 1024 * 1024
      } --tmpfs '${state}' -- '${program}' "$@"\n`,
    );
    await Deno.chmod(nvim, 0o755);
    await using agent = await startAgent({
      script: "say Hi.\nrepeat",
      nvim,
      // It starts bubblewrap by its PATH.
      env: USERS_PATH,
      options: `state_dir = "${state}"`,
    });
    assert.match(await firstAnswer(agent.nvim), /Hi\.$/);
    await agent.nvim.lua(`vim.fn.system({ "dd", "if=/dev/zero", "bs=64k", "of=" .. ... })`, `${state}/full`);
    await check(agent.nvim, [{
      name: "no room",
      options: `state_dir = "${state}"`,
      chat: "Cannot save the session: database or disk is full. Free some space on the disk, or look whether",
      health: `ERROR Cannot write into the state folder ${state} (No space left on device (os error 28)). ` +
        "Make room on its disk, or set the option state_dir.",
    }]);
  },
});

Deno.test("no Deno, an old one, no denops.vim where it is wanted, and no network at the first start", async () => {
  await using folder = await scratch({
    deno: '#!/bin/sh\necho "deno 2.2.12 (stable)"\nexit 1\n',
    offline: '#!/bin/sh\necho "Download https://registry.test/x" >&2\necho "dns error" >&2\nexit 1\n',
  });
  await Deno.chmod(folder.path("deno"), 0o755);
  await Deno.chmod(folder.path("offline"), 0o755);
  await using agent = await startAgent({
    script: "say Never.",
    options: `deno = { "no-such-deno" }`,
    env: { DENO_DIR: folder.path("cache"), NPM_CONFIG_REGISTRY: "http://127.0.0.1:9" },
  });
  await check(agent.nvim, [
    {
      name: "no Deno",
      options: `deno = { "no-such-deno" }`,
      chat:
        "Cannot start: no-such-deno was not found. Install Deno (https://deno.com), or set the option deno.",
    },
    {
      name: "no denops.vim",
      options: `deno = { "no-such-deno" }, host = "denops"`,
      chat:
        'Cannot start: denops.vim is not installed. Set the option host to "auto", which does without it.',
    },
    {
      name: "an old Deno",
      options: `deno = { "${folder.path("deno")}" }, host = "auto"`,
      chat: 'Cannot start: it needs Deno 2.8 or newer, and this is 2.2.12. Update with "deno upgrade".',
    },
    {
      name: "no network",
      options: `deno = { "deno" }, host = "auto"`,
      chat: "Cannot fetch the plugin's dependencies. Run this once when online: " +
        `deno cache --frozen --config=${PLUGIN}deno.json ${PLUGIN}denops/agent/standalone.ts`,
    },
  ]);
  const { nvim } = agent;
  // The first message of a new install, and what follows it before the start has failed.
  await nvim.lua(`require("agent").setup({ deno = { "${folder.path("offline")}" }, host = "auto" })
    local chat = require("agent.chat").new()
    chat.input:set("a draft")
    chat:send("first")
    chat.queue:steer("second")
    chat:send("third")
    chat.queue:steer("fourth")`);
  await nvim.waitFor(`require("agent").status():find("ready$")`);
  assert.ok((await transcript(nvim, 0, 5)).includes("Fetching the plugin's dependencies, once …"));
  const input =
    `table.concat(vim.api.nvim_buf_get_lines(require("agent.chat").get().input.buffer, 0, -1, false), "|")`;
  await nvim.waitFor(`${input} ~= "a draft"`);
  assert.equal(await nvim.lua(`return ${input}`), "first||second||third||fourth||a draft");
});

Deno.test("a Deno that is too old is reported and ended while it downloads; without a log folder the chat works", async () => {
  await using folder = await scratch({
    deno: '#!/bin/sh\ncase "$1" in --version) echo "deno 2.2.12 (stable)" ;;\n' +
      "*) echo Download https://jsr.io/x >&2; exec sleep 1000 ;; esac\n",
    file: "",
  });
  await Deno.chmod(folder.path("deno"), 0o755);
  await using agent = await startAgent({
    script: "say Hi.",
    // Without its log, Neovim itself asks for a key.
    env: { XDG_STATE_HOME: folder.path("file/state"), NVIM_LOG_FILE: folder.path("log") },
    options: `deno = { "${folder.path("deno")}" }`,
  });
  const { nvim } = agent;
  await nvim.command("edit src/greet.ts");
  await nvim.command("Agent Hello");
  await waitForChat(nvim, "Cannot start: it needs Deno 2.8 or newer, and this is 2.2.12.");
  if (Deno.build.os === "linux") await waitForNone([folder.path("deno")]);
  await nvim.lua(`require("agent").setup({ deno = { ... } })`, Deno.execPath());
  await nvim.keys("i @<Esc><CR>");
  await waitForChat(nvim, "Hi.");
  assert.doesNotMatch(await nvim.lua<string>(`return vim.fn.execute("messages")`), /E739|stack traceback/);
});
