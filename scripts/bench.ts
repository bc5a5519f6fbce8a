/**
 * Measures what a user feels, each beside a floor from the same run: `deno task bench`; `deno task bench store` does
 * so for a session of 2,000 turns.
 * Numbers of one machine at one time; what counts is the ratio, and the limits that the project has set itself.
 */
import { answered, asked, result } from "../tests/support/entries.ts";
import { startAgent } from "../tests/support/agent.ts";
import { ChildNvim } from "../tests/support/nvim.ts";
import { outline, pageOf } from "../denops/agent/engine/acp/history.ts";
import { Database } from "../denops/agent/engine/store/database.ts";
import { SqliteStore } from "../denops/agent/engine/store/sqlite.ts";
import { search } from "../denops/agent/supervisor/search/search.ts";
import { scratch } from "../tests/support/project.ts";
import { MESSAGES_IN_TURN, storeSession } from "../tests/support/stored_session.ts";
import { commandTimes } from "./bench_commands.ts";
import { benchStore } from "./bench_store.ts";
import { PROJECT, toolEnvironment } from "./environment.ts";

for (const [name, value] of Object.entries(await toolEnvironment(["nvim", "git", "rg", "bwrap"]))) {
  Deno.env.set(name, value);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function print(what: string, value: number, limit: number, floor: string): void {
  const verdict = value <= limit ? "" : "  OVER";
  console.log(
    `${what.padEnd(44)} ${value.toFixed(2).padStart(8)} ms   limit ${
      limit.toFixed(limit < 10 ? 1 : 0)
    } ms   ${floor}${verdict}`,
  );
}

/** Sourcing plugin/agent.lua in a Neovim that has just started, against sourcing an empty file. */
async function startup(): Promise<void> {
  const times: number[] = [];
  const floors: number[] = [];
  const empty = await Deno.makeTempFile({ suffix: ".lua" });
  for (let run = 0; run < 15; run++) {
    await using nvim = await ChildNvim.start();
    const measure = `local t = vim.uv.hrtime() vim.cmd.source(...) return (vim.uv.hrtime() - t) / 1e6`;
    floors.push(await nvim.lua<number>(measure, empty));
    times.push(await nvim.lua<number>(measure, `${PROJECT}/plugin/agent.lua`));
  }
  await Deno.remove(empty);
  print("plugin/agent.lua at startup", median(times), 0.5, `an empty file: ${median(floors).toFixed(2)} ms`);
}

/** From the key that sends to the whole request at the server, once the engine runs. */
async function submit(): Promise<void> {
  const script = "say Hello there, this is the answer.\n---\nrepeat\nsay Yes.";
  await using agent = await startAgent({ script });
  const { nvim, server } = agent;
  await nvim.command("Agent hello");
  await nvim.waitForScreen("this is the answer");
  await nvim.waitForScreen("· ready");
  const times: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < 20; run++) {
    await nvim.keys(`iquestion ${run}<Esc>`);
    const count = server.requests.length;
    const sent = performance.now();
    await nvim.keys("<CR>");
    await nvim.waitForScreen("· ready");
    await nvim.waitForScreen(() => server.requests.length > count);
    times.push((server.requests[count]?.at ?? NaN) - sent);
    const before = performance.now();
    await nvim.request("nvim_eval", "1");
    floors.push(performance.now() - before);
  }
  print(
    "key → request at the server, warm",
    median(times),
    15,
    `one request to Neovim: ${median(floors).toFixed(2)} ms`,
  );
}

/** 5,000 tokens as fast as they go: the longest time between two paints until the last token is on screen. */
async function flood(): Promise<void> {
  const script = "say Hello there.\n---\nflood 5000\nsay\nsay The end.";
  await using agent = await startAgent({ script, columns: 120, lines: 40 });
  const { nvim } = agent;
  await nvim.command("Agent hello");
  await nvim.waitForScreen("Hello there.");
  await nvim.waitForScreen("· ready");
  await nvim.keys("igo<Esc>");
  const from = nvim.paints.length;
  const start = performance.now();
  await nvim.keys("<CR>");
  await nvim.waitForScreen("The end.", { timeout: 60_000 });
  // From the first paint of the answer on: before it the screen has nothing to show.
  const paints = nvim.paints.slice(from + 1).map(({ at }) => at);
  const gaps = paints.slice(1).map((at, index) => at - (paints[index] ?? at));
  const whole = `${paints.length} paints in ${(performance.now() - start).toFixed(0)} ms`;
  print("5,000 tokens: longest time between paints", Math.max(...gaps), 50, whole);
}

/** The first message of all, with the engine's start. */
async function coldStart(): Promise<void> {
  const times: number[] = [];
  for (let run = 0; run < 5; run++) {
    await using agent = await startAgent({ script: "say Hello there, here is the answer." });
    const start = performance.now();
    await agent.nvim.command("Agent hello");
    await agent.nvim.waitForScreen("here is the answer");
    times.push(performance.now() - start);
  }
  print("first message → answer on screen, cold", median(times), 1000, "supervisor and engine start");
}

