/** Variables, by what programs make of them. Pure. */
import { HARMLESS, judged, type Judgement } from "./severity.ts";

/** Variables that make programs run something else than what their command says. By families, as programs have them. */
const STEERING = new RegExp(
  `^(${
    [
      "PATH|LD_\\w+|DYLD_\\w+|GCONV_PATH|LOCPATH|NLSPATH|MALLOC_\\w+|GLIBC_\\w+|HOSTALIASES|LOCALDOMAIN|RES_OPTIONS|MAGIC|DEBUGINFOD_\\w+",
      "BASH_ENV|ENV|SHELLOPTS|BASHOPTS|BASH_(FUNC|LOADABLES|COMPAT|XTRACEFD).*|PS[0-4]|PROMPT_COMMAND|IFS|CDPATH|GLOBIGNORE|EXECIGNORE|FPATH|ZDOTDIR|INPUTRC|HIST(FILE|CMD)\\w*|SHELL|POSIXLY_CORRECT|HOME|XDG_\\w+|TMPDIR|_",
      "BROWSER|\\w*PAGER|\\w*EDITOR|VISUAL|LESS\\w*|MORE|MAN(PAGER|OPT|ROFFOPT|PATH)|GROFF_\\w+|TERMINFO\\w*|TERMCAP|TERMPATH|BAT_\\w+|DELTA_\\w+|FZF_\\w+|RIPGREP_\\w+|ACK\\w*RC|ACK_OPTIONS|GREP_OPTIONS|AWK\\w*PATH|SYSTEMD_\\w+",
      "GIT_\\w+|SSH_\\w+|SUDO_\\w+|GPG_\\w+|GNUPGHOME|RSYNC_\\w+|CVS_\\w+|SVN_\\w+|HG\\w*",
      "PYTHON\\w+|PIP_\\w+|UV_\\w+|PYTEST_\\w+|VIRTUAL_ENV|CONDA_\\w+|POETRY_\\w+|PDM_\\w+",
      "PERL5?(LIB|OPT|DB|SHELL)|PERL_\\w+|PERLLIB|RUBY(OPT|LIB|SHELL)|GEM_\\w+|BUNDLE_\\w+|RAKEOPT|LUA_\\w+|PHP_\\w+|PHPRC|R_\\w+|JULIA_\\w+|ERL_\\w+|ELIXIR_\\w+|GUILE_\\w+",
      "NODE_(OPTIONS|PATH|REPL_\\w+|EXTRA_\\w+)|NPM_CONFIG_\\w+|npm_config_\\w+|YARN_\\w+|PNPM_\\w+|COREPACK_\\w+|DENO_\\w+|BUN_\\w+",
      "JAVA_(TOOL_OPTIONS|OPTS|HOME)|_JAVA_OPTIONS|JDK_\\w+|CLASSPATH|MAVEN_\\w+|MVN_\\w+|GRADLE_\\w+|ANT_\\w+|SBT_\\w+|DOTNET_\\w+|COMPOSER\\w*|MIX_\\w+",
      "GO(FLAGS|PROXY|ENV|ROOT|PATH|BIN|TOOLCHAIN|VCS|PRIVATE|NOSUMDB|SUMDB|INSECURE|CACHE|CACHEPROG)|CGO_\\w+|CC|CXX|LD|AR|GCC_EXEC_PREFIX|COMPILER_PATH|RUSTC\\w*|RUSTDOC\\w*|RUSTUP_\\w+|RUST(DOC)?FLAGS|CARGO_\\w+|MAKEFLAGS|MAKEFILES|GNUMAKEFLAGS|CMAKE_\\w+",
      "TAR_OPTIONS|GZIP|ZSTD_\\w+|XZ_\\w+|ZIPOPT|UNZIP\\w*|HTTPS?_PROXY|https?_proxy|ALL_PROXY|all_proxy|CURL_\\w+|WGETRC|OPENSSL_\\w+|SSL_\\w+",
      "DOCKER_\\w+|CONTAINERS_\\w+|KUBE\\w+|HELM_\\w+|TF_\\w+|ANSIBLE_\\w+|AWS_\\w+|PG\\w+|PSQLRC|MYSQL_\\w+|SQLITE_\\w+|GH_\\w+|VIMINIT|VIM\\w*|EXINIT|NVIM_\\w+|MYVIMRC",
    ].join("|")
  })$`,
);

/** Variables that change no more than how output looks. */
const PLAIN =
  /^(LANG|LANGUAGE|LC_\w+|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|COLORTERM|CI|RUST_BACKTRACE|RUST_LOG|LOG_LEVEL|NODE_ENV|PYTHONDONTWRITEBYTECODE|PYTHONUNBUFFERED|DEBIAN_FRONTEND|SYSTEMD_COLORS|DOCKER_BUILDKIT)$/;

export function isPlainVariable(name: string): boolean {
  return PLAIN.test(name);
}

export function isSteering(name: string): boolean {
  return STEERING.test(name) && !PLAIN.test(name);
}

/** Variables whose absence steers as well: without those of git it obeys a repository that lies in any folder. */
export function isGuarding(name: string): boolean {
  return /^(PATH|GIT_CONFIG_\w+)$/.test(name);
}

/** @param assignment "NAME=value" */
export function judgeAssignment(assignment: string): Judgement {
  const [, name = "", value = ""] = /^([A-Za-z_]\w*)(?:\[.*?\])?\+?=(.*)$/s.exec(assignment) ?? [];
  if (name === "" || isSteering(name)) {
    // To switch paging off is what careful callers do.
    if (/^\w*(PAGER|EDITOR)$/.test(name) && /^(cat|true|:)?$/.test(value)) return HARMLESS;
    if (name === "GIT_TERMINAL_PROMPT" || name === "GIT_OPTIONAL_LOCKS") return HARMLESS;
    return judged("high", `sets ${name === "" ? "a variable" : name}, which other programs obey`);
  }
  // Arithmetic runs the substitutions in an index, even of a variable's value.
  if (/\[.*(\$\(|`)/s.test(value)) return judged("high", "hides a command in an index");
  return HARMLESS;
}
