/** git: what its table does not say, for it depends on settings, on where it is sent, and on what its options start. */
import { judgeClone } from "./files.ts";
import { has, readArguments, valuesOf } from "./options.ts";
import { judgeWrite, UNKNOWN } from "./places.ts";
import { judgeByTable } from "./programs.ts";
import type { Judge, Scene } from "./scene.ts";
import { judged, type Judgement, READS, worst } from "./severity.ts";

const GLOBAL =
  "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source";
const VALUED =
  "-m -F -o -x -b -B -X --message --file --author --date --upload-pack --receive-pack --exec --extcmd --branch --origin --config --template --depth --output --separate-git-dir --reference --onto";

/** Settings with which git does not start anything; all others may. */
const PLAIN_SETTINGS =
  /^(color\..*|column\..*|core\.(quotepath|autocrlf|safecrlf|abbrev|commentchar|filemode|ignorecase|longpaths|symlinks)|(user|author|committer)\.(name|email)|advice\..*|init\.defaultbranch|(commit|tag)\.gpgsign|diff\.(renames|renamelimit|algorithm|context|noprefix|mnemonicprefix|colormoved)|log\..*|status\..*|pull\.(rebase|ff)|push\.(default|autosetupremote)|merge\.(conflictstyle|ff|renames)|rebase\.(autosquash|autostash)|fetch\.(prune|parallel)|rerere\.enabled|blame\..*|grep\.\w+|i18n\..*|gc\.auto)$/i;
const NO_PAGER = /^(core\.pager|pager\.\w+|core\.editor)=(cat|true|false|:|)$/i;

export const judgeGit: Judge = (args, scene) => {
  const global = readArguments(args, GLOBAL, "operand");
  const [sub = "", ...rest] = global.operands;
  const given = readArguments(rest, /^(clone|ls-remote)$/.test(sub) ? `${VALUED} -u` : VALUED);
  const found = [judgeByTable("git", global.operands) ?? READS];
  for (const setting of valuesOf(global, "-c")) found.push(judgeSetting(setting, scene));
  if (has(global, "--config-env --exec-path")) {
    found.push(judged("high", "runs git with other programs or settings"));
  }
  if (
    has(global, "--git-dir --work-tree --bare") ||
    valuesOf(global, "-C").some((path) => /^([/~￼]|\.\.)/.test(path))
  ) {
    found.push(judged("medium", "obeys the settings of another repository", "look"));
  }
  if (sub.includes(UNKNOWN)) {
    found.push(judged("high", "runs a git command that is only known when it runs", "git"));
  }
  if (/^(checkout|switch)$/.test(sub) && discards(rest, given.operands)) {
    found.push(judged("high", "discards changes to files", "git"));
  }
  if (
    sub === "push" &&
    (has(given, "-f --force --force-with-lease --mirror --prune -d --delete") ||
      given.operands.some((one) => /^\+|^:./.test(one)))
  ) {
    found.unshift(judged("high", "overwrites or deletes published commits", "git", true));
  }
  if (sub === "clone") found.push(...judgeClone(given.operands, scene));
  if (sub === "config" && given.operands.length > 1) {
    found.push(...judgeConfig(given.operands, has(given, "--global --system"), scene));
  }
  for (const path of rest.flatMap((arg, at) => outputOf(arg, rest[at + 1]))) {
    found.push(judgeWrite(path, scene));
  }
  found.push(...judgeRunning(sub, rest, given, scene));
  return worst(...found.filter((one, at) => at > 0 || !quiet(sub, given.operands)), READS);
};

/** A plain setting of the repository is no reason to worry: what the table says of settings is too much. */
function quiet(sub: string, [first = "", second = ""]: readonly string[]): boolean {
  return sub === "config" && second !== "" && PLAIN_SETTINGS.test(first === "set" ? second : first);
}

function discards(rest: readonly string[], operands: readonly string[]): boolean {
  if (rest.includes("--")) return true;
  return !rest.some((arg) => /^-[bBtcC]/.test(arg)) &&
    operands.some((one) => /^\.{1,2}$|\/$|\*|\.[a-z]\w{0,4}$/i.test(one));
}

/** Whatever shows a difference has --output, and so do the commands that hand their options on: stash, reflog. */
function outputOf(arg: string, next: string | undefined): readonly string[] {
  const [option, value] = /^(--outp(?:ut?)?)(?:=(.*))?$/s.exec(arg)?.slice(1) ?? [];
  return option === undefined ? [] : [value ?? next ?? UNKNOWN];
}

/** @param setting "key=value"; a value that starts with "!" is a command, and many others are too */
function judgeSetting(setting: string, scene: Scene): Judgement {
  const [key = "", ...values] = setting.split("=");
  const value = values.join("=");
  if (NO_PAGER.test(setting) || PLAIN_SETTINGS.test(key)) return READS;
  if (/\s/.test(value)) scene.shell(value.replace(/^!/, ""));
  return judged("high", `sets git's ${key}, which may start a program`, "look");
}

function judgeConfig(operands: readonly string[], elsewhere: boolean, scene: Scene): readonly Judgement[] {
  const [key = "", value = ""] = operands[0] === "set" ? operands.slice(1) : operands;
  if (key === "get" || key === "list" || operands[0] === "get") return [];
  if (PLAIN_SETTINGS.test(key) && !elsewhere) {
    return [judged("medium", "changes the repository's settings", "git")];
  }
  if (/\s/.test(value)) scene.shell(value.replace(/^!/, ""));
  return [judged("high", `sets git's ${key}, which may start a program`, "git")];
}

/** Everything through which git starts another program by its arguments. */
function judgeRunning(
  sub: string,
  rest: readonly string[],
  given: ReturnType<typeof readArguments>,
  scene: Scene,
): readonly Judgement[] {
  const found: Judgement[] = [];
  const run = (text: string) => {
    scene.shell(text.replace(/^!/, ""));
    found.push(judged("high", "starts a program in git's name"));
  };
  const remote = /^(clone|fetch|pull|push|ls-remote|archive|fetch-pack|send-pack)$/.test(sub);
  const programs = remote ? "--upload-pack --receive-pack --exec" : "-x --exec --extcmd";
  for (const text of valuesOf(given, /^(clone|ls-remote)$/.test(sub) ? `${programs} -u` : programs)) {
    run(text);
  }
  for (const operand of given.operands) {
    const [, transport] = /^ext::(.*)$/s.exec(operand) ?? [];
    if (transport !== undefined) run(transport);
  }
  for (const setting of sub === "clone" ? valuesOf(given, "-c --config") : []) {
    found.push(judgeSetting(setting, scene));
  }
  const [first = "", ...words] = given.operands;
  if (sub === "submodule" && first === "foreach") run(words.join(" "));
  if (sub === "bisect" && first === "run") scene.run(rest.slice(rest.indexOf("run") + 1));
  if (sub === "filter-branch") { for (const text of rest.filter((arg) => !arg.startsWith("-"))) run(text); }
  return found;
}
