/**
 * Attacks every promise of safety, and prints one line for each: `deno task attack`. The last line is
 * "attacks: N, held: N"; the exit code is 0 if all were held.
 */
import { FILES, SOME } from "./attack_list.ts";
import { PROJECT, toolEnvironment } from "./environment.ts";

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
