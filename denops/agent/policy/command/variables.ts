/** Variables that make programs run something else than what their command says. Pure. */
import { judged, type Judgement, READS } from "./severity.ts";

const HIJACKS =
  /^(PATH|LD_\w+|DYLD_\w+|BASH_ENV|ENV|PROMPT_COMMAND|PS4|IFS|BASH_FUNC\w*|BASH_LOADABLES_PATH)$/;
const STEERS =
  /^(\w*PAGER|\w*EDITOR|VISUAL|BROWSER|LESSOPEN|GIT_\w+|SSH_\w+|PYTHON(PATH|STARTUP|INSPECT|HOME)|PERL5\w+|RUBY(OPT|LIB)|NODE_(OPTIONS|PATH)|\w+_(OPTIONS|WRAPPER|COMMAND)|npm_config_\w+|MAKEFLAGS|GOFLAGS|RUSTFLAGS|RIPGREP_CONFIG_PATH|HOME|XDG_\w+)$/;

/** @param assignment "NAME=value" */
export function judgeVariable(assignment: string): Judgement {
  const [name = "", ...rest] = assignment.split("=");
  const value = rest.join("=");
  // To switch paging off is what careful callers do; one character of IFS is for read.
  if (/(PAGER|EDITOR)$/.test(name) && /^(cat|true|:)?$/.test(value)) return READS;
  if (/^GIT_(TERMINAL_PROMPT|OPTIONAL_LOCKS|AUTHOR_\w+|COMMITTER_\w+)$/.test(name)) return READS;
  if (name === "IFS" && !/\w/.test(value)) return READS;
  const severity = HIJACKS.test(name) ? "high" : STEERS.test(name) ? "medium" : "none";
  return severity === "none" ? READS : judged(severity, `sets ${name}, which other programs obey`, "look");
}
