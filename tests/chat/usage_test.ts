/** `:Agent usage`, and money on the screen. Whole program. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { UserConfig } from "../../denops/agent/protocol/config.ts";
import { engineConfig as configOf } from "../../denops/agent/supervisor/agents/provider.ts";
import { ModelServer } from "../model/model_server.ts";
import { engineConfig, startEngine } from "../support/acp.ts";
import { type RunningAgent, SECRET } from "../support/agent.ts";
import { waitForTurn } from "../support/chat.ts";
import { scratch } from "../support/project.ts";
import { expectScreen } from "../support/screenshot.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const SCRIPT = `
say I look.
call read_file {"path": "README.md"}
call read_file {"path": "src/greet.ts"}
usage 12300 145 8000
---
call edit_file {"path": "src/greet.ts", "old_str": "function greet(", "new_str": "function salute("}
usage 12600 85 12000
---
say Done.
usage 12900 20 12500
---
call list_directory {"path": "."}
call fly {"to": "the moon"}
usage 980 40
---
say Nothing more.
usage 1200 30
---
say You're welcome.
usage 1740 2
`;

const OPTIONS =
  "sessions = { title = false }, models = { scripted = { price = { input = 3, output = 15, cached_read = 0.3 } } }";

/** Times, days and chats differ from run to run: they are covered, in as many columns. */
function masked(screen: string): string {
  return screen.replaceAll(/(built in|sent after) \d+(?:\.\d)? m?s/g, "$1 N")
    .replaceAll(/ *\d+(?:\.\d)? m?s(?= |$)/gm, (time) => "N s".padStart(time.length))
    // The speed, which short answers have not, behind the times of a turn and of a request.
    .replaceAll(/(?<=N s +N s) +\d+(?= )/g, (speed) => " ".repeat(speed.length))
    .replaceAll(/(?<=^ {2})\d{4}-\d\d-\d\d/gm, "YYYY-MM-DD")
    // The number of the chat.
    .replace(
      /(?<=a\/\/chat-)(\d+)(-input +a\/\/usage)/,
      (_, id, name) => `1${name}${" ".repeat(id.length - 1)}`,
    )
    .replaceAll(/\d+ tools/g, "N tools");
}

/** 14 hours ahead of UTC. */
const KIRITIMATI = { TZ: "Pacific/Kiritimati" };

/** Rows of earlier days. */
async function storeUsage({ state }: RunningAgent): Promise<void> {
  const folders = await Array.fromAsync(Deno.readDir(state.root));
  const [folder] = folders.filter(({ name }) => existsSync(state.path(`${name}/agent.db`)));
  using database = new DatabaseSync(state.path(`${folder?.name}/agent.db`));
  const insert = database.prepare(
    `INSERT INTO usage (session, turn, purpose, provider, model, reported, input, output, cached_read, cached_write,
       cost, all_ms, time)
     SELECT session, turn, purpose, ?, ?, 1, 20000, 400, 15000, 0, ?, 0, ? FROM usage LIMIT 1`,
  );
  const day = 24 * 60 * 60 * 1_000;
  const earlier: readonly (readonly [days: number, provider: string, model: string, cost: number])[] = [
    [1, "anthropic", "claude-opus-4-with-a-very-long-name", 0.9],
    [4, "local", "通义千问超大模型", 0.05],
    [5, "anthropic", "claude-opus-4-with-a-very-long-name", 0.6],
    [12, "openai", "gpt-5.1", 0.002],
    [29, "openai", "gpt-5.1", 1.2],
  ];
  for (const [days, provider, model, cost] of earlier) {
    insert.run(provider, model, cost, Date.now() - days * day);
  }
  // Another day than in UTC.
  insert.run("openai", "gpt-5.1", 0.1, Date.parse("2020-01-01T12:00:00Z"));
}

