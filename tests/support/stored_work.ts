/** A session that has worked for long, put into a store as the engine would have: answers, calls, files. */
import type { LogEntry } from "../../denops/agent/engine/log/entries.ts";
import type { ToolCall } from "../../denops/agent/engine/log/messages.ts";
import type { Database } from "../../denops/agent/engine/store/database.ts";
import type { SqliteStore } from "../../denops/agent/engine/store/sqlite.ts";
import type { SqliteUsage } from "../../denops/agent/engine/store/usage.ts";
import { answered, asked, result } from "./entries.ts";

export interface Work {
  readonly id: string;
  /** Real path of the project. */
  readonly root: string;
  readonly turns: number;
  /** Of each turn, two in each answer. */
  readonly calls: number;
}

export interface WorkStores {
  readonly database: Database;
  readonly store: SqliteStore;
  readonly usage: SqliteUsage;
}

/** Turns that are stored at once. */
const BATCH = 50;

const FILES = 200;
const LINES = 120;

const WORDS = (
  "parser token state buffer window cursor line column match group error value index result option config " +
  "session message request answer stream chunk frame event handler signal abort retry timeout limit count " +
  "path folder file content snapshot change merge conflict review hunk baseline undo redo restore commit"
).split(" ");

/** What the kinds of calls of a turn are, in turn. */
const KINDS = [
  "read",
  "search",
  "edit",
  "read",
  "command",
  "read",
  "search",
  "edit",
  "read",
  "read",
] as const;

/** Every run is the same. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(most: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(this.#state / 2 ** 32 * most);
  }

  words(count: number): string {
    return Array.from({ length: count }, () => WORDS[this.below(WORDS.length)]).join(" ");
  }

  line(): string {
    const [name, type, from] = this.words(3).split(" ");
    return `  const ${name}${this.below(100)} = ${type}.${from}(${this.words(2).replace(" ", ", ")}); // ${
      this.words(3)
    }`;
  }
}

/** Stores it in batches. */
export function storeWork(stores: WorkStores, work: Work): void {
  const writer = new Writer(stores, work);
  stores.store.createSession({ id: work.id, root: work.root, model: "scripted" });
  for (let first = 1; first <= work.turns; first += BATCH) {
    stores.database.transaction(() => {
      for (let turn = first; turn < Math.min(first + BATCH, work.turns + 1); turn++) writer.turn(turn);
    });
  }
}

class Writer {
  readonly #stores: WorkStores;
  readonly #work: Work;
  readonly #dice = new Dice(7);
  readonly #files: string[][] = [];

  constructor(stores: WorkStores, work: Work) {
    this.#stores = stores;
    this.#work = work;
    for (let file = 0; file < FILES; file++) {
      this.#files.push(Array.from({ length: LINES }, () => this.#dice.line()));
    }
  }

  turn(turn: number): void {
    const { calls } = this.#work;
    const text = `Turn ${turn}: ${this.#dice.words(20)}`;
    this.#append(asked(text));
    for (let call = 1; call <= calls; call += 2) this.#answer(turn, call, Math.min(2, calls - call + 1));
    const said = `Done: ${this.#dice.words(80)}.`;
    this.#append({ type: "token", message: `m${turn}`, text: said });
    this.#request(turn, 0);
    this.#append(answered(said));
    this.#append({ type: "turn_done", reason: "end_turn" });
  }

  #answer(turn: number, first: number, count: number): void {
    const message = `m${turn}-${first}`;
    const said = this.#dice.words(25);
    const made = Array.from({ length: count }, (_, at) => this.#call(turn, first + at));
    this.#append({ type: "thought", message, text: this.#dice.words(40) });
    this.#append({ type: "thought_done", message, milliseconds: 900 });
    this.#append({ type: "token", message, text: said });
    this.#request(turn, count);
    const calls = made.map(({ call }) => call);
    this.#append(answered(said, calls));
    for (const one of made) one.run();
    for (const { result } of made) this.#append(result);
  }

