/**
 * Opens `:Agent tutor`: `deno task try`. Nothing of it is left when Neovim ends. Without a terminal it plays the lessons
 * by itself in a headless Neovim, prints what a user would see, and ends with "try: ok".
 */
import { ChildNvim } from "../tests/support/nvim.ts";
import { scratch } from "../tests/support/project.ts";
import { playTutor } from "../tests/support/tutor.ts";
import { PROJECT, toolEnvironment } from "./environment.ts";

const env = await toolEnvironment(["nvim", "git", "bwrap"]);
for (const [name, value] of Object.entries(env)) Deno.env.set(name, value);
await using state = await scratch();
const options = `vim.g.agent = { state_dir = ${JSON.stringify(state.root)} }`;

async function playForUser(): Promise<number> {
  const init = state.path("init.lua");
  await Deno.writeTextFile(
    init,
    `${options}\nvim.opt.runtimepath:prepend(${JSON.stringify(PROJECT)})\nvim.o.termguicolors = true\n`,
  );
  const command = new Deno.Command(Deno.env.get("AGENT_NVIM") ?? "nvim", {
    args: ["--clean", "-n", "-i", "NONE", "-u", init, "-c", "Agent tutor"],
    cwd: state.root,
  });
  return (await command.spawn().status).code;
}

async function playAlone(): Promise<number> {
  const denoDir = Deno.env.get("DENO_DIR");
  await using nvim = await ChildNvim.start({
    runtime: [PROJECT],
    lua: options,
    ...(denoDir === undefined ? {} : { env: { DENO_DIR: denoDir } }),
  });
  await playTutor(nvim, (title, screen) => {
    console.log(`── ${title} ${"─".repeat(Math.max(0, 76 - title.length))}\n${screen}\n`);
  });
  if ((await Array.fromAsync(Deno.readDir(state.root))).length > 0) {
    throw new Error("The tutor has left a state.");
  }
  await nvim.quit();
  console.log("try: ok");
  return 0;
}

async function play(): Promise<number> {
  const terminal = Deno.stdin.isTerminal() && Deno.stdout.isTerminal();
  try {
    return terminal ? await playForUser() : await playAlone();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    return 1;
  }
}

Deno.exitCode = await play();
