/** Judges one simple command: a special judge if it has one, otherwise the table of programs. */
import { judgeCopy, judgeCurl, judgeFind, judgeMode, judgeRemove, judgeUnpack } from "./files.ts";
import { gitCommand, judgeGit } from "./git.ts";
import { judgeRead, judgeWrite, UNKNOWN } from "./places.ts";
import { asksVersion, filesWritten, judgeByTable } from "./programs.ts";
import { RUNNER } from "./risky.ts";
import type { Judge, Scene } from "./scene.ts";
import { interpreterOf, judgeInterpreter, judgeShell, SHELLS } from "./shells.ts";
import { judgeAs, type Judgement, READS, worst } from "./severity.ts";
import { unwrap } from "./wrappers.ts";

const JUDGES = new Map<string, Judge>(
  ([
    ...SHELLS,
    ["rm rmdir unlink shred trash srm wipe", judgeRemove],
    ["cp mv install ln link gcp gmv rsync", judgeCopy],
    ["chmod chown chgrp", judgeMode],
    ["find gfind fd fdfind", judgeFind],
    ["tar gtar bsdtar unzip", judgeUnpack],
    ["git", judgeGit],
    ["curl wget", judgeCurl],
  ] as const).flatMap(([names, judge]) => names.split(" ").map((name) => [name, judge] as const)),
);

/** Programs that download text: piped into a shell, it runs unseen. */
const DOWNLOADS =
  /^(curl|wget|nc|ncat|socat|ssh|sftp|https?|xhs?|aria2c|axel|lynx|w3m|l?ftp|telnet|aws|gsutil)$/;
/** Programs that decode text: piped into a shell, they hide commands. */
const DECODERS =
  /^(base64|base32|basenc|uudecode|xxd|openssl|gunzip|zcat|bzcat|xzcat|bunzip2|gpg|rev|tr|uncompress|zstdcat)$/;

