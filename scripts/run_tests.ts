/**
 * Runs the tests: `deno task test [file …]`. The last line is "N passed, N failed".
 * Tools that they need and the machine lacks are unpacked into `.deps`.
 */
import { PROJECT, toolEnvironment } from "./environment.ts";

const SUMMARY = /(\d+) passed[^|]*\| (\d+) failed(?: \| (\d+) ignored)?/;

async function runTests(files: readonly string[]): Promise<number> {
  const env = await toolEnvironment(["nvim", "git", "rg", "bwrap", "luacheck"]);
  const args = [
    "test",
    "--quiet",
    "-A",
    "--no-check",
    "--parallel",
    ...(files.length > 0 ? files : ["denops", "scripts", "tests"]),
  ];
  // Most of them wait for another process most of the time.
  const jobs = { DENO_JOBS: String(navigator.hardwareConcurrency + 1) };
  const command = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: PROJECT,
    env: { ...jobs, ...env },
    stdout: "piped",
  });
  const process = command.spawn();
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of process.stdout) {
    await Deno.stdout.write(bytes);
    text = (text + decoder.decode(bytes, { stream: true })).slice(-4_000);
  }
  const { code } = await process.status;
  // deno-lint-ignore no-control-regex -- colours
  const [, passed, failed, ignored] = SUMMARY.exec(text.replace(/\u001b\[\d+m/g, "")) ?? [];
  if (passed === undefined || failed === undefined) {
    console.log("0 passed, 1 failed");
    return code === 0 ? 1 : code;
  }
  console.log(`${passed} passed, ${failed} failed${ignored === undefined ? "" : `, ${ignored} skipped`}`);
  return code;
}

Deno.exit(await runTests(Deno.args));
