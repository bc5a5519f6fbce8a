/** The variables that commands get: cleared but for what programs cannot do without. */
import { isInside } from "../../policy/path.ts";
import { type CommandAccess, type CommandLevel, hasNetwork, levelOf } from "../../protocol/commands.ts";
import { defined } from "../../shared/records.ts";
import { neovimEnvironment } from "./neovim_environment.ts";

const PASSED = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "GIT_CEILING_DIRECTORIES"];

const ALWAYS: Readonly<Record<string, string>> = {
  TERM: "dumb",
  NO_COLOR: "1",
  CI: "1",
  PAGER: "cat",
  GIT_PAGER: "cat",
  GIT_TERMINAL_PROMPT: "0",
  npm_config_update_notifier: "false",
};

/** What nobody wants to be asked about. */
const OVERLAID: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: "0",
  PYTHONDONTWRITEBYTECODE: "1",
  PYTEST_ADDOPTS: "-o cache_dir=/tmp/pytest-cache",
  RUFF_CACHE_DIR: "/tmp/ruff-cache",
};

/** Where nothing is kept the project's own is better: it is warm. */
const BESIDE: Readonly<Record<string, string>> = { MYPY_CACHE_DIR: "/tmp/mypy-cache" };

/** Where nothing of the project can be written, programs are told so: what they would write is of no use anyway. */
const LOOKING: Readonly<Record<string, string>> = {
  ...OVERLAID,
  ...BESIDE,
  PYTHONPYCACHEPREFIX: "/tmp/pycache",
  CARGO_TARGET_DIR: "/tmp/cargo-target",
  // Where the user gives commands a cache to write, looks may not write it.
  GOCACHE: "/tmp/go-build",
};

const QUIET: Readonly<Record<CommandLevel, Readonly<Record<string, string>>>> = {
  look: LOOKING,
  try: OVERLAID,
  write: { ...OVERLAID, ...BESIDE },
  git: {},
};

/** Where there is no network, it does not come by waiting for it: npm and pip would try for a minute. */
const OFFLINE: Readonly<Record<string, string>> = {
  npm_config_fetch_retries: "0",
  PIP_RETRIES: "0",
  CARGO_NET_RETRY: "0",
};

/**
 * @param more names of the user's choice
 * @param access undefined where nothing holds them
 * @param all Neovim's own environment
 */
export function commandEnvironment(
  more: readonly string[],
  access: CommandAccess | undefined,
  all: Readonly<Record<string, string>> = neovimEnvironment(),
): Record<string, string> {
  const env: Record<string, string> = {
    ...ALWAYS,
    ...(access === undefined ? {} : QUIET[levelOf(access)]),
    ...(access === undefined || hasNetwork(access) ? {} : OFFLINE),
  };
  for (const [name, value] of Object.entries(all)) {
    if (PASSED.includes(name) || more.includes(name) || name.startsWith("LC_")) env[name] = value;
  }
  // Programs speak English to the model, whose hints depend on it; all else is as the user has it.
  const { LC_ALL, ...rest } = env;
  const inEnglish = { ...rest, ...defined({ LANG: LC_ALL }), LC_MESSAGES: "C" };
  return { ...inEnglish, ...ownGitRepositoriesOnly(env.GIT_CONFIG_COUNT) };
}

/**
 * The files of a bare repository can be written into any folder, and its settings name programs for git to run:
 * git is to take none for a repository by itself.
 * @param before how many settings the user hands to git by variables already
 */
function ownGitRepositoriesOnly(before = "0"): Record<string, string> {
  const index = /^\d{1,4}$/.test(before) ? Number(before) : 0;
  return {
    GIT_CONFIG_COUNT: String(index + 1),
    [`GIT_CONFIG_KEY_${index}`]: "safe.bareRepository",
    [`GIT_CONFIG_VALUE_${index}`]: "explicit",
  };
}

/** The folders of a PATH that no tool can have written into: what the supervisor runs itself is looked for there. */
export function trustedPath(path: string, roots: readonly string[]): readonly string[] {
  return path.split(":").filter((folder) =>
    folder.startsWith("/") && !roots.some((root) => isInside(real(folder), root))
  );
}

function real(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch {
    return path;
  }
}
