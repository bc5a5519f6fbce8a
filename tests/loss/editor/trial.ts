/**
 * One trial: a user types, writes, undoes and folds in a real Neovim while the agent reads and writes the same files.
 * Each side's lines can be told from all others, so that what is gone, doubled or reverted is found.
 */
import { pause, waitUntil } from "../../support/project.ts";
import { bytesOf, type Plan, type PlannedFile, type PlannedWrite, planOf, type TimedAct } from "./plan.ts";
import { Stage } from "./stage.ts";

/** Milliseconds that a turn may take. */
const LONGEST_TURN = 20_000;

let shared: Promise<Stage> | undefined;

/** @returns a line for each thing that was lost; the same seed gives the same plan */
export async function runTrial(seed: number): Promise<readonly string[]> {
  if (shared !== undefined && !(await shared).begin()) await endTrials();
  shared ??= Stage.open();
  const trial = new Trial(seed, await shared);
  try {
    return await trial.run();
  } catch (error) {
    // Whatever state that Neovim is in, it is none to go on with.
    await endTrials();
    return [`seed ${seed} broke off: ${error instanceof Error ? error.message : error}`];
  }
}

/** Ends what the trials share; the next one begins anew. */
export async function endTrials(): Promise<void> {
  const stage = await shared?.catch(() => undefined);
  shared = undefined;
  await stage?.[Symbol.asyncDispose]();
}

class Trial {
  readonly #plan: Plan;
  readonly #seed: number;
  readonly #stage: Stage;
  /** Tokens as often as the user has typed them. */
  readonly #typed = new Map<string, { readonly file: string; readonly times: number }>();
  /** Lines and tokens that the user has taken away. */
  readonly #undone = new Set<string>();
  readonly #lost: string[] = [];

  constructor(seed: number, stage: Stage) {
    this.#seed = seed;
    this.#plan = planOf(seed);
    this.#stage = stage;
  }

