/**
 * Plays a recorded session again: `deno task replay FILE`. Offline, with the scripted model, in a headless Neovim on a
 * scratch project that has the recording's files; prints the transcript and what has changed. A recording comes from
 * others: its commands and sub-agents are not run, and approvals are answered as they were for files alone.
 */
import { readRecording, type RecordedSession } from "../tests/model/recording.ts";
import { ModelServer } from "../tests/model/model_server.ts";
import { ChildNvim } from "../tests/support/nvim.ts";
import { git, scratch, waitUntil } from "../tests/support/project.ts";
import { PROJECT, toolEnvironment } from "./environment.ts";

const TURN_MS = 60_000;
/** Turns that were stopped, or had no model, need more answers than they had. */
const NO_ANSWER = "repeat\nsay (The recording has no further answer for this turn.)";

async function replay(recording: RecordedSession): Promise<void> {
  await using project = await scratch(recording.files, { git: true });
  await using state = await scratch();
  // An answer that claimed a change claims it again.
  const claims = recording.nudged.filter((line) => line !== "").map((line) =>
    `when ${line}\nsay {"claims_change": true}`
  );
  await using server = await ModelServer.start(NO_ANSWER, {
    claims: [...claims, 'say {"claims_change": false}\nusage 0 0\nrepeat'].join("\n---\n"),
  });
  const denoDir = Deno.env.get("DENO_DIR");
  await using nvim = await ChildNvim.start({
    ...{ columns: 100, lines: 40, cwd: project.root, runtime: [PROJECT] },
    ...(denoDir === undefined ? {} : { env: { DENO_DIR: denoDir } }),
    lua:
      `vim.g.agent = { provider = "scripted", model = "scripted-model", sessions = { title = false }, state_dir = ${
        JSON.stringify(state.root)
      }, tools = { off = { "run", "subagent" } }, rules = { deny = { "run(*)", "agent(*)" } }, providers = { scripted = { wire = "openai_chat", base_url = ${
        JSON.stringify(`${server.url}/v1`)
      } } } }`,
  });
  const settled = async (answers: string[]) => {
    const [state, count] = await nvim.lua<[string, number]>(
      `return { require("agent.chat").current().timeline.state, require("agent.approval").count() }`,
    );
    if (count > 0) {
      const yes = answers.shift()?.startsWith("allow") === true;
      await nvim.lua(yes ? `require("agent").approve()` : `require("agent").reject("as it was recorded")`);
    }
    return state === "idle" && count === 0;
  };
  for (const { prompt, script, answers } of recording.turns) {
    const left = [...answers];
    server.play(script + NO_ANSWER);
    await nvim.lua(`require("agent").send(...)`, prompt);
    await waitUntil(`the turn ${JSON.stringify(prompt.slice(0, 60))} to end`, () => settled(left), {
      timeout: TURN_MS,
    });
  }
  const lines = await nvim.lua<string[]>(
    `return vim.api.nvim_buf_get_lines(require("agent.chat").current().transcript.buffer, 0, -1, true)`,
  );
  print("The transcript", lines.join("\n"));
  print("What changed", await diffOf(project.root));
  const left = server.problems.length === 0 ? "none" : server.problems.join("\n");
  print("What the model's server would have refused", left);
  await nvim.quit();
}

async function diffOf(cwd: string): Promise<string> {
  await git(cwd, "add", "--intent-to-add", "--all");
  return await git(cwd, "-c", "core.safecrlf=false", "diff", "--no-color", "HEAD", "--", ".");
}

function print(title: string, text: string): void {
  console.log(`\n── ${title} ${"─".repeat(Math.max(0, 96 - title.length))}\n${text}`);
}

const [file] = Deno.args;
if (file === undefined) {
  console.error("Usage: deno task replay FILE. `:Agent session export FILE.replay` writes one.");
  Deno.exit(2);
}
try {
  const text = await Deno.readTextFile(file);
  const recording = readRecording(text);
  const env = await toolEnvironment(["nvim", "git", "bwrap"]);
  for (const [name, value] of Object.entries(env)) Deno.env.set(name, value);
  await replay(recording);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  Deno.exitCode = 1;
}
