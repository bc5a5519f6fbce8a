/** Hints for known failures of commands: one line that the model can act on. Pure. */

import {
  type CommandAccess,
  commandAccess,
  type CommandLevel,
  hasNetwork,
  levelOf,
} from "../../../protocol/commands.ts";

interface Hint {
  readonly pattern: RegExp;
  /** At this level only. */
  readonly level?: CommandLevel;
  /** Over an overlay only. */
  readonly rehearsed?: true;
  hint(
    match: RegExpExecArray,
    access: CommandAccess | undefined,
    output: string,
    hosts: readonly string[],
  ): string;
}

/** Messages of programs about read-only places, and git's about its own folder. */
const READ_ONLY = /EROFS|[Rr]ead-only file ?system|attempt to write a readonly database/;
/** Download folders of package managers, which commands can read but not write. */
const DOWNLOADS =
  /\/\.(?:cargo|rustup|m2|gradle|nuget|gem|rbenv|rvm|pyenv|cabal|ghcup|opam|julia|mix|hex|bun|deno|nvm|volta|asdf|sdkman|cache\/[\w-]+|local\/(?:lib|share\/[\w-]+))\b|\/go\/pkg\/mod\b/;
const REPOSITORY = /(?:\.git\b[^\n]*|index\.lock[^\n]*|cannot lock ref[^\n]*)[Rr]ead-only file ?system/;

const SILENT = /\bgit\b[^\n;&|]*\bstash\b/;

