/**
 * One trial: a real Neovim plays the turn, something is killed by SIGKILL in the middle of it, and what is left must
 * hold: everything that was shown is in the database, no file is half-written, and the session goes on.
 */
import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { ModelServer } from "../model/model_server.ts";
import { IGNORED_MINES } from "../support/mines.ts";
import { baseUrl, PLUGIN, providerOptions, SECRET } from "../support/agent.ts";
import { transcript } from "../support/chat.ts";
import { ChildNvim } from "../support/nvim.ts";
import { marked, waitForNone } from "../support/processes.ts";
import { leftovers } from "../support/rehearsal.ts";
import { pause, type Scratch, scratch, waitUntil } from "../support/project.ts";
import { checkDatabase, lostUpdates, type Shown } from "./checks.ts";
import { ALLOWED, BEFORE, LAST_WORDS, OPTIONS, SCRIPT } from "./turn.ts";

export type Victim = "engine" | "supervisor" | "Neovim" | "command";
export const VICTIMS: readonly Victim[] = ["engine", "supervisor", "Neovim", "command"];

export interface Trial {
  readonly victim: Victim;
  /** Milliseconds from the message to the kill. */
  readonly at: number;
}

export interface Outcome {
  /** What was shown and is not in the database, files that are neither old nor new, a session that ends. */
  readonly lost: readonly string[];
  /** What SQLite says of a broken database. */
  readonly corrupt: readonly string[];
  /** Updates that had come to the screen at the kill. */
  readonly shown: number;
}

const WIRE = "anthropic_messages";

/** Milliseconds; the longest command takes some 400. */
const BETWEEN_LOOKS = 50;

/** Every update that Lua was given, one a line, written before Lua does anything with it. */
const RECORD = `
local out = assert(io.open(..., "a"))
out:setvbuf("no")
require("agent.client").listen(function(batch)
  for _, update in ipairs(batch) do
    out:write(vim.json.encode(update), "\\n")
  end
end)`;

class Stage implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;

  private constructor(
    readonly project: Scratch,
    readonly state: Scratch,
    readonly server: ModelServer,
    stack: AsyncDisposableStack,
  ) {
    this.#stack = stack;
  }

  static async open(): Promise<Stage> {
    await using stack = new AsyncDisposableStack();
    const project = stack.use(await scratch(BEFORE, { git: true }));
    const state = stack.use(await scratch());
    const server = stack.use(await ModelServer.start(SCRIPT, { secrets: [SECRET] }));
    return new Stage(project, state, server, stack.move());
  }

  get record(): string {
    return this.state.path("shown.jsonl");
  }

  async neovim(): Promise<ChildNvim> {
    const options = providerOptions(WIRE, baseUrl(WIRE, this.server), this.state.path("agent"));
    const nvim = await ChildNvim.start({
      cwd: this.project.root,
      runtime: [PLUGIN],
      // By the mark its processes are found.
      env: { TEST_API_KEY: SECRET, AGENT_TEST_MARK: this.state.root },
      lua: `vim.g.agent = { ${options}, ${OPTIONS} }`,
    });
    await nvim.lua(RECORD, this.record);
    return nvim;
  }

  async pid(victim: Victim, nvim: ChildNvim): Promise<number | undefined> {
    if (victim === "Neovim") return nvim.pid;
    // Not bubblewrap, whose command line ends with the engine's, nor what fetches the engine's dependencies.
    if (victim === "command") {
      const running = await marked(this.state.root, this.project.root);
      return running.find(({ command }) => /^(bash|sh) .*build\.sh|^\S*bwrap .*--args/.test(command))?.pid;
    }
    const own = victim === "engine"
      ? /^\S*deno run .*\/engine\/main\.(ts|js)/
      : /^\S*deno run .*standalone\.ts/;
    const all = await marked(this.state.root, this.project.root);
    return all.find(({ command }) => own.test(command))?.pid;
  }

  async shown(): Promise<readonly Shown[]> {
    const lines = (await Deno.readTextFile(this.record)).split("\n");
    // Neovim may have been killed in the middle of the last one.
    lines.pop();
    return lines.map((line): Shown => JSON.parse(line));
  }

  async database(): Promise<string> {
    const agent = this.state.path("agent");
    for await (const { name, isDirectory } of Deno.readDir(agent)) {
      const path = join(agent, name, "agent.db");
      if (isDirectory && await Deno.stat(path).then(() => true, () => false)) return path;
    }
    throw new Error("there is no database");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await waitForNone([this.state.root, this.project.root]);
    await this.#stack.disposeAsync();
  }
}

/** Milliseconds that the turn takes if nothing is killed. @throws {Error} if it does not come to its end */
export async function wholeTurn(): Promise<number> {
  await using stage = await Stage.open();
  await using nvim = await stage.neovim();
  const start = performance.now();
  await nvim.command("Agent change everything");
  await hasEnded(nvim);
  const problems = [...stage.server.problems, ...await wrongFiles(stage)];
  if (problems.length > 0) throw new Error(problems.join("\n"));
  return performance.now() - start;
}

async function hasEnded(nvim: ChildNvim): Promise<void> {
  await waitUntil("the turn's last words", () => isOver(nvim));
  await nvim.waitForScreen("· ready");
}

