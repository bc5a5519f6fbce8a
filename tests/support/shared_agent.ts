/**
 * Tests that share a Neovim, its supervisor and its engine: starting them takes longer than most tests do. All files of
 * a process share them (`scripts/suite/plan.ts`).
 *
 * ```ts
 * const test = inOneNeovim({ script: "", project: { "a.txt": "one\n" } });
 * test("a turn is taken back", async (agent) => { agent.server.play("say Hello."); … });
 * ```
 *
 * A test that starts its own program can use one that an earlier test has left, if nothing else tells them apart:
 *
 * ```ts
 * await using agent = await sharedAgent({ script: "say Hello." });
 * ```
 */
import { storedSessions } from "../../denops/agent/supervisor/sessions/stored_sessions.ts";
import { type AgentOptions, fullCache, GREET, initLua, type RunningAgent, startAgent } from "./agent.ts";
import { assertNoMarks } from "./mines.ts";
import { FORGET, REMEMBER } from "./neovim_reset.ts";
import { scratch, waitUntil, within } from "./project.ts";
import { resetProject } from "./project_reset.ts";
import { ask } from "./review.ts";

type Body = (agent: RunningAgent) => Promise<void>;

export interface SharedOptions extends AgentOptions {
  /** True: the state folder is new. */
  readonly hasOwnState?: boolean;
  /** Only tests of this group use the program. */
  readonly group?: string;
}

/** Registers tests that share a program with these options. A test that fails leaves it to nobody. */
export function inOneNeovim(options: SharedOptions): (name: string, body: Body, ignore?: boolean) => void {
  return (name, body, ignore = false) =>
    Deno.test({
      name,
      ignore,
      async fn() {
        const shared = await take(options);
        try {
          await body(shared.agent);
        } catch (error) {
          await shared.agent[Symbol.asyncDispose]();
          throw error;
        }
        await assertNoMarks(shared.agent.project.root);
        await shared.leave();
      },
    });
}

/**
 * A program that later tests use again. It begins with the project's files, its first commit, one window
 * with an empty buffer (or the last of `files`), no chat, these options, and a server that knows of nothing before. Its
 * `lua` runs again; it may set Neovim's options, `vim.ui` and ungrouped autocommands for `User`. The state folder
 * is that of the tests before, unless `hasOwnState`: sessions, rules and what the engine has learnt stay.
 */
export async function sharedAgent(options: SharedOptions): Promise<RunningAgent> {
  const { agent, leave } = await take(options);
  return {
    ...agent,
    async [Symbol.asyncDispose]() {
      agent.nvim.printScreen();
      await assertNoMarks(agent.project.root);
      await leave();
    },
  };
}

/** Closes all chats and ends the engines. The next one knows only what is stored. */
export async function endEngines({ nvim, state }: RunningAgent): Promise<void> {
  const killed = await nvim.lua<readonly number[]>(`
    local chats = require("agent.chat")
    vim.iter(chats.list()):each(chats.close)
    local engines = {}
    for _, host in ipairs(require("agent.host").all()) do
      local supervisor = vim.fn.jobpid(host.process.channel)
      for _, engine in ipairs(vim.api.nvim_get_proc_children(supervisor)) do
        vim.uv.kill(engine, "sigkill")
        table.insert(engines, engine)
      end
    end
    return engines`);
  // The supervisor knows that it has ended when it is no zombie any more.
  await waitUntil("the engines to end", async () => {
    const running = await nvim.lua<readonly number[]>(
      `return vim.tbl_filter(function(pid) return vim.uv.kill(pid, 0) == 0 end, { ${killed.join(", ")} })`,
    );
    return running.length === 0;
  });
  await waitUntil("the sessions to be closed", async () => {
    return (await storedSessions(state.root)).every(({ open }) => !open);
  });
}

interface Shared {
  readonly agent: RunningAgent;
  /** The next test may have it, if the test has not ended it. */
  leave(): Promise<void>;
}

interface Program {
  readonly agent: RunningAgent;
  /** What is disposed after it. */
  readonly states: AsyncDisposableStack;
}

/** Programs that no test uses, by what tells them apart. */
const idle = new Map<string, Program[]>();

Deno.test.afterAll(async () => {
  const all = [...idle.values()].flat();
  idle.clear();
  await Promise.all(all.map(end));
});

async function end({ agent, states }: Program): Promise<void> {
  await agent[Symbol.asyncDispose]();
  await states.disposeAsync();
}

async function take({ hasOwnState = false, ...chosen }: SharedOptions): Promise<Shared> {
  const key = JSON.stringify(fixed(chosen));
  const programs = idle.get(key) ?? [];
  idle.set(key, programs);
  const used = programs.pop();
  const states = used?.states ?? new AsyncDisposableStack();
  const state = hasOwnState ? states.use(await scratch(await fullCache())) : undefined;
  const options = state === undefined
    ? chosen
    : { ...chosen, options: `state_dir = ${JSON.stringify(state.root)}, ${chosen.options ?? ""}` };
  if (used !== undefined) await reset(used.agent, options);
  const agent = used?.agent ?? await startAgent({ ...options, lua: `${REMEMBER}\n${options.lua ?? ""}` });
  const program = { agent, states };
  return {
    agent: { ...agent, state: state ?? agent.state, [Symbol.asyncDispose]: () => end(program) },
    async leave() {
      if ((await within(0, agent.nvim.exited)).done) await end(program);
      else programs.push(program);
    },
  };
}

/** What a program keeps from its start: each test may choose the rest anew. Other options mean another engine. */
function fixed({ group, env, runtime, plugin, cwd, commands, nvim, clearEnv }: SharedOptions) {
  return { group, env, runtime, plugin, cwd, commands, nvim, clearEnv };
}

async function reset(agent: RunningAgent, options: AgentOptions): Promise<void> {
  const { nvim, server, project, state } = agent;
  const { project: files = GREET, columns = 80, lines = 24, script } = options;
  await nvim.keys("<Esc><C-\\><C-n>");
  await nvim.lua(`require("agent.in_place").stop_all()
    vim.iter(require("agent.chat").list()):each(function(chat) chat:stop() end)`);
  await nvim.waitFor(`require("agent").status() == "" or require("agent").status():find("ready$")`);
  // What was said of a review last has reached the engine: it would meet the next test's files.
  const isReviewed = await nvim.lua<boolean>(`return package.loaded["agent.review.files"] ~= nil`);
  if (isReviewed) await ask(agent);
  await nvim.lua(`${FORGET}\n${initLua(options, server, state)}\nrequire("agent").setup({})`);
  // A new commit settles reviews.
  await resetProject(project, files, { mined: options.mined ?? true, isNewCommit: isReviewed });
  await nvim.resize(columns, lines);
  server.restart(script);
  for (const file of options.files ?? []) await nvim.command(`edit ${file}`);
}
