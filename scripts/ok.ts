/**
 * The one gate: `deno task ok`. Format, lint, types, Lua, architecture and all other tests. With `--full` also all of
 * what the tests sample: `deno task attack`, `crash` and `loss`.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { deno, PROJECT, toolEnvironment } from "./environment.ts";

/**
 * main.ts and standalone.ts name a type-only import from JSR, which is not reached everywhere: here it is read
 * from tests/types, in CI from JSR too.
 */
async function typeCheck(): Promise<number> {
  const { imports } = JSON.parse(await Deno.readTextFile(join(PROJECT, "deno.json")));
  const main = await Deno.readTextFile(join(PROJECT, "denops/agent/main.ts"));
  const [jsr] = /jsr:@denops\/std@[\d.]+/.exec(main) ?? [];
  if (jsr === undefined) throw new Error("main.ts names no version of jsr:@denops/std");
  imports[jsr] = pathToFileURL(join(PROJECT, "tests/types/denops.ts")).href;
  const map = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(map, JSON.stringify({ imports }));
    return await deno(["check", "--quiet", `--import-map=${map}`, "denops", "scripts", "tests"]);
  } finally {
    await Deno.remove(map);
  }
}

async function luaCheck(env: Record<string, string>): Promise<number> {
  const command = new Deno.Command("luacheck", {
    args: ["--quiet", "lua", "plugin", "tests", "scripts"],
    cwd: PROJECT,
    env,
  });
  return (await command.spawn().status).code;
}

function script(name: string, ...args: readonly string[]): Promise<number> {
  return deno(["run", "-A", "--quiet", `scripts/${name}`, ...args]);
}

const FULL: readonly [string, () => Promise<number>][] = [
  ["attack", () => script("attack.ts")],
  ["crash", () => script("crash.ts", "20")],
  ["loss", () => script("loss.ts", "100")],
];

const env = await toolEnvironment(["nvim", "git", "rg", "bwrap", "luacheck"]);
const steps: readonly [string, () => Promise<number>][] = [
  ["format", () => deno(["fmt", "--quiet", "--check"])],
  ["lint", () => deno(["lint", "--quiet"])],
  ["types", typeCheck],
  ["Lua", () => luaCheck(env)],
  ["tests", () => script("run_tests.ts")],
  ...Deno.args.includes("--full") ? FULL : [],
];
for (const [name, run] of steps) {
  console.log(`# ${name}`);
  if (await run() !== 0) {
    console.log(`ok: ${name} failed`);
    Deno.exit(1);
  }
}
console.log("ok: all good");
