/**
 * Plays the main job with a scripted model: `deno task try`.
 * In a terminal it opens Neovim on a scratch project and shows, step by step, what to press. Without one it plays
 * by itself in a headless Neovim, prints what a user would see, and ends with "try: ok".
 */
import { join } from "node:path";
import { ModelServer } from "../tests/model/model_server.ts";
import { ChildNvim } from "../tests/support/nvim.ts";
import { type Scratch, scratch } from "../tests/support/project.ts";
import { PROJECT, toolEnvironment } from "./environment.ts";

const FILES = {
  "src/greet.ts": "export function greet(name: string): string {\n  return `Hello ${name}`;\n}\n",
  "src/main.ts": 'import { greet } from "./greet.ts";\n\nconsole.log(greet("world"));\n',
  "README.md": "# Demo\n\nmain.ts calls `greet` for the whole world.\n",
};
const REQUEST = "rename greet to salute everywhere";

const env = await toolEnvironment(["nvim", "git", "bwrap"]);
for (const [name, value] of Object.entries(env)) Deno.env.set(name, value);
const script = await Deno.readTextFile(join(PROJECT, "scripts/try/model.txt"));

await using project = await scratch(FILES, { git: true });
await using state = await scratch();
await using server = await ModelServer.start(script);

const options = `vim.g.agent = { provider = "scripted", model = "scripted-model", state_dir = ${
  lua(state.root)
},
  providers = { scripted = { wire = "openai_chat", base_url = ${lua(`${server.url}/v1`)} } } }`;

function lua(text: string): string {
  return JSON.stringify(text);
}

async function playForUser(): Promise<number> {
  const init = state.path("init.lua");
  const guide = join(PROJECT, "scripts/try/guide.lua");
  const lines = [
    options,
    `vim.g.agent_try_request = ${lua(REQUEST)}`,
    `vim.opt.runtimepath:prepend(${lua(PROJECT)})`,
    `dofile(${lua(guide)})`,
  ];
  await Deno.writeTextFile(init, lines.join("\n"));
  const command = new Deno.Command(Deno.env.get("AGENT_NVIM") ?? "nvim", {
    args: ["--clean", "-n", "-i", "NONE", "-u", init, "src/greet.ts"],
    cwd: project.root,
  });
  const { code } = await command.spawn().status;
  await printDiff(project);
  return code;
}

async function playAlone(): Promise<number> {
  const runtime = [PROJECT];
  const denoDir = Deno.env.get("DENO_DIR");
  await using nvim = await ChildNvim.start({
    columns: 100,
    lines: 40,
    cwd: project.root,
    runtime,
    lua: options,
    files: ["src/greet.ts"],
    ...(denoDir === undefined ? {} : { env: { DENO_DIR: denoDir } }),
  });
  console.log(`$ nvim src/greet.ts\n:Agent ${REQUEST}`);
  await nvim.command(`Agent ${REQUEST}`);
  // The first start on a machine fetches the engine's dependencies.
  await nvim.waitForScreen("? write .env", { timeout: 120_000 });
  await nvim.waitForScreen("a once");
  print("The agent asks before it writes .env", nvim.text());
  await expect(project.read(".env").then(() => false, () => true), ".env is not written before the answer");
  console.log("\n<a>  allow once\n");
  await nvim.keys("a");
  await nvim.waitForScreen("I did not run anything.");
  await nvim.waitForScreen("· ready");
  console.log("What about the README?  <CR>\n");
  await nvim.keys("iWhat about the README?<Esc><CR>");
  await nvim.waitForScreen("The README is up to date now.");
  await nvim.waitForScreen("· ready");
  const transcript = await nvim.lua<string[]>(
    `return vim.api.nvim_buf_get_lines(vim.fn.bufnr("agent://chat/1"), 0, -1, true)`,
  );
  print("The transcript", transcript.join("\n"));
  const buffer = await nvim.lua<string>(
    `return vim.api.nvim_buf_get_lines(vim.fn.bufnr("src/greet.ts"), 0, 1, true)[1]`,
  );
  await expect(buffer.includes("salute"), "the open buffer follows the file");
  await printDiff(project);
  await expect((await project.read("src/greet.ts")).includes("function salute("), "src/greet.ts is changed");
  await expect((await project.read("src/main.ts")).includes("salute("), "src/main.ts is changed");
  await expect((await project.read("README.md")).includes("calls `salute`"), "README.md is changed");
  await expect(await project.read(".env") === "GREETING=salute\n", ".env is written");
  for (const problem of server.problems) console.log(`problem: ${problem}`);
  await expect(server.problems.length === 0, "every request to the model was in order");
  await nvim.quit();
  console.log("\ntry: ok");
  return 0;
}

function print(title: string, text: string): void {
  console.log(`\n── ${title} ${"─".repeat(Math.max(0, 96 - title.length))}\n${text}`);
}

async function expect(condition: boolean | Promise<boolean>, what: string): Promise<void> {
  if (!await condition) throw new Error(`try: not so: ${what}`);
}

async function printDiff(project: Scratch): Promise<void> {
  const args = ["-c", "core.safecrlf=false", "diff", "--no-color", "HEAD", "--", "."];
  await new Deno.Command("git", { args: ["add", "--intent-to-add", "--all"], cwd: project.root }).output();
  const { stdout } = await new Deno.Command("git", { args, cwd: project.root }).output();
  print("What changed", new TextDecoder().decode(stdout).trimEnd());
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
