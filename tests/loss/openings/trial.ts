/**
 * One trial: a user works in two projects. In one of them something slow is opened: a worktree, a stored session, a copy,
 * another provider or an engine. Meanwhile the user sends, steers, chooses, stops, hides and goes to the other project.
 * Then each message has reached the model once, in the right project and session, or is in an input once.
 */
import { GREET, type RunningAgent, startAgent } from "../../support/agent.ts";
import { waitForTurn } from "../../support/chat.ts";
import { whileSupervisorSleeps } from "../../support/processes.ts";
import { pause, type Scratch, scratch } from "../../support/project.ts";
import { Random } from "../files/random.ts";
import { SharedStage } from "../shared_stage.ts";

/** Milliseconds that an opening takes longer. */
const SLOWEST = 300;

const OPENINGS = { worktree: 2, resume: 3, fork: 3, provider: 2, new: 1 } as const;
type Opening = keyof typeof OPENINGS;

const ACTIONS = {
  send: 6,
  steer: 2,
  elsewhere: 3,
  mode: 1,
  hide: 1,
  look: 2,
  type: 1,
  undo: 1,
  stop: 1,
} as const;

interface Stage extends AsyncDisposable {
  readonly agent: RunningAgent;
  readonly other: Scratch;
}

/** What is known of a message before it is sent. */
interface Word {
  /** What the request that has it must hold. */
  readonly holds: string;
  readonly lacks: string;
}

async function open(): Promise<Stage> {
  const other = await scratch(GREET, { git: true });
  const agent = await startAgent({
    script: "repeat\nnew-history\nsay Ok.",
    options: "sessions = { title = false }",
    lua: `vim.g.agent = vim.tbl_deep_extend("force", vim.g.agent, {
      providers = { keyless = { wire = "openai_chat", base_url = "http://127.0.0.1:9/v1", api_key = "env:NOBODY" } },
    })`,
    allowPrompt: true,
  });
  return {
    agent,
    other,
    async [Symbol.asyncDispose]() {
      await agent[Symbol.asyncDispose]();
      await other[Symbol.asyncDispose]();
    },
  };
}

/** @returns a line for each message that was lost, doubled or went elsewhere; the same seed gives the same actions */
export async function runTrial(seed: number): Promise<readonly string[]> {
  return await SHARED.play((stage) => new Trial(seed, stage).run());
}

export const endTrials = () => SHARED[Symbol.asyncDispose]();

const SHARED = new SharedStage<Stage>(open);

/** Every chat has come to rest. */
const AT_REST = `vim.iter(require("agent.chat").list()):all(function(chat)
  return chat.phases:current() == "ready" and #require("agent.timeline").waiting(chat.timeline) == 0
end)`;

/** Two tab pages, a project each, and no chat. */
const RESET = `
local other = ...
local chats = require("agent.chat")
vim.iter(chats.list()):each(function(chat)
  chat.input:set("")
  chats.close(chat)
end)
vim.cmd("stopinsert | silent! tabonly! | silent! only! | enew!")
vim.cmd.tcd(_G.home)
vim.cmd("tabnew | tcd " .. other)
vim.cmd("tabfirst")`;

class Trial {
  readonly #seed: number;
  readonly #random: Random;
  readonly #stage: Stage;
  readonly #words = new Map<string, Word>();

  constructor(seed: number, stage: Stage) {
    this.#seed = seed;
    this.#random = new Random(seed);
    this.#stage = stage;
  }

