/**
 * Attacks every promise of safety, and prints one line for each: `deno task attack`. The last line is
 * "attacks: N, held: N"; the exit code is 0 if all were held.
 */
import { PROJECT, toolEnvironment } from "./environment.ts";

/** Tests whose every case is an attack. */
const FILES = [
  "denops/agent/policy",
  "tests/path_attack_test.ts",
  "tests/hostile_engine_test.ts",
  "tests/hostile_survivor_test.ts",
  "tests/hostile_questions_test.ts",
  "tests/approval_race_test.ts",
  "tests/command_attack_test.ts",
  "tests/gate_attack_test.ts",
];

async function attack(): Promise<number> {
  const env = await toolEnvironment(["nvim", "git", "rg", "bwrap"]);
  const args = ["test", "--quiet", "-A", "--no-check", "--reporter=tap", ...FILES];
  const process = new Deno.Command(Deno.execPath(), { args, cwd: PROJECT, env, stdout: "piped" }).spawn();
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
  console.log(`attacks: ${count}, held: ${held}`);
  return count > 0 && held === count ? code : 1;
}

Deno.exit(await attack());
