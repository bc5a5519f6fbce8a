/** The situations of which pictures are taken. */
import type { RunningAgent } from "../../tests/support/agent.ts";
import { waitForTurn } from "../../tests/support/chat.ts";
import type { ChildNvim } from "../../tests/support/nvim.ts";
import type { SharedOptions } from "../../tests/support/shared_agent.ts";
import { openTutor } from "../../tests/support/tutor.ts";
import { AGENTS, FIX, MARKDOWN, REFUSAL, RELEASE, SENSITIVE, SESSIONS, STREAM } from "./answers.ts";

export interface Situation {
  readonly name: string;
  /** What a picture of it shows, for readers who cannot see it. */
  readonly title: string;
  readonly script: string;
  readonly options?: Pick<SharedOptions, "options" | "hasOwnState">;
  /** The chat has more lines than a screen: a picture of each part. */
  readonly isLong?: boolean;
  /** Leads there from a Neovim with {@link OPEN_FILE} in its only window; works at any size. */
  play(agent: RunningAgent): Promise<unknown>;
}

export const OPEN_FILE = "lua/todo/store.lua";

const TASK = "Agent :Todo add fails if the file is missing";

function approval(nvim: ChildNvim): Promise<unknown> {
  return nvim.waitFor(`require("agent.approval").count() > 0`);
}

/** Sends a message and waits for the end of its turn. */
async function turn(nvim: ChildNvim, command: string): Promise<void> {
  await nvim.command(command);
  await waitForTurn(nvim);
}

/** A page in a tab of its own, after a turn. */
async function page({ nvim }: RunningAgent, command: string): Promise<void> {
  await turn(nvim, TASK);
  await nvim.keys("<Esc>");
  await nvim.command(command);
  await nvim.waitFor(`#vim.api.nvim_list_tabpages() > 1`);
}

export const SITUATIONS: readonly Situation[] = [
  {
    name: "chat",
    title: "A chat beside the code: the agent has changed two files, and the buffer shows where",
    script: FIX,
    async play({ nvim }) {
      await nvim.lua(`require("agent").setup({ ui = { layout = "right", width = 0.45 } })`);
      await turn(nvim, TASK);
    },
  },
  {
    name: "changes",
    title: "A command has run on a copy of the project; its changes wait to be kept or discarded",
    script: RELEASE,
    async play({ nvim }) {
      await nvim.command("Agent release 1.4.0");
      await nvim.waitForScreen("a keep");
    },
  },
  {
    name: "review",
    title: "A buffer with the hunks that the agent has changed, and the keys that keep or undo them",
    script: FIX,
    async play({ nvim }) {
      await turn(nvim, TASK);
      await nvim.keys("<Esc>q");
      await nvim.keys("gg]r");
      await nvim.command("echo");
    },
  },
  {
    name: "sessions",
    title: "The list of sessions with a preview of the one under the cursor",
    script: SESSIONS,
    options: { hasOwnState: true },
    async play({ nvim }) {
      await turn(nvim, "Agent Why is the list so slow?");
      for (const question of ["Does it work on Windows?", "Sort the list by date"]) {
        await nvim.command("Agent new");
        await turn(nvim, `Agent ${question}`);
      }
      await nvim.keys("<Esc><Cmd>Agent sessions<CR>");
      // An engine may store the end of a turn only now, which moves its row.
      await nvim.waitForScreen(/✗ Sort the[^]*✓ Does it[^]*✓ Why is/);
      await nvim.keys("gg");
      await nvim.keys("j");
      await nvim.keys("j");
      await nvim.waitForScreen("I would keep");
    },
  },
  {
    name: "streaming",
    title: "A chat while the model answers",
    script: STREAM,
    async play({ nvim, server }) {
      await nvim.command(TASK);
      await server.reached("held");
    },
  },
  {
    name: "markdown",
    title: "An answer with every form of markdown",
    script: MARKDOWN,
    isLong: true,
    play: ({ nvim }) => turn(nvim, "Agent How is the list stored?"),
  },
  {
    name: "edit",
    title: "An edit of a sensitive file waits for an answer",
    script: SENSITIVE,
    async play({ nvim }) {
      await nvim.command("Agent test with the nightly Neovim, too");
      await approval(nvim);
    },
  },
  {
    name: "usage",
    title: "Tokens, time and money by turn, session, day and model",
    script: FIX,
    options: {
      hasOwnState: true,
      options: "models = { scripted = { price = { input = 3, output = 15, cached_read = 0.3 } } }",
    },
    play: (agent) => page(agent, "Agent usage"),
  },
  {
    name: "context",
    title: "The parts of the next request with their sizes",
    script: FIX,
    play: (agent) => page(agent, "Agent context"),
  },
  {
    name: "error",
    title: "The provider has refused a request",
    script: REFUSAL,
    async play({ nvim }) {
      await turn(nvim, TASK);
      await turn(nvim, "Agent And with an empty file?");
    },
  },
  {
    name: "empty",
    title: "A new chat",
    script: "",
    play: ({ nvim }) => nvim.command("Agent"),
  },
  {
    name: "tutor",
    title: "The first lesson of the tutor with its answer",
    script: "",
    async play({ nvim }) {
      await openTutor(nvim);
      await nvim.keys(":Agent what does greet.lua do?<CR>");
      await nvim.waitForScreen("Lesson 2 of 7");
    },
  },
  {
    name: "agents",
    title: "A plan and two sub-agents, one of them at work",
    script: AGENTS,
    async play({ nvim, server }) {
      await nvim.command(TASK);
      await server.reached("held");
      await nvim.waitForScreen("callers of load");
    },
  },
];
