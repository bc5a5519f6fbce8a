/** Builtins that change the shell itself: its options, and variables by other ways than `NAME=value`. Pure. */
import { UNKNOWN } from "./places.ts";
import type { Judge } from "./scene.ts";
import { HARMLESS, judged, type Judgement, worst } from "./severity.ts";
import { isGuarding, isSteering } from "./variables.ts";

const READS_OTHERWISE = judged("high", "changes how the shell reads what follows", { writes: true });

const LETTERS = /^[-+][abBeEfhmnTuvxCto]*$/;
const SETTINGS =
  /^(allexport|braceexpand|emacs|errexit|errtrace|functrace|hashall|interactive-comments|monitor|noclobber|noexec|noglob|nolog|notify|nounset|onecmd|pipefail|verbose|vi|xtrace)$/;
const SHELL_SETTINGS =
  /^(checkhash|checkjobs|checkwinsize|dotglob|expand_aliases|extglob|failglob|force_fignore|globasciiranges|globskipdots|globstar|inherit_errexit|lastpipe|nocaseglob|nocasematch|nullglob|xpg_echo)$/;

/** `set -k` makes variables of arguments, -H and -o history run lines again: only what is listed is harmless. */
export const judgeSet: Judge = (args) => {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "--" || arg === "-" || !/^[-+]/.test(arg)) {
      return arg.startsWith(UNKNOWN) ? READS_OTHERWISE : HARMLESS;
    }
    if (!LETTERS.test(arg)) return READS_OTHERWISE;
    if (arg.includes("o") && args[at + 1] !== undefined && !SETTINGS.test(args[++at] ?? "")) {
      return READS_OTHERWISE;
    }
  }
  return HARMLESS;
};

export const judgeShopt: Judge = (args) => {
  const changes = args.some((arg) => /^-\w*[su]/.test(arg));
  const known = args.every((arg) =>
    /^-[suqpo]*$/.test(arg) || SHELL_SETTINGS.test(arg) || SETTINGS.test(arg)
  );
  return !changes || known ? HARMLESS : READS_OTHERWISE;
};

/** Only the first argument may be an option. */
export const judgePrintf: Judge = ([first = ""]) =>
  first.startsWith("-v") || first.startsWith(UNKNOWN)
    ? judged("medium", "sets a variable", { writes: true })
    : HARMLESS;

const SETS_ITS_OPERANDS =
  /^(read|mapfile|readarray|getopts|let|wait|printf|unset|export|declare|typeset|local|readonly)$/;
const DECLARES = /^(export|declare|typeset|readonly|local)$/;
/** They evaluate the index of a name that they are given: `a[$(id)]`. */
const EVALUATES = /^(read|mapfile|readarray|wait|export|declare|typeset|local|readonly)$/;

/** `read -aPATH`, `printf -vPATH`: the name may stand right behind the letter. */
function hasGlued(target: string): boolean {
  const [letters = "", rest = ""] = /^-([A-Za-z]{1,4}?)([A-Z_][A-Z_\d]{2,})$/.exec(target)?.slice(1) ?? [];
  return letters !== "" && isSteering(rest);
}

/** What a builtin does to variables that other programs obey, or to those that it is only told when it runs. */
export function judgeNames(words: readonly string[]): Judgement {
  const [name = "", ...args] = words;
  const found: Judgement[] = [];
  if (
    (name === "test" || name === "[") &&
    args.some((arg, at) => arg.startsWith(UNKNOWN) && args[at - 1] === "-v")
  ) {
    found.push(judged("high", "asks for a variable whose name is only known when it runs", { writes: true }));
  }
  if (!SETS_ITS_OPERANDS.test(name)) return worst(...found);
  if (DECLARES.test(name) && name !== "export" && args.some((arg) => /^-\w*n/.test(arg))) {
    found.push(judged("high", "gives a variable another's name", { writes: true }));
  }
  const targets = name === "printf"
    ? args.filter((arg, at) => at < 2 && (args[0] === "-v" || /^-v./.test(arg)))
    : args;
  const hides = name === "export" && args.some((arg) => /^-\w*n/.test(arg)) ||
    DECLARES.test(name) && args.some((arg) => /^\+\w*x/.test(arg));
  for (const target of targets) {
    // Its own judge looks at a value.
    const [variable = ""] = /^[A-Za-z_]\w*(?![\w=+])/.exec(target) ?? [];
    // To export a variable does not give it another value, to take one away only matters for some.
    const sets = name === "unset" || hides
      ? isGuarding(variable)
      : !DECLARES.test(name) && variable !== "_" && isSteering(variable) || hasGlued(target);
    if (sets) found.push(judged("high", "sets a variable that other programs obey"));
    const unsure = target.startsWith(UNKNOWN) &&
      (EVALUATES.test(name) || name === "printf" || name === "unset");
    if (unsure) {
      found.push(judged("high", "sets a variable whose name is only known when it runs", { writes: true }));
    }
  }
  return worst(...found);
}
