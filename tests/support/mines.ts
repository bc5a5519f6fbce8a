/**
 * Mines for scratch repositories: every program that git's settings, hooks and attributes can name leaves a mark if it
 * runs outside a command's sandbox. A test fails when its repository is removed with a mark.
 */
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";

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
  "direnv",
  "gpg",
  "less",
  "ssh",
];

/** Variables whose program git starts. */
const GIT_PROGRAMS = [
  ...["GIT_EXTERNAL_DIFF", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_PROXY_COMMAND", "GIT_ASKPASS", "SSH_ASKPASS"],
  ...["GIT_EDITOR", "GIT_SEQUENCE_EDITOR", "GIT_PAGER"],
];

/** For the Neovim of a test: variables that leave a mark if a git or a ripgrep of ours gets them. */
export function minedEnvironment(root: string): Readonly<Record<string, string>> {
  return {
    PATH: `${MINED_PATH}:${Deno.env.get("PATH")}`,
    ...Object.fromEntries(GIT_PROGRAMS.map((name) => [name, programOf(root)])),
    GIT_TRACE: markOf(root),
    RIPGREP_CONFIG_PATH: join(root, ".ripgreprc"),
  };
}

function programOf(root: string): string {
  return join(root, ".git", "mine");
}

function markOf(root: string): string {
  return join(MARKS, basename(root));
}

/** Files at the root that some program obeys, with the text of each. `PROGRAM` is a program that leaves a mark. */
const SETTINGS: Readonly<Record<string, string>> = {
  ".gitmodules": '[submodule "mine"]\n\tpath = mine\n\turl = ext::PROGRAM\n',
  ".nvim.lua": 'vim.fn.system({ "PROGRAM" })\n',
  ".exrc": "call system('PROGRAM')\n",
  ".vscode/settings.json": '{ "git.path": "PROGRAM", "deno.path": "PROGRAM", "eslint.runtime": "PROGRAM" }\n',
  ".helix/languages.toml": '[language-server.mine]\ncommand = "PROGRAM"\n',
  ".neoconf.json": '{ "lspconfig": { "clangd": { "cmd": ["PROGRAM"] } } }\n',
  ".luarc.json": '{ "runtime.plugin": "PROGRAM" }\n',
  ".clangd": "CompileFlags:\n  Compiler: PROGRAM\n",
  ".ripgreprc": "--pre=PROGRAM\n",
};
/** At the root too, for what starts a program by its name in the project's folder. */
const AT_ROOT = ["git", "rg", "node", "deno"];
/** All that a repository's own ignore file hides. */
export const IGNORED_MINES = [MINED_PATH, ...AT_ROOT, ...Object.keys(SETTINGS)];

/** Mines that have a file to themselves. */
export const MINES: readonly string[] = [
  ".git/mine",
  ...HOOKS.map((name) => `.git/hooks/${name}`),
  ...PROGRAMS.map((name) => `${MINED_PATH}/${name}`),
  ...AT_ROOT,
  ...Object.keys(SETTINGS),
];

/** Sets the mines that are missing. @param root a repository whose first commit is made */
export function mine(root: string): void {
  const [program, mark] = [programOf(root), markOf(root)];
  // What it is given goes through, so that git works on.
  const script = `#!/bin/sh\n{ echo "$0 $*" >> '${mark}'; } 2>/dev/null\n`;
  const write = (path: string, text: string) => Deno.writeTextFileSync(join(root, path), text);
  const writeProgram = (path: string, text: string) => {
    if (existsSync(join(root, path))) return;
    write(path, `${script}${text}`);
    Deno.chmodSync(join(root, path), 0o755);
  };
  const makeFolder = (path: string) => Deno.mkdirSync(join(root, path), { recursive: true });
  [".git/hooks", ".git/info", MINED_PATH].forEach(makeFolder);
  writeProgram(".git/mine", 'case "$1" in -|"") exec cat;; *) exec cat -- "$1";; esac\n');
  for (const name of HOOKS) writeProgram(`.git/hooks/${name}`, "exit 0\n");
  // The next one of the name in the PATH does the work.
  for (const name of PROGRAMS) {
    writeProgram(`${MINED_PATH}/${name}`, 'PATH="${PATH#*:}" exec "${0##*/}" "$@"\n');
  }
  for (const name of AT_ROOT) {
    if (!existsSync(join(root, name))) Deno.symlinkSync(`${MINED_PATH}/${name}`, join(root, name));
  }
  for (const [path, text] of Object.entries(SETTINGS)) {
    // A test may have one of its own.
    if (existsSync(join(root, path))) continue;
    makeFolder(dirname(path));
    write(path, text.replaceAll("PROGRAM", program));
  }
  const lines = ["node_modules/", ...IGNORED_MINES].map((path) => `/${path}\n`);
  write(".git/info/exclude", lines.join(""));
  write(".git/info/attributes", "* filter=mine diff=mine merge=mine\n");
  write(".git/mine.inc", `[core]\n\tsshCommand = ${program}\n`);
  Deno.writeTextFileSync(join(root, ".git/config"), settings(program), { append: true });
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
  const text = await Deno.readTextFile(markOf(root)).catch(() => "");
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
  // No second process after a commit.
  ["maintenance.auto", "false"],
]);

function guards(settings: readonly (readonly [string, string])[]): Record<string, string> {
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  for (const [at, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${at}`] = key;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  }
  return env;
}