/** Programs that list files without reading them. */
const NAMES_ONLY =
  /^(ls|dir|test|\[|stat|basename|dirname|realpath|readlink|echo|printf|touch|mkdir|cd|pushd|du|df|find|fd|which|type|:|true|false|rm|rmdir|unlink|chmod|chown|mv|export|declare|local|readonly|typeset|set|curl|wget)$/;

/** The folders in which a program with a known name is that program, including those of package managers. */
const TRUSTED =
  /^[^/]+$|^(\/usr\/local|\/usr|\/opt\/homebrew|\/opt\/local)?\/s?bin\/[^/]+$|^(\.\/)?(node_modules\/\.bin|\.?venv\/bin)\/[^/]+$/;

/** The guesses for a command whose name is unknown before the line runs. */
const SUSPECTS = ["rm", "sh", "dd", "chmod", "chown", "mv", "tee"];
/** Programs that are also judged among another program's arguments: `unknown-wrapper rm -rf /`. */
const TELLING =
  /^(rm|sh|dd|chmod|chown|mv|tee|mkfs.*|shred|bash|zsh|sudo|curl|wget|python3?|perl|node|find|git|kill|shutdown|reboot|truncate|eval|xargs|env|nc)$/;
const MOST_TELLING = 4;
const MOST_SUSPECTED = 200;

/** Whether a command starts others: those in its words, or those in its input. */
export type Starts = "nothing" | "words" | "input";

export function judgeWords(
  words: readonly string[],
  scene: Scene,
): { readonly judgement: Judgement; readonly starts: Starts } {
  const [path = "", ...rest] = words;
  // `tar xf` is `tar -xf`.
  const tar = /(^|\/)(g|bsd)?tar$/.test(path);
  const args = rest.map((arg, at) => tar && at === 0 ? arg.replace(/^(?=\w+$)/, "-") : arg);
  if (path.includes(UNKNOWN) || /[*?]|\[.+\]/.test(path)) {
    return { judgement: judgeUnknownName(args, scene), starts: "words" };
  }
  const base = path.slice(path.lastIndexOf("/") + 1);
  // Some file systems ignore case: there, RM is rm.
  const small = base.toLowerCase().replace(/\.exe$/, "");
  const name = JUDGES.has(small) ? small : base;
  if (DECODERS.test(name)) scene.note("decodes");
  if (DOWNLOADS.test(name)) scene.note("downloads");
  const wrapped = TRUSTED.test(path) && !asksVersion(name, args) ? unwrap([name, ...args], scene) : undefined;
  const found = wrapped ??
    (TRUSTED.test(path) ? judgeProgram(name, args, scene) : judgeFile(path, name, args, scene));
  const paths = NAMES_ONLY.test(name) ? [] : args.filter((arg) => !arg.startsWith("-") || arg.includes("="));
  const reads = paths.flatMap((arg) => arg.split(/[=:@,]/)).map((part) => judgeRead(part, scene));
  return { judgement: worst(found, ...reads), starts: startsWhat(name, args, wrapped !== undefined) };
}

/** A shell or an interpreter without a script file runs its input. */
function startsWhat(name: string, args: readonly string[], wraps: boolean): Starts {
  if (/^(g?xargs|parallel|at|batch)$/.test(name)) return "input";
  const shell = JUDGES.get(name) === judgeShell;
  if (!shell && interpreterOf(name) === undefined || asksVersion(name, args)) {
    return wraps && !RUNNER.test([name, ...args.slice(0, 2)].join(" ")) ? "words" : "nothing";
  }
  if (
    !args.some((arg) => /^[^-]/.test(arg)) || args.includes("-") ||
    (shell && args.some((arg) => /^-\w*s/.test(arg)))
  ) return "input";
  return shell && args.some((arg) => /^-\w*c/.test(arg)) ? "words" : "nothing";
}

/** These programs start what some of their arguments say. */
const GIVEN = /^(git|tar|gtar|bsdtar|rsync)$/;
/** Messages and searches of git are not commands. */
const MESSAGES = /^(commit|tag|notes|stash|merge|log|grep|show|diff)$/;

function judgeProgram(name: string, args: readonly string[], scene: Scene): Judgement {
  if (asksVersion(name, args)) return READS;
  const words = name === "git" ? gitCommand(args) : args;
  const listed = judgeByTable(name, words, scene.input);
  const code = interpreterOf(name);
  const [first = ""] = args;
  if (code !== undefined && (listed === undefined || !/^[a-z]+$/.test(first) || /^(run|eval)$/.test(first))) {
    return judgeInterpreter(args, scene, name);
  }
  if (name === "at" || name === "batch") scene.note("runs unknown text");
  const judge = JUDGES.get(name);
  const url = args.some((arg) => /^(https?|ftp|ssh|git):\/\/|^git@/.test(arg));
  const unknown = judgeAs("medium", `runs ${name || "something"}, an unknown program`, "try", url);
  const files = filesWritten(name, words);
  if (name !== "mkdir") { for (const path of files) scene.made(path); }
  const found = worst(
    listed ?? (judge === undefined && files.length === 0 ? unknown : READS),
    ...files.map((path) => judgeWrite(path, scene)),
    judge?.(args, scene, name) ?? READS,
  );
  const mayStartOthers = judge === undefined ? found.severity !== "none" : GIVEN.test(name);
  return mayStartOthers ? worst(found, lookInside(args, scene)) : found;
}

/** `./ls` need not be ls; but `./gradlew test` runs tests, as its name says. */
function judgeFile(path: string, name: string, args: readonly string[], scene: Scene): Judgement {
  const tests = /^(gradlew|mvnw|manage\.py)$/.test(name) ? judgeByTable(name, args) : undefined;
  const found = scene.runs(path);
  return found.severity === "medium" && tests !== undefined ? tests : worst(found, lookInside(args, scene));
}

/** Arguments may contain another command's words, or text for a shell, in ways that no table lists. */
function lookInside(args: readonly string[], scene: Scene): Judgement {
  if (MESSAGES.test(args[0] ?? "")) return READS;
  const inside = args.flatMap((arg, index): readonly (string | readonly string[])[] => {
    if (TELLING.test(arg.slice(arg.lastIndexOf("/") + 1))) return [args.slice(index, index + MOST_SUSPECTED)];
    const text = /\s/.test(arg) && /[$`;|&>!]|\b(rm|mkfs|dd|sh|bash)\b/.test(arg);
    return text ? [arg.replace(/^\S*=!?|^:?\w*\s?!/, "")] : [];
  });
  const found = inside.slice(0, MOST_TELLING).map((one) => ({ one, severity: scene.suppose(one) }));
  if (found.some(({ severity }) => severity === "critical")) {
    return judgeAs("critical", "may run a destructive command");
  }
  const high = found.some(({ one, severity }) => severity === "high" && typeof one !== "string");
  return high ? judgeAs("high", "may run another command") : READS;
}

function judgeUnknownName(args: readonly string[], scene: Scene): Judgement {
  scene.note("runs unknown text");
  const some = args.slice(0, MOST_SUSPECTED);
  // The name may also be empty.
  const guesses = [...SUSPECTS.map((name) => [name, ...some]), SUSPECTS.includes(some[0] ?? "") ? some : []];
  const suspected = guesses.some((words) => scene.suppose(words) === "critical");
  return suspected
    ? judgeAs("critical", "hides a program that its arguments make destructive")
    : judgeAs("high", "runs a program known only at run time");
}