Deno.test("the usage at 80×40, 120×40 and 40×40", async () => {
  const size = { columns: 80, lines: 40 };
  const shared = { script: SCRIPT, ...size, options: OPTIONS, hasOwnState: true, env: KIRITIMATI };
  await using agent = await sharedAgent(shared);
  const { nvim, server } = agent;
  await nvim.command("Agent rename greet to salute everywhere");
  await nvim.waitForScreen("Done.");
  await waitForTurn(nvim);
  await nvim.command("Agent And what else is there?");
  await nvim.waitForScreen("Nothing more.");
  await waitForTurn(nvim);
  await nvim.waitForScreen("· $0.037 · ready");
  for (const columns of [80, 120]) {
    await nvim.resize(columns, 40);
    await nvim.command("Agent usage");
    await nvim.waitForScreen("This session");
    await expectScreen(nvim, `usage-tables-${columns}x40`, masked);
    assert.deepEqual(server.problems, []);
    await nvim.keys("q");
    await nvim.waitForScreenGone("This session");
    await nvim.waitForScreen("· ready");
  }
  await nvim.command("Agent Thanks");
  await nvim.waitForScreen("You're welcome.");
  await waitForTurn(nvim);
  await nvim.resize(40, 50);
  await nvim.command("Agent usage");
  await nvim.waitForScreen(
    // A turn without calls has no line for them.
    /^This sessi… asked +in +out +cost\n {2}Thanks +\d.*\n {4}\d+ messages.*\n {2}And what… +2 +2\.2k +70 \$0\.0076[^]*^Times +turn +request +tokens\/s$[^]*^Edits +form +tried +failed +kept$[^]*^Languages +edits +files +lines\n {2}typescript +1 +1 +\+1 −1$/m,
  );
  // Two pages have two names.
  await nvim.command("Agent usage");
  await nvim.waitFor(`vim.fn.bufname() == "agent://usage-2"`);
  await nvim.keys("qq");
  await storeUsage(agent);
  await nvim.command("Agent usage");
  // An open page fits its window.
  for (const [columns, lines] of [[40, 15], [80, 24], [120, 40]] as const) {
    await nvim.resize(columns, lines);
    await nvim.waitForScreen("Cost of the last 30 days");
    await expectScreen(nvim, `usage-${columns}x${lines}`, masked);
    await nvim.command('call search("2020-01-02")');
    await nvim.waitForScreen("2020-01-02");
    await nvim.keys("gg0");
  }
  await nvim.keys("q");
  await nvim.waitForScreenGone("Cost of the last 30 days");
});

Deno.test("what a session has cost goes on after the engine was killed, and is told by the request", async () => {
  await using project = await scratch({});
  await using state = await scratch();
  const script = ["One", "Two", "Three"].map((text) => `say ${text}.\nusage 100000 0`).join("\n---\n");
  await using server = await ModelServer.start(script, { secrets: [SECRET] });
  const price = { input: 2.5, output: 10 };
  const config = JSON.stringify({ ...engineConfig(server), title: false, price });
  const options = { script: "", config, beside: { project, state, server } };
  await using first = await startEngine(options);
  const session = await first.open();
  await first.prompt(session, "First?");
  await first.prompt(session, "Second?");
  await first.kill();

  await using second = await startEngine(options);
  await second.resume(session);
  await second.prompt(session, "Third?");
  const costs = second.seen.flatMap((seen) =>
    seen.type === "update" && seen.update.sessionUpdate === "usage_update" ? [seen.update.cost] : []
  );
  assert.deepEqual(costs, [{ amount: 0.75, currency: "USD" }], "as ACP wants it: of the session so far");
  const usage = await second.ask("usage", { sessionId: session });
  assert.deepEqual(usage.turns.map(({ name, cost }) => [name, cost]), [
    ["Third?", 0.25],
    ["Second?", 0.25],
    ["First?", 0.25],
  ]);
  assert.deepEqual(usage.sessions.map(({ requests, input }) => [requests, input]), [[3, 300_000]]);
  assert.match(usage.pricesOf, /^\d{4}-\d\d-\d\d$/);
});

Deno.test("the price: the user's own, else the published one, else none", async () => {
  const world = {
    env: () => "key",
    fetch: () => Promise.reject(new Error("nobody is asked")),
    run: () => Promise.reject(new Error("nothing is run")),
  };
  const priceOf = async (options: Readonly<Record<string, unknown>>) => {
    const user = UserConfig.parse({ state_dir: "/nowhere", ...options });
    return (await configOf(user, world, [])).price;
  };
  const openai = { provider: "openai", model: "gpt-4o-2024-08-06" };
  assert.deepEqual(await priceOf(openai), { input: 2.5, output: 10, cached_read: 1.25 });
  const own = { input: 1, output: 2 };
  assert.deepEqual(await priceOf({ ...openai, models: { "gpt-4o-2024-08-06": { price: own } } }), own);
  assert.equal(await priceOf({ ...openai, model: "gpt-4o-of-mine" }), undefined);
  assert.equal(
    await priceOf({ ...openai, providers: { openai: { base_url: "http://127.0.0.1:9/v1" } } }),
    undefined,
  );
  assert.equal(await priceOf({ provider: "ollama", model: "gpt-4o" }), undefined);
});