  #call(turn: number, number: number) {
    const id = `call-${turn}-${number}`;
    const kind = KINDS[(number - 1) % KINDS.length] ?? "read";
    const at = this.#dice.below(FILES);
    const name = `src/module${at % 20}/file${at}.ts`;
    const path = `${this.#work.root}/${name}`;
    const lines = this.#files[at] ?? [];
    switch (kind) {
      case "edit": {
        const before = text(lines);
        const place = this.#dice.below(LINES);
        const old = lines[place] ?? "";
        const line = this.#dice.line();
        lines[place] = line;
        const after = text(lines);
        const args = { path: name, old_str: old, new_str: line };
        const run = () => this.#edit({ id, turn, path, before, after, title: `edit ${name}` });
        return this.#made(id, "edit_file", args, `Edited ${name}.\n${place}\t${line}`, run);
      }
      case "read": {
        const from = this.#dice.below(LINES / 2);
        const shown = lines.slice(from, from + 50).map((line, at) => `${from + at}\t${line}`).join("\n");
        return this.#made(id, "read_file", { path: name, offset: from }, shown);
      }
      case "search": {
        const found = Array.from(
          { length: 12 },
          () => `src/file${this.#dice.below(FILES)}.ts:${this.#dice.line()}`,
        );
        return this.#made(id, "search_workspace", { query: this.#dice.words(1) }, found.join("\n"));
      }
      case "command": {
        const printed = Array.from(
          { length: 20 },
          () => `ok ${this.#dice.words(5)} (${this.#dice.below(90)} ms)`,
        );
        return this.#made(id, "run_terminal_command", { command: "npm test" }, printed.join("\n"));
      }
    }
  }

  #made(id: string, tool: string, args: Readonly<Record<string, unknown>>, output: string, run?: () => void) {
    const call: ToolCall = { id, name: tool, arguments: JSON.stringify(args) };
    const told = result(id, tool, output);
    const shown = () => {
      this.#start(id, tool, `${tool} ${Object.values(args)[0]}`);
      this.#append({ type: "tool_done", id, status: "completed", summary: "20 lines", output });
    };
    return { call, result: told, run: run ?? shown };
  }

  #start(id: string, tool: string, title: string): void {
    const call = { id, tool, title, kind: "other", paths: [`${this.#work.root}/src`] } as const;
    this.#append({ type: "tool_start", call });
    this.#append({ type: "tool_running", id, rule: "inside the project" });
  }

  #edit({ id, turn, path, before, after, title }: Edit): void {
    const { checkpoints } = this.#stores.store;
    const { contents } = checkpoints;
    this.#start(id, "edit_file", title);
    const image = (text: string) =>
      ({ type: "file", mode: 0o644, blob: contents.put(encode(text)) }) as const;
    const was = image(before);
    const kept = { session: this.#work.id, turn, kind: "tool", toolCall: id } as const;
    const checkpoint = checkpoints.begin(kept, [{ path, before: was, after: was }]);
    checkpoints.finish(checkpoint, [{ path, before: was, after: image(after) }]);
    const change = { path, before, after };
    this.#append({ type: "file_modified", id, change: { ...change, kind: "modified", onDisk: true } });
    const diff = { ...change, added: 1, removed: 1 };
    this.#append({
      type: "tool_done",
      id,
      status: "completed",
      summary: "+1 −1",
      output: `Edited ${path}.`,
      diff,
    });
  }

  #request(turn: number, calls: number): void {
    const usage = { input: 50_000, output: 300, cachedRead: 45_000, cachedWrite: 5_000 };
    this.#stores.usage.record(this.#work.id, turn, {
      purpose: "agent",
      provider: "test",
      model: "scripted",
      usage,
      cost: 0.01,
      firstToken: 500,
      duration: 2_000,
      tools: { read_file: calls },
      invalidCalls: 0,
      offered: 29,
    });
    this.#append({ type: "usage", usage, window: 128_000, cost: 0.01, sessionCost: turn * 0.1 });
  }

  #append(entry: LogEntry): void {
    this.#stores.store.append(this.#work.id, { entries: [entry] });
  }
}

interface Edit {
  readonly id: string;
  readonly turn: number;
  readonly path: string;
  readonly before: string;
  readonly after: string;
  readonly title: string;
}

function text(lines: readonly string[]): string {
  return `${lines.join("\n")}\n`;
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