/** The list of its files may have put the last words out of view. */
async function isOver(nvim: ChildNvim): Promise<boolean> {
  return (await transcript(nvim)).join().includes(LAST_WORDS);
}

export async function runTrial({ victim, at }: Trial): Promise<Outcome> {
  await using stage = await Stage.open();
  await using nvim = await stage.neovim();
  await nvim.command("Agent change everything");
  await pause(at);
  if (victim === "command") return await withoutCommand(stage, nvim);
  // At the very beginning it may not have been started yet.
  kill(await waitUntil(`the ${victim}`, () => stage.pid(victim, nvim)));
  const lost: string[] = [];
  if (victim === "Neovim") {
    await waitForNone([stage.state.root, stage.project.root]);
    await using next = await stage.neovim();
    await next.command("Agent resume");
    // Killed before the first message was stored there is nothing to go on with.
    await next.waitForScreen(/change everything|Scripted title|no sessions yet/);
    lost.push(...await goOn(stage, next), ...await whatHolds(stage, next));
  } else {
    // The words may stand above what is in view.
    await waitUntil("the kill to be told", async () => (await transcript(nvim)).join().includes("SIGKILL"));
    await nvim.waitForScreen("· ready");
    lost.push(...await goOn(stage, nvim), ...await whatHolds(stage, nvim));
  }
  lost.push(...stage.server.problems);
  using database = disposable(new DatabaseSync(await stage.database()));
  return { lost, corrupt: checkDatabase(database.value), shown: (await stage.shown()).length };
}

/** What was shown is stored, each file is whole, and an undo takes all of it back. */
async function whatHolds(stage: Stage, nvim: ChildNvim): Promise<readonly string[]> {
  const lost = [...await wrongFiles(stage)];
  {
    using database = disposable(new DatabaseSync(await stage.database()));
    lost.push(...lostUpdates(await stage.shown(), database.value));
  }
  return [...lost, ...await takenBack(stage, nvim)];
}

/** A command that is killed ends for itself; the turn goes on. */
async function withoutCommand(stage: Stage, nvim: ChildNvim): Promise<Outcome> {
  // The next one, if none runs at this moment: on a busy machine the turn is not that far yet.
  const found = await waitUntil("a command, or the turn's end", async () => {
    const pid = await stage.pid("command", nvim);
    if (pid !== undefined) return pid;
    if (await isOver(nvim)) return "none";
    // A look at all processes is work.
    await pause(BETWEEN_LOOKS);
  });
  if (found !== "none") kill(found);
  await hasEnded(nvim);
  const lost = [...stage.server.problems, ...await whatHolds(stage, nvim)];
  return { lost, corrupt: [], shown: (await stage.shown()).length };
}

/** Undo brings the project back to what it was, and nothing is left of a command. */
async function takenBack(stage: Stage, nvim: ChildNvim): Promise<readonly string[]> {
  await nvim.command("Agent undo 1");
  const said = () => nvim.lua<string>(`return vim.fn.execute("messages")`);
  const ends = /undid turn 1|turn 1 not undone|has changed no file|nothing to undo/;
  await waitUntil("the undo", async () => ends.test(await said()));
  const wrong: string[] = [];
  for (const path of Object.keys(ALLOWED)) {
    const text = await stage.project.read(path).catch(() => undefined);
    if (text !== BEFORE[path]) {
      wrong.push(`${path} is not what it was before the turn: ${text?.slice(0, 40)}`);
    }
  }
  await waitUntil(
    "what commands left to be swept away",
    () => leftovers(stage.state.path("agent")).length === 0,
  );
  return wrong;
}

/** The session goes on; the server looks at whether each call of its history has its result. */
async function goOn(stage: Stage, nvim: ChildNvim): Promise<readonly string[]> {
  const before = stage.server.requests.length;
  try {
    await nvim.command("Agent go on");
    await nvim.waitForScreen("I go on from here.");
    await nvim.waitForScreen("· ready");
  } catch (error) {
    return [
      `the session did not go on: ${error instanceof Error ? error.message : error}\n${nvim.text()}`,
    ];
  }
  const request = stage.server.requests.slice(before).at(-1);
  // Killed before the first message was stored there is nothing to go on from.
  const whole = JSON.stringify(request?.body);
  return before === 0 || whole.includes("change everything") ? [] : ["the model was not given the history"];
}

async function wrongFiles(stage: Stage): Promise<readonly string[]> {
  const wrong: string[] = [];
  for (const [path, allowed] of Object.entries(ALLOWED)) {
    const text = await stage.project.read(path).catch(() => undefined);
    if (!allowed.includes(text)) wrong.push(`${path} is neither old nor new: ${text?.length} characters`);
  }
  const left = await waitUntil("a look at the project", () => strays(stage.project.root));
  return [...wrong, ...left.map((path) => `${path} was left behind`)];
}

/** Files that nobody asked for. */
async function strays(root: string, folder = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(root, folder))) {
    const path = join(folder, name);
    if (path === ".git" || IGNORED_MINES.includes(path)) continue;
    if (isDirectory) found.push(...await strays(root, path));
    else if (!(path in ALLOWED)) found.push(path);
  }
  return found;
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}

function disposable(value: DatabaseSync) {
  return { value, [Symbol.dispose]: () => value.close() };
}
