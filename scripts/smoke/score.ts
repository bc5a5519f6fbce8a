/** Whether a task was done: its check runs on the project with no permission but to read it. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { SmokeTask } from "./tasks.ts";

const CHECK_MS = 30_000;

/** @param root the project @param scratch a folder for the check's module @returns why it failed; undefined if it was done */
export async function problemOf(
  task: SmokeTask,
  root: string,
  scratch: string,
  transcript: string,
): Promise<string | undefined> {
  const { files, check, answer, same = [] } = task;
  for (const name of same === "all" ? Object.keys(files) : same) {
    const text = await Deno.readTextFile(join(root, name)).catch(() => undefined);
    if (text !== files[name]) return `${name} was changed`;
  }
  if (same === "all") {
    const names = await namesIn(root);
    const added = names.find((name) => files[name] === undefined);
    if (added !== undefined) return `${added} was added`;
  }
  if (answer !== undefined && !answer.test(transcript)) return `the answer does not say ${answer}`;
  return check === undefined ? undefined : await failureOf(check, root, scratch);
}

async function namesIn(root: string, folder = ""): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(root, folder))) {
    if (name === ".git") continue;
    names.push(...isDirectory ? await namesIn(root, `${folder}${name}/`) : [folder + name]);
  }
  return names;
}

/** The code is a model's: it may read the project, and nothing else. */
async function failureOf(check: string, root: string, scratch: string): Promise<string | undefined> {
  const module = join(scratch, "check.js");
  await Deno.writeTextFile(
    module,
    `import assert from "node:assert/strict";
const root = ${JSON.stringify(pathToFileURL(`${root}/`).href)};
const load = (path) => import(root + path);
const read = (path) => {
  try {
    return Deno.readTextFileSync(new URL(root + path));
  } catch {
    return undefined;
  }
};
${check}
`,
  );
  const flags = ["--quiet", "--no-config", "--no-lock", "--no-remote", "--no-npm", "--no-prompt"];
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", ...flags, `--allow-read=${root}`, module],
    ...{ cwd: scratch, stdin: "null", stdout: "null", stderr: "piped" },
    signal: AbortSignal.timeout(CHECK_MS),
  }).output();
  if (success) return undefined;
  // deno-lint-ignore no-control-regex
  const lines = new TextDecoder().decode(stderr).replace(/\x1b\[[0-9;]*m/g, "").split("\n");
  const line = lines.find((line) => /Error|error/.test(line)) ?? lines[0] ?? "";
  return line.replace(/^(?:error: )?(?:Uncaught )?(?:\(in promise\) )?/, "").trim();
}
