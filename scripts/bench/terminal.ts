/** What a terminal is sent while an answer streams in: a real pty, with and without scrolling within margins. */
import { join } from "node:path";
import { ModelServer } from "../../tests/model/model_server.ts";
import { initLua, PLUGIN } from "../../tests/support/agent.ts";
import { KEY } from "../../tests/support/key.ts";
import { ChildNvim } from "../../tests/support/nvim.ts";
import { pause, scratch } from "../../tests/support/project.ts";
import { PROJECT } from "../environment.ts";
import { group, median, type Row, row, times } from "./row.ts";
import { FLOOR, markdown, PACED, SETTLED_MS } from "./stream_sides.ts";

const RUNS = 2;
const SCRIPT = "say Hello.\nrepeat";
const OPTIONS = { script: SCRIPT, options: "sessions = { title = false }" };

/** How one side starts and sends its message, in Lua; `is_done` is an expression. */
interface TerminalSide {
  readonly init: string;
  readonly open: string;
  readonly send: string;
  readonly isDone: string;
  /** The window with the answer. */
  readonly window: string;
}

interface Sent {
  readonly bytes: number;
  /** Of the window with the answer, in cells. */
  readonly width: number;
  readonly height: number;
  /** Above the answer: they decide how often the window scrolls. */
  readonly lines: number;
}

const IDLE = `return require("agent.chat").current().timeline.state == "idle"`;

export const terminal = group(["tty_bytes", "tty_bytes_margins"], async () => ({
  tty_bytes: await measure(false),
  tty_bytes_margins: await measure(true),
}));

async function measure(margins: boolean): Promise<Row> {
  const values: number[] = [];
  const floors: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    await using server = await ModelServer.start(SCRIPT, { secrets: [KEY] });
    await using state = await scratch();
    const ours = {
      init: `vim.opt.runtimepath:prepend(${JSON.stringify(PLUGIN)})\n${initLua(OPTIONS, server, state)}`,
      open: `vim.cmd("Agent hello")`,
      send: `require("agent.chat").current():send("go")`,
      isDone: IDLE,
      window: `require("agent.chat").current().windows.transcript`,
    };
    const { bytes, ...window } = await sentBy(ours, server, margins);
    values.push(bytes);
    const floor = {
      init: FLOOR,
      open: `Floor.open(vim.json.decode('${
        JSON.stringify({ ...window, batch: PACED.batch })
      }')) vim.cmd.startinsert()`,
      send: `Floor.send(${JSON.stringify(server.url)}, "go")`,
      isDone: `return Floor.done ~= false`,
      window: "Floor.window",
    };
    floors.push((await sentBy(floor, server, margins)).bytes);
  }
  return row("bytes", median(values), times(1), median(floors));
}

async function sentBy(side: TerminalSide, server: ModelServer, margins: boolean): Promise<Sent> {
  await using files = await scratch({ "init.lua": side.init, "a.txt": "text\n" });
  await using outer = await ChildNvim.start({
    cwd: files.root,
    env: { TEST_API_KEY: KEY },
    lua: `Terminal = dofile(${JSON.stringify(join(PROJECT, "scripts/bench/terminal.lua"))})`,
  });
  const command = [Deno.env.get("AGENT_NVIM") ?? "nvim", "-n", "-i", "NONE", "-u", files.path("init.lua")];
  await outer.lua("Terminal.start(...)", command, files.path("socket"), margins);
  const inner = <T>(code: string) => outer.lua<T>("return Terminal.lua(...)", code);
  const until = async (code: string) => {
    while (await inner<boolean>(code) !== true) await pause(20);
  };
  await inner(side.open);
  await until(side.isDone);
  await pause(SETTLED_MS);
  server.play(`wait go\nslow ${PACED.pace}\n${markdown(PACED.tokens)}`);
  await inner(side.send);
  await server.reached("go");
  await pause(SETTLED_MS);
  const window = await inner<Omit<Sent, "bytes">>(
    `local info = vim.fn.getwininfo(${side.window})[1]
    -- An empty one comes before the answer.
    local lines = vim.api.nvim_buf_line_count(info.bufnr) + 1
    return { width = info.width, height = info.height, lines = lines }`,
  );
  const before = await outer.lua<number>("return Terminal.bytes");
  server.release("go");
  await until(side.isDone);
  await pause(SETTLED_MS);
  const bytes = await outer.lua<number>("return Terminal.bytes") - before;
  await outer.lua("Terminal.stop()");
  return { bytes, ...window };
}
