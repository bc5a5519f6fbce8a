/**
 * One trial: a user types, sends, queues and steers until Neovim ends at a random moment. In the next Neovim each word
 * is in the log or in the input, and only once. Nothing is sent on its own.
 */
import { type RunningAgent, startAgent } from "../../support/agent.ts";
import type { ChildNvim } from "../../support/nvim.ts";
import { marked } from "../../support/processes.ts";
import { pause, waitUntil } from "../../support/project.ts";
import { Random } from "../files/random.ts";
import { SharedStage } from "../shared_stage.ts";

/** Milliseconds from the first key to the end. */
const LATEST_END = 1_500;
/** After the supervisor was killed, Neovim has so long to take its messages back. */
const LATEST_END_AFTER = 1_000;

const READ = 'call read_file {"path": "README.md"}';
const SCRIPT = Array.from(
  { length: 20 },
  () => `${READ}\n---\n${READ}\n---\nslow 10\nsay I have read it all.`,
)
  .join("\n---\n");

const ENDS = { kill: 5, quit: 1, hangup: 2, supervisor: 2 };

interface Stage extends AsyncDisposable {
  /** The first program owns the project, the state and the model. */
  readonly first: RunningAgent;
  agent: RunningAgent;
  mark: string;
}

async function open(): Promise<Stage> {
  const mark = crypto.randomUUID();
  const first = await startAgent({ script: SCRIPT, env: { AGENT_TEST_MARK: mark } });
  await first.nvim.command("Agent");
  const stage: Stage = {
    first,
    agent: first,
    mark,
    async [Symbol.asyncDispose]() {
      if (stage.agent !== first) await stage.agent[Symbol.asyncDispose]();
      await first[Symbol.asyncDispose]();
    },
  };
  return stage;
}

/** @returns a line for each thing that was lost or doubled; the same seed gives the same keys and moments */
export async function runTrial(seed: number): Promise<readonly string[]> {
  return await SHARED.play((stage) => new Trial(seed, stage).run());
}

/** The program of the last trial: nothing is unsent in it. It ends with the trials. */
export function lastProgram(): Promise<RunningAgent> {
  return SHARED.play(({ first, agent: { nvim } }) => Promise.resolve({ ...first, nvim }));
}

export const endTrials = () => SHARED[Symbol.asyncDispose]();

const SHARED = new SharedStage<Stage>(open);

/** What every session of the project says, as `_G.logged`. */
const EXPORT = `
local client, chat = require("agent.client"), require("agent.chat").current()
_G.logged = nil
client.request(chat, "session_list", { archived = false }, function(result)
  local texts, left = {}, #result.sessions
  for _, session in ipairs(result.sessions) do
    client.request(chat, "session_export", { sessionId = session.sessionId, format = "markdown" }, function(part)
      table.insert(texts, part and part.text or "")
      left = left - 1
      _G.logged = left == 0 and table.concat(texts, "\\n") or nil
    end)
  end
  _G.logged = left == 0 and "" or nil
end)`;

class Trial {
  readonly #seed: number;
  readonly #random: Random;
  readonly #stage: Stage;
  /** Words that were typed, and whether they were on disk before the end. */
  readonly #words = new Map<string, boolean>();
  #isOver = false;

  constructor(seed: number, stage: Stage) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#stage = stage;
  }

  async run(): Promise<readonly string[]> {
    const { first, agent: { nvim } } = this.#stage;
    const { server } = first;
    server.restart(SCRIPT);
    const end = this.#random.choose(ENDS);
    const at = this.#random.int(0, LATEST_END);
    const after = this.#random.int(0, LATEST_END_AFTER);
    // It fails as soon as Neovim has ended.
    const typing = this.#type(nvim).catch(() => {});
    await pause(at);
    if (end === "supervisor") {
      const all = await marked(this.#stage.mark);
      const supervisor = all.find(({ command }) => /^\S*deno run .*standalone\.ts/.test(command));
      if (supervisor !== undefined) Deno.kill(supervisor.pid, "SIGKILL");
      await pause(after);
    }
    this.#isOver = true;
    if (end === "quit") await nvim.quit();
    else await nvim.end(end === "hangup" ? "SIGHUP" : "SIGKILL");
    await typing;

    const before = this.#stage.agent;
    this.#stage.mark = crypto.randomUUID();
    const next = await startAgent({ script: "", beside: first, env: { AGENT_TEST_MARK: this.#stage.mark } });
    this.#stage.agent = next;
    if (before !== first) await before[Symbol.asyncDispose]();
    return (await this.#check(next)).map((line) => `${end} after ${at} ms: ${line}`);
  }

  async #type(nvim: ChildNvim): Promise<void> {
    for (let number = 1; number <= 8; number++) {
      const word = `w${this.#seed}x${number}.`;
      this.#words.set(word, false);
      await nvim.keys(`<Esc>A${word}`);
      const isKept = async () => (await this.#drafts()).join().includes(word);
      await waitUntil("the word to be on disk", async () => this.#isOver || await isKept());
      if (this.#isOver) return;
      this.#words.set(word, true);
      await pause(this.#random.int(0, 100));
      const key = this.#random.choose({ "<C-s>": 4, "<M-CR>": 3, "<CR>": 2 });
      await nvim.keys(key);
    }
  }

  async #drafts(): Promise<readonly string[]> {
    const { state } = this.#stage.first;
    const texts: string[] = [];
    for (const { name } of await Array.fromAsync(Deno.readDir(state.path("drafts"))).catch(() => [])) {
      // A file may be gone before it is read.
      if (name.endsWith(".json")) texts.push(await state.read(`drafts/${name}`).catch(() => ""));
    }
    return texts;
  }

  async #check({ nvim, server }: RunningAgent): Promise<readonly string[]> {
    await nvim.command("Agent");
    const input = () => nvim.lua<string>('return require("agent.chat").current().input:text()');
    await waitUntil(
      "the draft to be taken",
      async () => (await this.#drafts()).length === (await input() === "" ? 0 : 1),
    );
    const restored = await input();
    const requests = server.requests.length;
    await nvim.lua(EXPORT);
    // The title of a session is its first message.
    const logged = (await nvim.waitFor<string>("_G.logged")).replaceAll(/^# .*/gm, "");
    const problems: string[] = [];
    for (const [word, isKept] of this.#words) {
      const times = restored.split(word).length + logged.split(word).length - 2;
      if (times === 0 && isKept) problems.push(`${word} is lost`);
      if (times > 1) problems.push(`${word} is there ${times} times`);
      const isSent = server.requests.some(({ body }) => JSON.stringify(body).includes(word));
      if (restored.includes(word) && isSent) problems.push(`${word} was sent, and is in the input`);
    }
    await nvim.lua('require("agent.chat").current().input:set("")');
    await waitUntil("no draft to be left", async () => (await this.#drafts()).length === 0);
    if (server.requests.length > requests) problems.push("a message was sent on its own");
    return problems;
  }
}