const HINTS: readonly Hint[] = [
  {
    // rename(2) of an overlay's lower folder fails; the messages of Node, Python, Go, C and Rust.
    rehearsed: true,
    pattern: /EXDEV|[Ii]nvalid cross-device link|cross-device/,
    hint: (_, access) => {
      const wanted = access !== undefined && levelOf(access) === "try"
        ? `access ${commandAccess("write", hasNetwork(access))} and direct: true if the change is to stay`
        : "direct: true";
      return `folders of the project cannot be renamed in a rehearsal; call it again with ${wanted}`;
    },
  },
  {
    rehearsed: true,
    pattern: /Value too large for defined data type|EOVERFLOW/,
    hint: () =>
      "files of another owner or group cannot be changed in a rehearsal; direct: true works on the files themselves",
  },
  {
    rehearsed: true,
    pattern: /No space left on device|ENOSPC/,
    hint: () => "what a rehearsal may write has a limit; direct: true works on the files themselves",
  },
  {
    pattern: /Cannot find (?:module|package) '([^']+)'|Module not found: .*'([^']+)'/,
    hint: ([, a, b]) =>
      `the module ${a ?? b} is not installed or its path is wrong; look at the manifest first`,
  },
  {
    pattern: /ModuleNotFoundError: No module named '([^']+)'/,
    hint: ([, name]) => `the Python module ${name} is not installed`,
  },
  {
    pattern: /(?:npm error|npm ERR!) Missing script: "?([\w:-]+)/,
    hint: ([, name]) => `package.json has no script ${name}; read it for those there are`,
  },
  { pattern: /error: no such command: `?([\w-]+)/, hint: ([, name]) => `cargo has no command ${name}` },
  {
    pattern: /EADDRINUSE.*?:(\d+)|[Aa]ddress already in use/,
    hint: ([, port]) =>
      `the port ${port ?? ""} is in use; choose another one or stop what holds it`.replace("  ", " "),
  },
  {
    pattern: /docker(?: daemon|\.sock)|podman\.sock|Cannot connect to Podman/,
    hint: () => "containers are out of reach of commands; ask the user to run this line",
  },
  {
    pattern: /\bptrace\b|PTRACE_|ptrace: Operation not permitted/,
    hint: () => "no command may trace another program: strace, gdb and the like do not work here",
  },
  {
    pattern: /Segmentation fault|Bad system call/,
    hint: () => "the program crashed; a 32-bit one cannot run here",
  },
  {
    pattern: /EACCES|[Pp]ermission denied|Operation not permitted/,
    hint: () =>
      "permission denied; commands may write inside the project only, and do not see files of secrets",
  },
  {
    pattern: /cannot use bare repository/,
    hint: () => "git obeys a bare repository only if it is named: git --git-dir=FOLDER …",
  },
  {
    // Mounts cannot be replaced.
    pattern:
      /(?:could not (?:write|lock) config file|\.git\/)[^\n]*: Device or resource busy|could not create directory of '[^'\n]*\/worktrees\//,
    hint: () =>
      "git's settings, hooks and other work trees are closed to commands (git config, git remote add, git submodule " +
      "update, git worktree); ask the user to run this line",
  },
  {
    pattern: /TS5033[^\n]*\.tsbuildinfo/,
    hint: () => "tsc --noEmit --incremental false checks without writing",
  },
  {
    // npm, cmake and javac report no details.
    level: "look",
    pattern: /ENOENT[^\n]*, mkdir '|Unable to \(re\)create the private|could not create parent directories/,
    hint: (_, access) => `nothing can be written with access look; ${againToWrite(access)}`,
  },
  {
    pattern: READ_ONLY,
    hint: (_, access, output) => {
      const [downloads] = DOWNLOADS.exec(output) ?? [];
      if (downloads !== undefined) {
        return `~${downloads} is read-only for commands; the user can add it to the option shell.write`;
      }
      const again = againAtMore(access, output);
      return again === undefined
        ? "the place is read-only; commands may write inside the project and /tmp only"
        : `with access ${access} it could not write there; ${again}`;
    },
  },
  {
    pattern:
      /ENOTFOUND|EAI_AGAIN|Could not resolve host|Temporary failure in name resolution|[Nn]etwork is unreachable|getaddrinfo|dns error/,
    hint: (_, access, __, hosts) => {
      if (hosts.length > 0) {
        return `rules open these hosts only, to programs that use the proxy of HTTP_PROXY: ${
          hosts.join(", ")
        }`;
      }
      const wanted = access === undefined ? "look+network" : commandAccess(levelOf(access), true);
      return `commands have no network; call it again with access ${wanted} to ask the user for it`;
    },
  },
  {
    pattern: /CONFLICT \(|Automatic merge failed|needs merge/,
    hint: () => "there are merge conflicts; read the files that git names and resolve the marks",
  },
  {
    // OpenAI's models take it for a program.
    pattern: /\bapply_patch: (?:command )?not found/,
    hint: () => "apply_patch is no program here: give the patch to the tool for edits",
  },
  {
    pattern: /(?:^|\n)(?:\/bin\/)?(?:ba|da|z)?sh: (?:line )?\d*:? ?([\w./-]+): (?:command )?not found/,
    hint: ([, name]) => `${name} is not installed or not on the PATH`,
  },
  { pattern: /fatal: not a git repository/, hint: () => "the folder is not in a git repository" },
  {
    pattern:
      /\bcd: (?:can't cd to ([^\n]+)|no such file or directory: ([^\n]+)|([^\n]+?): (?:No such file|Not a directory))/,
    hint: ([, a, b, c]) =>
      `no folder ${a ?? b ?? c} where this command started; a command starts where the last one ended`,
  },
  {
    pattern:
      /No such file or directory: '?([^'\n]+)|can't open file '([^']+)'|['‘"]([^'’"\n]+)['’"](?: for reading)?: No such file|([^\s:'"‘’]+): No such file/,
    hint: ([, a, b, c, d]) => `${a ?? b ?? c ?? d} does not exist; list the folder first`,
  },
  { pattern: /ENOENT.*?'([^']+)'/, hint: ([, name]) => `${name} does not exist` },
  {
    pattern: /make: \*\*\* No rule to make target '([^']+)'/,
    hint: ([, name]) => `the Makefile has no target ${name}`,
  },
  // The first failure of a test run, with its location.
  {
    pattern: /(?:FAIL|FAILED|✕|✗|not ok|● ).*?([\w./-]+\.\w+:\d+)/,
    hint: ([, place]) => `the first failure is at ${place}`,
  },
  {
    pattern: /File "([^"]+)", line (\d+)[\s\S]*?\n(\w*Error\b[^\n]*)/,
    hint: ([, file, line, error]) => `${error} at ${file}:${line}`,
  },
  { pattern: /--> ([\w./-]+:\d+):\d+/, hint: ([, place]) => `the first error is at ${place}` },
  {
    pattern: /([\w./-]+\.[cm]?[jt]sx?)[:(](\d+)[:,]\d+\)?:? (?:- )?error/,
    hint: ([, file, line]) => `the first error is at ${file}:${line}`,
  },
];

/**
 * Undefined without a known failure.
 * @param access what the command could change @param failed if false, only failed writes count @param line the command
 * @param rehearsed it ran over an overlay @param hosts that it could reach without the network
 */
export function hintFor(
  output: string,
  access?: CommandAccess,
  failed = true,
  line = "",
  rehearsed = false,
  hosts: readonly string[] = [],
): string | undefined {
  if (failed && output === "" && access !== undefined && levelOf(access) !== "git" && SILENT.test(line)) {
    return `[hint] git stash says nothing where it cannot write .git; call it again with access ${
      commandAccess("git", hasNetwork(access))
    } if it has to`;
  }
  const hints = failed ? HINTS : HINTS.filter(({ pattern }) => pattern === READ_ONLY);
  for (const { pattern, level, hint, ...only } of hints) {
    if (only.rehearsed === true && !rehearsed) continue;
    if (level !== undefined && (access === undefined || levelOf(access) !== level)) continue;
    const match = pattern.exec(output);
    if (match !== null) return `[hint] ${hint(match, access, output, hosts)}`;
  }
  return undefined;
}

/** The next level that would allow it; undefined without one. */
function againAtMore(access: CommandAccess | undefined, output: string): string | undefined {
  if (access === undefined || levelOf(access) === "git") return undefined;
  if (REPOSITORY.test(output)) {
    return `call it again with access ${commandAccess("git", hasNetwork(access))} if it has to`;
  }
  return levelOf(access) === "look" ? againToWrite(access) : undefined;
}

function againToWrite(access: CommandAccess | undefined): string {
  const network = access !== undefined && hasNetwork(access);
  const [write, toTry] = [commandAccess("write", network), commandAccess("try", network)];
  return `call it again with access ${write} if the change is to stay, else with access ${toTry}`;
}
