/**
 * Mines for scratch repositories: every program that git's settings, hooks and attributes can name leaves a mark if it
 * runs outside a command's sandbox. A test fails when its repository is removed with a mark.
 */
import { basename, join } from "node:path";

/** Where marks go: no sandbox shows this folder. */
const MARKS = await Deno.makeTempDir({ prefix: "agent-marks-" });
globalThis.addEventListener("unload", () => Deno.removeSync(MARKS, { recursive: true }));

const HOOKS = [
  ...[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-checkout",
    "post-commit",
    "post-index-change",
  ],
  ...[
    "post-merge",
    "post-rewrite",
    "pre-auto-gc",
    "pre-commit",
    "pre-push",
    "prepare-commit-msg",
    "proc-receive",
  ],
  ...["reference-transaction", "sendemail-validate", "update"],
];

/** First in the PATH of the Neovim of a test: what is started from there is a program of the repository. */
export const MINED_PATH = "node_modules/.bin";
/** For tests whose user has chosen language servers: Neovim starts these by the user's PATH. */
export const USERS_PATH = { PATH: Deno.env.get("PATH") ?? "" };
const PROGRAMS = [
  "git",
  "rg",
  "deno",
  "node",
  "npm",
  "sh",
  "bash",
  "bwrap",
  "nice",
  "true",
  "cp",
  "env",
  "prettier",
];

/** Sets the mines. @param root a repository whose first commit is made */
export async function mine(root: string): Promise<void> {
  const program = join(root, ".git", "mine");
  const mark = join(MARKS, basename(root));
  // What it is given goes through, so that git works on.
  const script = `#!/bin/sh\n{ echo "$0 $*" >> '${mark}'; } 2>/dev/null\n`;
  await Deno.writeTextFile(program, `${script}case "$1" in -|"") exec cat;; *) exec cat -- "$1";; esac\n`);
  await Deno.chmod(program, 0o755);
  await Deno.mkdir(join(root, ".git", "hooks"), { recursive: true });
  for (const name of HOOKS) {
    const path = join(root, ".git", "hooks", name);
    await Deno.writeTextFile(path, `${script}exit 0\n`);
    await Deno.chmod(path, 0o755);
  }
  await Deno.mkdir(join(root, MINED_PATH), { recursive: true });
  for (const name of PROGRAMS) {
    const path = join(root, MINED_PATH, name);
    // The next one of the name in the PATH does the work.
    await Deno.writeTextFile(path, `${script}PATH="\${PATH#*:}" exec "\${0##*/}" "$@"\n`);
    await Deno.chmod(path, 0o755);
  }
  await Deno.mkdir(join(root, ".git", "info"), { recursive: true });
  await Deno.writeTextFile(join(root, ".git/info/exclude"), "/node_modules/\n");
  await Deno.writeTextFile(join(root, ".git/info/attributes"), "* filter=mine diff=mine merge=mine\n");
  await Deno.writeTextFile(join(root, ".git/mine.inc"), `[core]\n\tsshCommand = ${program}\n`);
  await Deno.writeTextFile(join(root, ".git/config"), settings(program), { append: true });
}

function settings(program: string): string {
  return `[filter "mine"]
	clean = ${program}
	smudge = ${program}
[diff "mine"]
	textconv = ${program}
[merge "mine"]
	driver = ${program} %A
[core]
	fsmonitor = ${program}
	askPass = ${program}
	editor = ${program}
	pager = ${program}
[credential]
	helper = ${program}
[gpg]
	program = ${program}
[log]
	showSignature = true
[pager]
	log = ${program}
	diff = ${program}
	status = ${program}
[protocol "ext"]
	allow = always
[includeIf "gitdir:**"]
	path = mine.inc
`;
}

/** @throws {Error} with what ran, a line each */
export async function assertNoMarks(root: string): Promise<void> {
  const text = await Deno.readTextFile(join(MARKS, basename(root))).catch(() => "");
  if (text !== "") throw new Error(`A program of the repository ran:\n${text}`);
}

/** For git of a test: it steps on no mine. */
export const GUARDS: Readonly<Record<string, string>> = guards([
  ["core.fsmonitor", "false"],
  ["core.hooksPath", "/dev/null"],
  ["core.attributesFile", "/dev/null"],
  ["core.pager", "cat"],
  ["log.showSignature", "false"],
  ...["clean", "smudge"].map((name) => [`filter.mine.${name}`, "cat"] as const),
  ["diff.mine.textconv", "cat"],
  ["merge.mine.driver", "git merge-file %A %O %B"],
]);

function guards(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [at, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${at}`] = key;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  }
  return env;
}