  async run(): Promise<readonly string[]> {
    const { agent: { nvim, server }, other } = this.#stage;
    await nvim.keys("<Esc><C-\\><C-n>");
    await nvim.lua(`_G.home = _G.home or vim.fn.getcwd() require("agent")`);
    await nvim.lua(RESET, other.root);
    const before = server.requests.length;
    const opening = this.#random.choose(OPENINGS);
    const topic = this.#word({ holds: "", lacks: "" });
    await nvim.command(`Agent ${topic}`);
    await waitForTurn(nvim);
    await nvim.keys("<Esc>");
    const done: string[] = [];
    await whileSupervisorSleeps(this.#stage.agent.nvim, async () => {
      await this.#run(...this.#commands(opening, topic));
      const steps = this.#random.int(2, 6);
      for (let step = 0; step < steps; step++) done.push(await this.#act(opening, topic, done));
      await pause(this.#random.int(0, SLOWEST));
    });
    await nvim.waitFor(AT_REST);
    const problems = await this.#check(before);
    return problems.map((line) => `${opening}, ${done.join(", ")}: ${line}`);
  }

  /** In one go. A bar would be part of what `:Agent` is told. */
  async #run(...commands: readonly string[]): Promise<void> {
    await this.#stage.agent.nvim.lua("vim.iter(...):each(vim.cmd)", commands);
  }

  #commands(opening: Opening, topic: string): readonly string[] {
    switch (opening) {
      case "worktree":
        return [`Agent new --worktree t${this.#seed}`];
      case "resume":
        return ["Agent new", `Agent resume ${topic.slice(0, -1)}`];
      case "fork":
        return ["Agent fork"];
      case "provider":
        return ["Agent provider keyless some-model"];
      case "new":
        return ["Agent new"];
    }
  }

  async #act(opening: Opening, topic: string, done: readonly string[]): Promise<string> {
    const { agent: { nvim, project }, other } = this.#stage;
    // What was given up is a chat of the project like any other.
    const isOpen = !done.includes("stop");
    const action = this.#random.choose(ACTIONS);
    switch (action) {
      case "send":
      case "steer": {
        const place = opening === "worktree" && isOpen ? `/t${this.#seed}` : project.root;
        const isSame = opening === "resume" || opening === "fork";
        const word = this.#word({ holds: isSame && isOpen ? topic : place, lacks: other.root });
        await this.#run("tabfirst", `Agent${action === "steer" ? "!" : ""} ${word}`);
        break;
      }
      case "elsewhere": {
        const word = this.#word({ holds: other.root, lacks: project.root });
        await this.#run("stopinsert", "tabnext 2", `Agent! ${word}`, "tabfirst");
        break;
      }
      case "mode":
        await this.#run("Agent mode plan");
        break;
      case "hide":
        await this.#run("Agent toggle");
        break;
      case "look":
        // A file of the other project moves no tab page.
        await this.#run("stopinsert", "tabfirst", "wincmd t", `edit ${other.path("src/greet.ts")}`);
        break;
      case "type":
        await nvim.lua(`require("agent.chat").get().input:add(...)`, this.#word({ holds: "", lacks: "" }));
        break;
      case "undo":
        if (opening !== "new") await this.#run("Agent undo");
        break;
      case "stop":
        await this.#run("Agent stop");
        break;
    }
    return action;
  }

  #word(word: Word): string {
    const text = `w${this.#seed}x${this.#words.size}.`;
    this.#words.set(text, word);
    return text;
  }

  async #check(before: number): Promise<readonly string[]> {
    const { nvim, server } = this.#stage.agent;
    const inputs = await nvim.lua<string[]>(`return vim.tbl_map(function(chat)
      return chat.input:text()
    end, require("agent.chat").list())`);
    const requests = server.requests.slice(before).map(({ body }) => ({
      all: JSON.stringify(body),
      message: JSON.stringify((body as { messages: readonly unknown[] }).messages.at(-1)),
    }));
    const problems: string[] = [];
    for (const [word, { holds, lacks }] of this.#words) {
      const sent = requests.filter(({ message }) => message.includes(word));
      const times = sent.length + inputs.filter((text) => text.includes(word)).length;
      if (times !== 1) problems.push(`${word} is there ${times} times`);
      for (const { all } of sent) {
        if (!all.includes(holds)) problems.push(`${word} was sent elsewhere: nothing of ${holds}`);
        if (lacks !== "" && all.includes(lacks)) problems.push(`${word} was sent to ${lacks}`);
      }
    }
    return problems;
  }
}
