/**
 * Runs the tests: `deno task test [file …]`. The last line is "N passed, N failed".
 * Tools that they need and the machine lacks are unpacked into `.deps`.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { PROJECT, toolEnvironment } from "./environment.ts";

const SUMMARY = /(\d+) passed[^|]*\| (\d+) failed(?: \| (\d+) ignored)?/;

/** Most of the tests wait for another process most of the time. */
const JOBS = navigator.hardwareConcurrency + 1;

/** Folders whose tests are all short. */
const SHORT = ["denops", "scripts", "tests/model"].map((folder) => join(PROJECT, folder));

/**
 * To load what short tests need takes longer than most of them take: a few workers load it for all of them, by modules
 * in `folder` that import them.
 */
async function gathered(folder: string): Promise<readonly string[]> {
  const tests = (await Promise.all(SHORT.map(testsIn))).flat();
  const parts = Array.from({ length: JOBS }, (_, part) => tests.filter((_, at) => at % JOBS === part));
  return await Promise.all(parts.map(async (part, at) => {
    const path = join(folder, `unit_${at + 1}_test.ts`);
    await Deno.writeTextFile(path, part.map((test) => `import "${pathToFileURL(test)}";\n`).join(""));
    return path;
  }));
}

async function testsIn(folder: string): Promise<readonly string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return (await Promise.all(entries.map(async ({ name, isDirectory }) => {
    const path = join(folder, name);
    return isDirectory ? await testsIn(path) : name.endsWith("_test.ts") ? [path] : [];
  }))).flat().sort();
}

async function runTests(files: readonly string[]): Promise<number> {
  const env = await toolEnvironment(["nvim", "git", "rg", "bwrap", "luacheck"]);
  const args = [
    "test",
    "--quiet",
    "-A",
    "--no-check",
    "--parallel",
    ...files,
  ];
  const command = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: PROJECT,
    env: { DENO_JOBS: String(JOBS), ...env },
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

async function runAll(): Promise<number> {
  const folder = await Deno.makeTempDir({ prefix: "agent-tests-" });
  try {
    const others = (await testsIn(join(PROJECT, "tests"))).filter((test) =>
      !SHORT.some((short) => test.startsWith(`${short}/`))
    );
    return await runTests([...await gathered(folder), ...others]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.exit(Deno.args.length > 0 ? await runTests(Deno.args) : await runAll());
