/** Plays `:Agent tutor` as its user would. */
import assert from "node:assert/strict";
import type { ChildNvim } from "./nvim.ts";
import { waitForNone } from "./processes.ts";
import { waitUntil } from "./project.ts";

/** The first start on a machine downloads the plugin's dependencies. Milliseconds. */
const FIRST_START = 120_000;

/** Receives the screen when a lesson's answer is visible. */
export type OnLesson = (title: string, screen: string) => void | Promise<void>;

/** Opens the tutor, from Normal mode. */
export async function openTutor(nvim: ChildNvim): Promise<void> {
  await nvim.keys(":Agent tutor<CR>");
  await nvim.waitForScreen("Lesson 1 of 7", { timeout: FIRST_START });
}

/** The folder of the open tutor, which contains all its files. */
export async function folderOf(nvim: ChildNvim): Promise<string> {
  const root = await nvim.lua<string>("return vim.fn.getcwd()");
  assert.match(root, /\/party$/);
  return root.slice(0, -"/party".length);
}

/** Waits until the folder and all processes that use it are gone. */
export async function waitForNothing(folder: string): Promise<void> {
  await waitForNone([folder]);
  await waitUntil(`${folder} to be removed`, () => Deno.stat(folder).then(() => false, () => true));
}

/** Plays all lessons. @throws {Error} if a lesson does not advance, or something is left */
export async function playTutor(nvim: ChildNvim, onLesson: OnLesson): Promise<void> {
  const before = await snapshot(nvim);
  await openTutor(nvim);
  const folder = await folderOf(nvim);
  await playLessons(nvim, onLesson);
  await nvim.keys("<Esc>:Agent tutor quit<CR>");
  await nvim.waitFor("#vim.api.nvim_list_tabpages() == 1");
  assert.deepEqual(await snapshot(nvim), before);
  await waitForNothing(folder);
}

/** The lesson stays visible; at the end the last page is shown. */
async function playLessons(nvim: ChildNvim, onLesson: OnLesson): Promise<void> {
  const both = (lesson: string, answer: RegExp) =>
    nvim.waitForScreen((screen) => screen.includes(lesson) && answer.test(screen));

  await nvim.keys(":Agent what does greet.lua do?<CR>");
  await onLesson("A question", await both("Lesson 2 of 7", /a greeting for each line/));

  await nvim.keys("ikeep my token in .env<C-s>");
  await onLesson("An edit that asks", await both("may hold secrets.", /\+TOKEN=abc123/));
  await nvim.keys("<Esc><Tab>");
  await nvim.waitForScreen("a once");
  await nvim.keys("a");
  await both("Lesson 3 of 7", /Done, as far as you allowed it/);

  await nvim.keys("isort the guests<C-s>");
  await onLesson("A command", await both("Nothing has changed yet.", /guests\.txt {2}\+1 −2/));
  await nvim.keys("<Esc><Tab>");
  await nvim.waitForScreen("a keep");
  await nvim.keys("a");
  await both("Lesson 4 of 7", /The command is done/);

  await nvim.keys("igreet politely<C-s>");
  await both("greet.lua has two marked hunks.", /are polite/);
  await nvim.keys("<Esc>q");
  await onLesson("A review", await both("undoes the next", /Good evening/));
  await nvim.keys("grk");
  await nvim.waitForScreenGone("1/2 grk");
  await nvim.keys("]rgru");
  await both("Lesson 5 of 7", /hey/);

  await nvim.keys(":Agent make it loud<CR>");
  await onLesson("Undo", await both("Too loud?", /as loud/));
  await nvim.keys(":Agent undo<CR>");
  await both("Lesson 6 of 7", /restored/);

  await nvim.keys(":Agent<CR><S-Tab>");
  await both("Try it:", /ask · /);
  await nvim.keys("delete the guest list<C-s>");
  await onLesson("Modes", await both("The file is still there.", /lets me go/));
  await nvim.keys("<Esc>:Agent mode agent<CR>");
  await nvim.waitForScreen("Lesson 7 of 7");

  await nvim.keys("iwrite a speech<C-s>");
  await both("Type  keep it short", /Thinking/);
  await nvim.keys("keep it short<M-CR>");
  await onLesson("Steering", await both("<Esc>  :Agent new", /The buffet is open/));
  await nvim.keys("<Esc>:Agent new<CR>");
  await nvim.waitForScreen("<Esc>  :Agent sessions");
  await nvim.keys("i<Cmd>Agent sessions<CR>");
  await onLesson("Sessions", await nvim.waitForScreen("Sessions of this project · 1"));
  await nvim.keys("<CR>");
  await both("closes the tutor.", /The buffet is open/);
  await nvim.waitFor(`vim.fn.bufname() == "agent://tutor" and vim.fn.mode() == "n"`);
}

/** The user's state that the tutor must restore: folder, windows, buffers, options, lists. */
export async function snapshot(nvim: ChildNvim): Promise<unknown> {
  return await nvim.lua(`
    local options = {}
    for name, info in pairs(vim.api.nvim_get_all_options_info()) do
      options[name] = vim.inspect(vim.api.nvim_get_option_value(name, info.scope == "global" and { scope = "global" } or {}))
    end
    return {
      options = options,
      folder = vim.fn.getcwd(-1, -1),
      here = vim.fn.getcwd(),
      tabs = #vim.api.nvim_list_tabpages(),
      windows = vim.tbl_map(function(window)
        return { window, vim.api.nvim_win_get_buf(window), vim.api.nvim_win_get_cursor(window) }
      end, vim.api.nvim_list_wins()),
      current = vim.api.nvim_get_current_win(),
      buffers = vim.tbl_map(function(buffer)
        return { buffer, vim.api.nvim_buf_get_name(buffer) }
      end, vim.api.nvim_list_bufs()),
      quickfix = vim.fn.getqflist(),
      tabVariables = vim.fn.gettabvar(1, ""),
    }`);
}
