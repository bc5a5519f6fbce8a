/** The environment of commands: empty except for what programs need. */
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

/** Settings that prevent programs from asking questions. */
const OVERLAID: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: "0",
  PYTHONDONTWRITEBYTECODE: "1",
  PYTEST_ADDOPTS: "-o cache_dir=/tmp/pytest-cache",
  RUFF_CACHE_DIR: "/tmp/ruff-cache",
};

/**
 * Caches for commands whose writes are dropped. Otherwise the project's own cache is better, because it is
 * warm.
 */
const BESIDE: Readonly<Record<string, string>> = { MYPY_CACHE_DIR: "/tmp/mypy-cache" };

/** Settings for commands that cannot write to the project, whose caches would be useless. */
const LOOKING: Readonly<Record<string, string>> = {
  ...OVERLAID,
  ...BESIDE,
  PYTHONPYCACHEPREFIX: "/tmp/pycache",
  CARGO_TARGET_DIR: "/tmp/cargo-target",
  // Even if the user lets commands write a cache, read-only commands may not.
  GOCACHE: "/tmp/go-build",
};

const QUIET: Readonly<Record<CommandLevel, Readonly<Record<string, string>>>> = {
  look: LOOKING,
  try: OVERLAID,
  write: { ...OVERLAID, ...BESIDE },
  git: {},
};

/** Settings for commands without network: npm and pip would retry for a minute. */
const OFFLINE: Readonly<Record<string, string>> = {
  npm_config_fetch_retries: "0",
  PIP_RETRIES: "0",
  CARGO_NET_RETRY: "0",
};

const HOST_VARIABLES: ReadonlySet<string> = new Set([
  ...PASSED,
  ...[ALWAYS, LOOKING, OFFLINE].flatMap((variables) => Object.keys(variables)),
  "NODE_USE_ENV_PROXY",
]);
/** Their names are not listed: locale, git's settings below, temporary and cache folders, proxies. */
const HOST_NAMES =
  /^(LC_\w+|GIT_CONFIG_(COUNT|(KEY|VALUE)_\d+)|TMPDIR|TEMP|TMP|XDG_\w+|SHELL|(\w+_proxy|\w+_PROXY))$/;

/** Whether a variable of commands is the supervisor's at any level, so that no command sets it for later ones. */
export function isHostVariable(name: string): boolean {
  return HOST_VARIABLES.has(name) || HOST_NAMES.test(name);
}

/**
 * @param more names of further variables, from the user's options
 * @param access undefined without a sandbox
 * @param all Neovim's environment
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
  // Programs use English, because hints for the model depend on it; other locale settings stay.
  const { LC_ALL, ...rest } = env;
  const inEnglish = { ...rest, ...defined({ LANG: LC_ALL }), LC_MESSAGES: "C" };
  return { ...inEnglish, ...ownGitRepositoriesOnly(env.GIT_CONFIG_COUNT) };
}

/**
 * Any folder can contain the files of a bare repository, whose settings can name programs for git to run.
 * These settings stop git from using one that it was not pointed to.
 * @param before number of settings that the user already passes to git in variables
 */
function ownGitRepositoriesOnly(before = "0"): Record<string, string> {
  const index = /^\d{1,4}$/.test(before) ? Number(before) : 0;
  return {
    GIT_CONFIG_COUNT: String(index + 1),
    [`GIT_CONFIG_KEY_${index}`]: "safe.bareRepository",
    [`GIT_CONFIG_VALUE_${index}`]: "explicit",
  };
}

/**
 * The folders of a PATH that no tool can have written to. The supervisor searches only these for its own
 * programs.
 */
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
