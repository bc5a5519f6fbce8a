/** Files of a project that never end, or never begin: the start waits for none of them. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { run } from "../../denops/agent/supervisor/system/run.ts";
import { type RunningAgent, startAgent } from "../support/agent.ts";
import { waitForChat } from "../support/chat.ts";
import { scratch } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";

/** What the plugin, Deno, git or ripgrep read by themselves when they find it. */
const SETTINGS = [
  ...[
    "AGENTS.md",
    "CLAUDE.md",
    ".agents/commands/x.md",
    ".agents/modes/x.md",
    ".gitignore",
    ".gitattributes",
  ],
  ...[
    ".gitmodules",
    ".ignore",
    ".rgignore",
    "deno.json",
    "deno.lock",
    "package.json",
    ".npmrc",
    ".editorconfig",
  ],
  ...["tsconfig.json", "node_modules", "src/.git", ".git/index", ".git/packed-refs", ".git/info/exclude"],
  ...[".git/info/attributes", ".git/refs/heads/main", ".git/logs/HEAD", ".git/objects/info/alternates"],
];

const MAKE = {
  "a pipe": (paths: readonly string[]) => void new Deno.Command("mkfifo", { args: [...paths] }).outputSync(),
  "a link to /dev/zero": (paths: readonly string[]) =>
    paths.forEach((path) => Deno.symlinkSync("/dev/zero", path)),
  "a text that is none of its kind": (paths: readonly string[]) =>
    paths.forEach((path) => Deno.writeTextFileSync(path, '{ "unstable": [\n')),
} as const;

const PLACES: readonly (readonly string[])[] = [
  [...SETTINGS, ".git/HEAD"],
  [...SETTINGS, ".git/config"],
  [...SETTINGS, ".git/commondir"],
  SETTINGS,
  [".git"],
];

async function replace({ project }: RunningAgent, kind: keyof typeof MAKE, places: readonly string[]) {
  const paths = places.map((place) => project.path(place));
  for (const path of paths) {
    await Deno.remove(path, { recursive: true }).catch(() => {});
    await Deno.mkdir(dirname(path), { recursive: true });
  }
  MAKE[kind](paths);
  for (const path of paths) assert.ok(Deno.lstatSync(path));
}

const CASES = (Object.keys(MAKE) as (keyof typeof MAKE)[])
  .flatMap((kind) => PLACES.flatMap((places) => ["auto", "off"].map((level) => ({ kind, places, level }))));

/** One of each kind, with other places; the second without bubblewrap. */
const SAMPLE = CASES.filter((_, at) => at % 13 === 0);

for (const { kind, places, level } of IS_FULL ? CASES : SAMPLE) {
  Deno.test(`the first answer does not wait: ${places.at(-1)} is ${kind}; sandbox = "${level}"`, async () => {
    await using agent = await startAgent({
      script: "say All done.",
      options: `sessions = { title = false }, sandbox = "${level}"`,
    });
    await replace(agent, kind, places);
    await agent.nvim.command("Agent Go");
    await waitForChat(agent.nvim, "All done.");
  });
}

Deno.test("a search ends, and says why, where ripgrep waits for a pipe", async () => {
  await using project = await scratch({ "a.txt": "one\n" }, { git: true });
  MAKE["a pipe"]([project.path(".ignore")]);
  const place = { root: project.root, roots: [project.root], sandboxed: false, longest: 500 };
  const { signal } = new AbortController();
  await assert.rejects(run("rg", ["one", "."], place, signal, () => true), {
    message: "ripgrep did not end in time",
  });
});
