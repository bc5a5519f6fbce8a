/**
 * Attacks every promise of safety, and prints one line for each: `deno task attack`. The last line is
 * "attacks: N, held: N"; the exit code is 0 if all were held.
 */
import { PROJECT, toolEnvironment } from "./environment.ts";

/** Tests whose every case is an attack. */
const FILES = [
  "denops/agent/policy",
  "tests/safety/path_attack_test.ts",
  "tests/safety/hostile_engine_test.ts",
  "tests/safety/hostile_survivor_test.ts",
  "tests/safety/hostile_questions_test.ts",
  "tests/safety/hostile_approval_test.ts",
  "tests/safety/hostile_flood_test.ts",
  "tests/editor/lsp_start_test.ts",
  "denops/agent/supervisor/system/links_test.ts",
  "tests/approval/approval_race_test.ts",
  "tests/commands/command_attack_test.ts",
  "tests/commands/command_kernel_attack_test.ts",
  "tests/commands/look_attack_test.ts",
  "denops/agent/supervisor/commands",
  "tests/commands/command_traps_test.ts",
  "tests/safety/gate_attack_test.ts",
  "tests/safety/effects_attack_test.ts",
  "tests/safety/effects_rows_test.ts",
  "tests/safety/look_up_test.ts",
  "tests/safety/link_race_test.ts",
  "tests/safety/second_attack_test.ts",
  "tests/safety/endless_files_test.ts",
  "tests/safety/login_attack_test.ts",
  "tests/safety/gate_modes_test.ts",
  "tests/sessions/replay_test.ts",
  "tests/commands/credentials_test.ts",
  "denops/agent/engine/acp/export/secrets_test.ts",
  "denops/agent/engine/checkpoint/ignored_test.ts",
  "tests/commands/rehearsal_attack_test.ts",
  "tests/commands/git_traps_attack_test.ts",
  "tests/safety/read_rules_test.ts",
  "tests/safety/sensitive_test.ts",
  "tests/sessions/sessions_sandbox_test.ts",
];

/** Files with attacks among their tests, and words of the names of those. */
const SOME: Readonly<Record<string, readonly string[]>> = {
  "tests/safety/search_attack_test.ts": ["stays in the project"],
  "tests/commands/command_test.ts": ["the environment holds no key", "without a sandbox each command asks"],
  "tests/sessions/checkpoint_test.ts": ["links that a command has made"],
  "tests/editor/lsp_safety_test.ts": ["may not be read", "what a rule asks about"],
  "tests/editor/lsp_editor_test.ts": ["edits outside of the project"],
  "denops/agent/engine/checkpoint/restore/restorer_test.ts": ["that has become a link"],
  "denops/agent/supervisor/branches/git_test.ts": [
    "that somebody has put there",
    "programs do not run",
    "no missing commit",
    "as a hook",
  ],
  "denops/agent/engine/checkpoint/hold_back_test.ts": ["in turn", "went on writing"],
  "tests/chat/given_test.ts": ["calls a prompt"],
  "denops/agent/supervisor/branches/worktrees_test.ts": ["no program of the repository"],
  "denops/agent/supervisor/system/one_file_test.ts": ["a pipe"],
};

interface Count {
  readonly count: number;
  readonly held: number;
  readonly code: number;
}

async function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Count> {
  const all = ["test", "--quiet", "-A", "--no-check", "--reporter=tap", ...args];
  const process = new Deno.Command(Deno.execPath(), {
    args: all,
    cwd: PROJECT,
    env: { ...env },
    stdout: "piped",
  }).spawn();
  let count = 0;
  let held = 0;
  let rest = "";
  const take = (line: string) => {
    // A test with steps is its steps: those are indented, and numbered anew.
    const [, verdict, name, skipped] = /^\s*(ok|not ok) \d+ - (.*?)( # SKIP.*)?$/.exec(line) ?? [];
    if (verdict === undefined || name === undefined || skipped !== undefined) return;
    count += 1;
    if (verdict === "ok") held += 1;
    console.log(`${verdict === "ok" ? "held  " : "BROKEN"}  ${name}`);
  };
  const decoder = new TextDecoder();
  for await (const bytes of process.stdout) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    lines.forEach(take);
  }
  take(rest);
  const { code } = await process.status;
  return { count, held, code };
}

async function attack(): Promise<number> {
  const tools = await toolEnvironment(["nvim", "git", "rg", "bwrap"]);
  const env = { ...tools, AGENT_TEST_FULL: "1" };
  const words = Object.values(SOME).flat().join("|");
  const runs = [await run(FILES, env), await run([`--filter=/${words}/`, ...Object.keys(SOME)], env)];
  const sum = (of: (one: Count) => number) => runs.reduce((all, one) => all + of(one), 0);
  console.log(`attacks: ${sum((one) => one.count)}, held: ${sum((one) => one.held)}`);
  return runs.every(({ count, held, code }) => count > 0 && held === count && code === 0) ? 0 : 1;
}

Deno.exit(await attack());