  async run(): Promise<readonly string[]> {
    const { nvim, server } = this.#stage;
    const { files, writes, acts, saveUnsaved, then } = this.#plan;
    for (const file of files) {
      await Deno.writeFile(this.#stage.path(file.name), bytesOf(file.lines, file.format));
    }
    await nvim.lua(
      `local save, files = ...
      _G.told, _G.gone = {}, {}
      require("agent.config").set({ files = { save_unsaved = save } })
      vim.cmd("silent! only | enew")
      for _, file in ipairs(files) do
        if file.open ~= "closed" then vim.cmd.edit(file.name) end
        if file.open == "shown" then vim.cmd("normal! gg") end
      end
      local shown = vim.iter(files):find(function(file) return file.open == "shown" end)
      if shown then vim.cmd.buffer(shown.name) end`,
      saveUnsaved,
      files.map(({ name, open }) => ({ name, open })),
    );
    const from = server.requests.length;
    const saidFrom = (await this.#transcript()).length;
    server.play(scriptOf(this.#plan));
    await nvim.command(`Agent! go on with ${this.#seed}`);
    for (const [index, write] of writes.entries()) {
      await server.reached(`g${index}`);
      const acting = this.#act(acts[index] ?? []);
      await pause(write.delay);
      server.release(`g${index}`);
      // The model's own request for this write, behind the one for the files, has come.
      const isAnswered = () => server.requests.length > from + 2 + index;
      if (write.file.startsWith("ask") || write.how === "command") await this.#approve(isAnswered);
      await acting;
    }
    await this.#turnEnds();
    await this.#act(acts.at(-1) ?? []);
    for (const { what, acts } of then) await Promise.all([this.#takeBack(what), this.#act(acts)]);
    await nvim.command("cclose");
    await this.#stage.type("<Esc>");
    const results = writes.map((_, index) => server.requests[from + 2 + index]?.text ?? "");
    const said = [
      ...(await this.#transcript()).slice(saidFrom),
      ...await nvim.lua<string[]>("return _G.told"),
    ];
    this.#problems(server.problems);
    for (const line of await nvim.lua<string[]>("return _G.gone")) this.#undone.add(line);
    for (const file of files) await this.#check(file, results, said.join("\n"));
    await nvim.lua(
      "for _, name in ipairs(...) do vim.cmd('silent! bwipeout! ' .. name) end",
      files.map(({ name }) => name),
    );
    return this.#lost.map((line) => `seed ${this.#seed}: ${line}`);
  }

  #toldProblems = 0;

  #problems(problems: readonly string[]): void {
    for (const problem of problems.slice(this.#toldProblems)) {
      this.#lost.push(`the model's server: ${problem}`);
    }
    this.#toldProblems = problems.length;
  }

  #transcript(): Promise<string[]> {
    return this.#stage.nvim.lua<string[]>(
      `local buf = vim.fn.bufnr("^agent://chat-*[0-9]$")
      return buf > 0 and vim.api.nvim_buf_get_lines(buf, 0, -1, false) or {}`,
    );
  }

  /** @param isAnswered whether the model has the call's result: what meets the user's changes is refused unasked */
  async #approve(isAnswered: () => boolean): Promise<void> {
    const { nvim } = this.#stage;
    const asked = await waitUntil("the approval", async () => {
      const [count, state] = await nvim.lua<[number, string]>(
        "return { require('agent.approval').count(), require('agent').status() }",
      );
      return count > 0 ? "asked" : isAnswered() || state.endsWith("ready") ? "ended" : false;
    });
    if (asked !== "asked") return;
    await pause(this.#plan.approval);
    await nvim.command("Agent approve");
  }

  async #turnEnds(): Promise<void> {
    const { nvim } = this.#stage;
    await waitUntil("the turn to end", async () => {
      const [count, state] = await nvim.lua<[number, string]>(
        "return { require('agent.approval').count(), require('agent').status() }",
      );
      if (count > 0) await nvim.command("Agent approve");
      return state.endsWith("ready");
    }, { timeout: LONGEST_TURN });
  }

  async #takeBack(what: "undo" | "redo"): Promise<void> {
    const { nvim } = this.#stage;
    const [before] = await nvim.lua<[number]>("return { #_G.told }");
    await nvim.command(`Agent ${what}`);
    await waitUntil(`the answer to ${what}`, async () => {
      await this.#stage.answer();
      return await nvim.lua<boolean>("return #_G.told > ...", before);
    });
    await this.#stage.answer();
  }

  async #act(acts: readonly TimedAct[]): Promise<void> {
    const { nvim } = this.#stage;
    for (const { act, after } of acts) {
      await pause(after);
      if (!await this.#show(act.file)) continue;
      await nvim.lua(
        `local at = ...
        local row = at ~= "" and vim.fn.search("\\\\V\\\\^" .. at, "cw") or 0
        if row == 0 then vim.cmd("normal! G") end`,
        act.do === "type" ? act.at : "",
      );
      switch (act.do) {
        case "type":
          await this.#type(act);
          break;
        case "write":
          await this.#stage.type(":w<CR>");
          break;
        case "fold":
          await this.#stage.type("ggzf3j");
          break;
        case "unfold":
          await this.#stage.type("zE");
          break;
        case "undo":
        case "redo":
          await this.#undo(act.do);
          break;
      }
    }
  }

  /** Goes to the buffer of the file, as the user would: Neovim may ask something on the way. False if there is none. */
  async #show(name: string): Promise<boolean> {
    const [isLoaded, current] = await this.#stage.nvim.lua<[boolean, string]>(
      "return { vim.fn.bufloaded(...) == 1, vim.fn.bufname() }",
      name,
    );
    if (isLoaded && current !== name) await this.#stage.type(`:buffer ${name}<CR>`);
    return isLoaded;
  }

  async #type({ how, file, token }: Extract<TimedAct["act"], { do: "type" }>): Promise<void> {
    const stage = this.#stage;
    const typed = (times: number) => this.#typed.set(token, { file, times });
    switch (how) {
      case "open":
        await stage.type(`o${token} typed<Esc>`);
        return void typed(1);
      case "append":
        await stage.type(`A ${token}<Esc>`);
        return void typed(1);
      case "change":
        await stage.type(`<F5>${token} instead<Esc>`);
        return void typed(1);
      case "macro":
        await stage.type(`qqo${token} by a macro<Esc>q`);
        await stage.type("@q");
        return void typed(2);
      case "slow":
        await stage.type(`o${token} `);
        await pause(this.#plan.approval);
        await stage.type("slowly<Esc>");
        return void typed(1);
      case "delete":
        return void await stage.type("<F6>");
    }
  }

  /** What the user's own undo takes away is not lost; what it brings is there again. */
  async #undo(what: "undo" | "redo"): Promise<void> {
    const [before, after] = await this.#stage.nvim.lua<[string[], string[]]>(
      `local before = vim.api.nvim_buf_get_lines(0, 0, -1, true)
      vim.cmd("silent! " .. ...)
      return { before, vim.api.nvim_buf_get_lines(0, 0, -1, true) }`,
      what,
    );
    const times = (lines: readonly string[], line: string) => lines.filter((one) => one === line).length;
    for (const line of before) if (times(after, line) < times(before, line)) this.#undone.add(line);
  }

  async #check(file: PlannedFile, results: readonly string[], said: string): Promise<void> {
    const { nvim } = this.#stage;
    const { name, format } = file;
    const path = this.#stage.path(name);
    const isTold = said.split("\n").some((line) =>
      line.includes(name) && /kept|conflict|nothing|left alone|could not|not undone/.test(line)
    );
    const lose = (what: string, lines: readonly string[]) =>
      this.#lost.push(
        `${name} (${format.name}, ${file.open}): ${what}\n      ${lines.join("\n      ")}\n      told: ${
          said.split("\n").filter((line) => line.includes(name)).join(" | ")
        }`,
      );
    const isLoaded = await this.#show(name);
    if (isLoaded) {
      const isModified = await nvim.lua<boolean>("return vim.bo.modified");
      // A command may have written the same text again, of which Neovim warns.
      const isRewritten = this.#plan.writes.some((write) => write.file === name && write.how === "command");
      const clean = await this.#stage.type(isTold || isRewritten ? ":w!<CR>" : ":w<CR>");
      if (!clean) lose("`:w` asks although nothing was told of a conflict", []);
      else if (await nvim.lua<boolean>("return vim.bo.modified")) {
        lose(`\`:w\` did not write (modified before: ${isModified})`, [nvim.text()]);
      }
    }
    const bytes = await Deno.readFile(path);
    const disk = linesOf(bytes, file);
    const lines = isLoaded
      ? await nvim.lua<string[]>("return vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, true)", name)
      : disk;
    if (disk.join("\n") !== lines.join("\n")) {
      return void lose("disk and buffer differ after `:w`", ["DISK", ...disk, "BUFFER", ...lines]);
    }
    // No line and an empty one look alike.
    const isEmpty = lines.length === 1 && lines[0] === "";
    if (!isEmpty && !same(bytesOf(lines, format), bytes)) {
      lose("the format has changed", [JSON.stringify(new TextDecoder("latin1").decode(bytes))]);
    }
    const text = lines.join("\n");
    const isUndone = (token: string) => [...this.#undone].some((line) => line.includes(token));
    const count = (token: string) => text.split(new RegExp(`${token}(?!\\d)`)).length - 1;
    for (const [token, { file: where, times }] of this.#typed) {
      if (where !== name || isUndone(token)) continue;
      if (count(token) !== times) {
        lose(`the user's ${token} is there ${count(token)} times, not ${times}`, lines);
      }
    }
    const writes = this.#plan.writes.filter((write) => write.file === name);
    for (const { token } of writes) {
      const result = results[this.#plan.writes.findIndex((one) => one.token === token)] ?? "";
      if (!/(?:Edited|Replaced|Created) /.test(result)) continue;
      if (isUndone(token) || isTold || this.#plan.then.length > 0) continue;
      if (count(token) !== 1) {
        lose(
          `the agent's ${token} is there ${count(token)} times; it was told: ${result.slice(0, 200)}`,
          lines,
        );
      }
    }
    const touched = new Set(writes.filter(({ how }) => how !== "insert").map(({ at }) => at));
    for (const line of file.lines) {
      if (touched.has(line) || isUndone(line)) continue;
      // The user may have typed at its end.
      const times = lines.filter((one) => one === line || one.startsWith(`${line} U`)).length;
      if (times !== 1) lose(`"${line}" is there ${times} times`, lines);
    }
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}

function linesOf(bytes: Uint8Array, { format }: PlannedFile): readonly string[] {
  const label = format.encoding === "latin1" ? "latin1" : format.encoding;
  const text = new TextDecoder(label).decode(bytes);
  const lines = text.split(format.ending);
  if (lines.length > 1 && lines.at(-1) === "") lines.pop();
  return lines;
}

/** What the agent does: it reads every file, then writes; a whole new text is made from what it has read and written. */
function scriptOf({ files, writes }: Plan): string {
  const views = new Map(files.map(({ name, lines }) => [name, [...lines]]));
  const call = (tool: string, args: Readonly<Record<string, unknown>>) =>
    `call ${tool} ${JSON.stringify(args)}`;
  const answers = [files.map(({ name }) => call("read_file", { path: name })).join("\n")];
  for (const [index, write] of writes.entries()) {
    answers.push(`wait g${index}\n${callOf(write, views.get(write.file) ?? [], files, call)}`);
  }
  return [...answers, "say I am done."].join("\n---\n");
}

function callOf(
  { file: path, token, at, how }: PlannedWrite,
  view: string[],
  files: readonly PlannedFile[],
  call: (tool: string, args: Readonly<Record<string, unknown>>) => string,
): string {
  if (how === "command") {
    return call("run_terminal_command", {
      command: `sed -i 's/${at}/${token} by a command/' ${path}`,
      access: "write",
    });
  }
  const row = view.indexOf(at);
  const changed = `${token} by the agent`;
  if (how === "whole" || row === -1) {
    if (row === -1) view.push(changed);
    else view[row] = changed;
    const end = files.find(({ name }) => name === path)?.format.ended === false ? "" : "\n";
    return call("write_file", { path, content: view.join("\n") + end });
  }
  view.splice(row, how === "replace" ? 1 : 0, changed);
  if (how === "replace") return call("edit_file", { path, old_str: at, new_str: changed });
  return call("edit_file", { path, old_str: at, new_str: `${changed}\n${at}` });
}
