/** Takes pictures of situations: a real Neovim with the plugin and a real engine; only the model is scripted. */
import { type AgentOptions, type RunningAgent, startAgent } from "../../tests/support/agent.ts";
import type { Picture } from "../../tests/support/grid.ts";
import type { ChildNvim } from "../../tests/support/nvim.ts";
import { waitUntil } from "../../tests/support/project.ts";
import { OPEN_FILE, type Situation } from "./situations.ts";
import { TODO_PROJECT } from "./todo_project.ts";

export type Background = "dark" | "light";

export interface View {
  readonly columns: number;
  readonly lines: number;
  readonly background: Background;
}

/** Milliseconds without a change after which a screen is finished. */
const QUIET = 600;

/** A program in this situation, with the picture's screen. @param start {@link startAgent} unless tests share one */
export async function playSituation(
  { script, options, play }: Situation,
  { columns, lines, background }: View,
  start: (options: AgentOptions) => Promise<RunningAgent> = startAgent,
): Promise<RunningAgent> {
  const agent = await start({
    ...options,
    script,
    columns,
    lines,
    options: `sessions = { title = false }, ui = { spinner = false, notify = false }, ${
      options?.options ?? ""
    }`,
    lua: `vim.o.termguicolors, vim.o.background = true, "${background}"`,
    project: TODO_PROJECT,
    files: [OPEN_FILE],
    // A mined repository has one folder more.
    mined: false,
  });
  try {
    await play(agent);
    return agent;
  } catch (error) {
    await agent[Symbol.asyncDispose]();
    throw error;
  }
}

/** The screen when nothing has changed for a while. */
export async function settledPicture(nvim: ChildNvim): Promise<Picture> {
  const since = performance.now();
  await waitUntil("the screen to settle", () => {
    const last = Math.max(since, nvim.paints.at(-1)?.at ?? 0);
    return performance.now() - last > QUIET;
  });
  return nvim.picture();
}

/** Of a long chat, on one background. */
const MOST_PARTS = 8;

/** A picture of the screen, or of each part of a long chat from its beginning. */
async function* parts(nvim: ChildNvim, isLong: boolean): AsyncGenerator<Picture> {
  if (!isLong) return yield await settledPicture(nvim);
  await nvim.keys("<Esc>");
  await nvim.lua(`vim.api.nvim_set_current_win(require("agent.chat").current().windows.transcript)`);
  await nvim.keys("gg");
  for (let part = 1; part <= MOST_PARTS; part++) {
    yield await settledPicture(nvim);
    if (await nvim.lua(`return vim.fn.line("w$") == vim.fn.line("$")`)) return;
    await nvim.keys("<C-f>");
  }
}

export interface NamedPicture {
  /** Behind the situation's name: the background, and the part if it is not the only one. */
  readonly suffix: string;
  readonly picture: Picture;
}

/** Pictures on each background, from one Neovim. */
export async function takePictures(
  situation: Situation,
  size: Omit<View, "background">,
  backgrounds: readonly [Background, ...Background[]],
): Promise<readonly NamedPicture[]> {
  const { isLong = false } = situation;
  await using agent = await playSituation(situation, { ...size, background: backgrounds[0] });
  const pictures: NamedPicture[] = [];
  for (const background of backgrounds) {
    await agent.nvim.command(`set background=${background}`);
    let part = 0;
    for await (const picture of parts(agent.nvim, isLong)) {
      part += 1;
      pictures.push({ suffix: isLong ? `${background}-${part}` : background, picture });
    }
  }
  return pictures;
}
