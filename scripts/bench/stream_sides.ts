/** The two that are compared when an answer streams: the whole program, and curl with a buffer (floor.lua). */
import { join } from "node:path";
import { ModelServer } from "../../tests/model/model_server.ts";
import { startAgent } from "../../tests/support/agent.ts";
import { ChildNvim } from "../../tests/support/nvim.ts";
import { pause } from "../../tests/support/project.ts";
import { PROJECT } from "../environment.ts";
import { cpuTime } from "./processes.ts";

const SCREEN = { columns: 120, lines: 40 };
const HERE = join(PROJECT, "scripts/bench");
const LUA = `Typing = dofile(${JSON.stringify(join(HERE, "typing.lua"))})`;
/** An init.lua with the floor in it. */
export const FLOOR = `${LUA}\nFloor = dofile(${JSON.stringify(join(HERE, "floor.lua"))})`;
/** After it nothing of the start or of the last answer goes on. */
export const SETTLED_MS = 400;
/** Of a screen that changes 30 times a second. */
export const FRAME_MS = 32;
/** An answer of 100 tokens a second for 5 s, as a timer of 9 ms fires every 10; the floor shows it by frames. */
export const PACED = { tokens: 500, pace: 9, batch: FRAME_MS };

/** One of the two, in a Neovim of its own, with the cursor in an input. */
export interface Side {
  readonly nvim: ChildNvim;
  /** Empties the window of the answer. */
  clear(): Promise<void>;
  send(): Promise<void>;
  /** The answer is over for this side too. */
  done(): Promise<void>;
}

export interface Sides extends AsyncDisposable {
  readonly ours: Side;
  readonly floor: Side;
  readonly play: Player;
}

/** What one answer took. Milliseconds; for those on screen from the first write of the server on. */
export interface Streamed {
  readonly first: number;
  readonly all: number;
  /** Of each token, from its own write until it was on screen. */
  readonly painted: readonly number[];
  readonly nvim: number;
  readonly helpers: number;
  /** Of each key that was typed meanwhile. */
  readonly typed: readonly number[];
}

/** Plays answers of numbered tokens, and knows when each was written. */
export class Player {
  readonly server: ModelServer;
  readonly #written: number[];

  private constructor(server: ModelServer, written: number[]) {
    this.server = server;
    this.#written = written;
  }

  static async start(): Promise<Player> {
    const written: number[] = [];
    const decoder = new TextDecoder();
    const onWrite = (bytes: Uint8Array) => {
      const [, number] = /"content":"[^"]*?t(\d{5})/.exec(decoder.decode(bytes)) ?? [];
      if (number !== undefined) written[Number(number)] = performance.now();
    };
    return new Player(await ModelServer.start("say Hello.\nrepeat", { onWrite }), written);
  }

  /** @param pace milliseconds before each token */
  async stream(side: Side, tokens: number, pace: number, typing = false): Promise<Streamed> {
    const { nvim } = side;
    await side.clear();
    this.server.play(`wait go\nslow ${pace}\n${markdown(tokens)}`);
    this.#written.length = 0;
    await side.send();
    await this.server.reached("go");
    await pause(SETTLED_MS);
    const before = cpuTime(nvim.pid);
    if (typing) await nvim.lua("Typing.start()");
    const shown: number[] = [];
    this.server.release("go");
    await nvim.waitForScreen((text) => {
      const newest = newestToken(text);
      const now = performance.now();
      while (shown.length <= newest) shown.push(now);
      return shown.length === tokens;
    }, { timeout: 60_000 });
    const typed = typing ? await nvim.lua<readonly number[]>("return Typing.stop()") : [];
    await side.done();
    await pause(SETTLED_MS);
    const after = cpuTime(nvim.pid);
    const begun = this.#written[0] ?? NaN;
    return {
      first: (shown[0] ?? NaN) - begun,
      all: (shown.at(-1) ?? NaN) - begun,
      painted: shown.map((at, token) => at - (this.#written[token] ?? NaN)),
      nvim: after.own - before.own,
      helpers: after.helpers - before.helpers,
      typed,
    };
  }
}

/** Token by token "t00000 t00001 …", in paragraphs, lists and code. */
export function markdown(tokens: number): string {
  const words = Array.from({ length: tokens }, (_, index) => `t${String(index).padStart(5, "0")}`);
  const lines: string[] = [];
  for (let at = 0; at < tokens; at += 10) {
    const text = words.slice(at, at + 10).join(" ");
    const line = at / 10 % 20;
    if (line === 0 && at > 0) lines.push("say ");
    if (line === 12) lines.push("say ", "say ```lua");
    lines.push(line >= 8 && line < 12 ? `say - ${text}` : `say ${text}`);
    if (line === 15) lines.push("say ```", "say ");
  }
  return lines.join("\n");
}

/** −1 if none is on screen. */
function newestToken(text: string): number {
  const at = text.lastIndexOf("t0");
  const found = at < 0 ? undefined : /^t(\d{5})/.exec(text.slice(at))?.[1];
  return found === undefined ? -1 : Number(found);
}

/**
 * Both have started, and have answered once.
 *
 * @param batch milliseconds between two changes of the floor's buffer
 */
export async function startSides(batch: number): Promise<Sides> {
  await using stack = new AsyncDisposableStack();
  const play = await Player.start();
  stack.use(play.server);
  const agent = stack.use(
    await startAgent({
      ...SCREEN,
      script: "",
      server: play.server,
      options: "sessions = { title = false }",
      lua: LUA,
    }),
  );
  const nvim = agent.nvim;
  await nvim.command("Agent hello");
  await nvim.waitForScreen("· ready");
  const ours: Side = {
    nvim,
    async clear() {
      await nvim.keys("<Esc><Cmd>Agent new<CR>");
      await nvim.keys("<Esc>i");
    },
    send: () => nvim.lua(`require("agent.chat").current():send("go")`),
    done: async () => void await nvim.waitForScreen("· ready"),
  };
  const size = await nvim.lua<Readonly<Record<"width" | "height", number>>>(
    `local window = require("agent.chat").current().windows.transcript
    return { width = vim.api.nvim_win_get_width(window), height = vim.api.nvim_win_get_height(window) }`,
  );
  const bare = stack.use(await ChildNvim.start({ ...SCREEN, lua: FLOOR }));
  await bare.lua("Floor.open(...)", { ...size, batch });
  await bare.keys("i");
  const floor: Side = {
    nvim: bare,
    clear: () => bare.lua("Floor.clear()"),
    send: () => bare.lua(`Floor.send(..., "go")`, play.server.url),
    done: async () => void await bare.waitFor("Floor.done"),
  };
  const owned = stack.move();
  return { ours, floor, play, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