/** A search over a million lines as tools do it, against ripgrep alone with the same pattern. */
async function searching(): Promise<void> {
  await using tree = await scratch();
  const line = (number: number) =>
    `const value${number} = compute(${number}); // some text that fills the line`;
  for (let file = 0; file < 2_000; file++) {
    const lines = Array.from({ length: 500 }, (_, index) => line(file * 500 + index));
    await tree.write(`src/dir${file % 40}/file${file}.ts`, lines.join("\n"));
  }
  const request = {
    op: "grep",
    sessionId: "",
    query: "value77777",
    isRegex: false,
    path: "",
    case: "smart",
    context: 1,
    most: 200,
  } as const;
  const rules = { deny_read: ["**/.env"], read_rules: { deny: [], ask: [] } };
  const options = { roots: [tree.root], rules, sandboxed: true };
  const times: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < 9; run++) {
    const start = performance.now();
    await search(request, options, new AbortController().signal);
    times.push(performance.now() - start);
    const floor = performance.now();
    const args = [
      "--no-config",
      "--fixed-strings",
      "--smart-case",
      "--context=1",
      "--hidden",
      "value77777",
      ".",
    ];
    await new Deno.Command("rg", { args, cwd: tree.root }).output();
    floors.push(performance.now() - floor);
  }
  const bare = median(floors);
  print(
    "search over a million lines",
    median(times),
    bare * 1.15,
    `ripgrep alone: ${bare.toFixed(1)} ms, ratio ${(median(times) / bare).toFixed(2)}`,
  );
}

/** A stored session of 5,000 turns with tools, 20,000 messages: what the engine does when it is opened. */
async function longSession(): Promise<void> {
  await using folder = await scratch();
  {
    using database = Database.openIn(folder.root).database;
    const store = new SqliteStore(database);
    store.createSession({ id: "s", root: "/project", model: "m" });
    database.transaction(() => {
      for (let turn = 1; turn <= 5_000; turn++) storeTurn(store, turn);
    });
  }
  const pages: number[] = [];
  const messages: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < 9; run++) {
    using database = Database.openIn(folder.root).database;
    const store = new SqliteStore(database);
    const floor = performance.now();
    database.get("SELECT count(*) FROM sessions");
    floors.push(performance.now() - floor);
    const started = performance.now();
    outline(store, "s", pageOf(store.turn("s"), undefined, 50), { notices: true });
    pages.push(performance.now() - started);
    const reading = performance.now();
    store.messages("s");
    messages.push(performance.now() - reading);
  }
  const floor = `one row: ${median(floors).toFixed(2)} ms`;
  print("the newest 50 of 5,000 turns, in the engine", median(pages), 20, floor);
  print("20,000 messages for the model, in the engine", median(messages), 100, floor);
}

function storeTurn(store: SqliteStore, turn: number): void {
  const id = `call${turn}`;
  const text = `Question ${turn} about the parser`;
  const file = (version: number) => `${"const value = 1; // a line of a file\n".repeat(200)}${version}\n`;
  const change = { path: "/project/a.ts", before: file(turn), after: file(turn + 1) };
  const said = "Some words of an answer. ".repeat(8);
  const call = { id, tool: "edit_file", title: "edit a.ts", kind: "edit", paths: ["/project/a.ts"] } as const;
  const done = { id, status: "completed", summary: "+1 −1", output: "Edited a.ts" } as const;
  store.append("s", {
    entries: [
      asked(text),
      answered(said, [{ id, name: "edit_file", arguments: "{}" }]),
      result(id, "edit_file", "Edited a.ts"),
      answered("Done."),
      { type: "token", message: `m${turn}`, text: said },
      { type: "tool_start", call },
      { type: "tool_running", id, rule: "safe_to_write" },
      { type: "file_modified", id, change: { ...change, kind: "modified", onDisk: true } },
      { type: "tool_done", ...done, diff: { ...change, added: 1, removed: 1 } },
      { type: "turn_done", reason: "end_turn" },
    ],
  });
}

/** From the choice to the newest turns on screen, with the engine running; against a short session. */
async function opening(): Promise<void> {
  const messages = 10_000;
  await using agent = await startAgent({ script: "say Hello there." });
  const { nvim } = agent;
  await nvim.command("Agent hello");
  await nvim.waitForScreen("· ready");
  await storeSession(agent, 1);
  const turns = messages / MESSAGES_IN_TURN;
  await storeSession(agent, turns);
  const open = async (choice: number, answer: string): Promise<number> => {
    await nvim.keys("<Esc><Cmd>Agent new<CR>");
    await nvim.keys("<Esc><Cmd>Agent sessions<CR>");
    await nvim.waitForScreen("Type number");
    await nvim.keys(`${choice}`);
    const start = performance.now();
    await nvim.keys("<CR>");
    await nvim.waitForScreen(answer);
    const time = performance.now() - start;
    // Forgotten here, so that it is read again.
    await nvim.lua(`local chats = require("agent.chat") chats.close(chats.current())`);
    return time;
  };
  const times: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < 9; run++) {
    floors.push(await open(2, "answer 1:"));
    times.push(await open(1, `answer ${turns}:`));
  }
  const short = median(floors);
  print(
    `a session of ${messages} messages: choice → screen`,
    median(times),
    100,
    `one of ${MESSAGES_IN_TURN}: ${short.toFixed(1)} ms, ratio ${(median(times) / short).toFixed(2)}`,
  );
}

/** A command that does nothing, held by its sandbox; without the checkpoint that the engine makes before it. */
async function commands(): Promise<void> {
  for (const { what, times, floors, most } of await commandTimes()) {
    const bare = median(floors);
    print(
      what,
      median(times),
      bare + most,
      `sh -c true: ${bare.toFixed(1)} ms, +${(median(times) - bare).toFixed(1)} ms`,
    );
  }
}

if (Deno.args[0] === "store") await benchStore();
else {
  await startup();
  await submit();
  await flood();
  await coldStart();
  await searching();
  await longSession();
  await opening();
  await commands();
}
