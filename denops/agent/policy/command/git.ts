/** git: what its table does not say, for it depends on settings, on where it is sent, and on what its options start. */
import { judgeClone } from "./files.ts";
import { has, readArguments, valuesOf } from "./options.ts";
import { judgeWrite, UNKNOWN } from "./places.ts";
import { judgeByTable } from "./programs.ts";
import type { Judge } from "./scene.ts";
import { judged, type Judgement, READS, when, worst } from "./severity.ts";

const GLOBAL = "-C -c --git-dir --work-tree --namespace --exec-path --config-env --attr-source";
const VALUED =
  "-m -F -o -x -b -B -X --message --file --author --date --branch --origin --config --template --depth --output --reference --onto";

/** Settings with which git does not start anything; all others may. */
const PLAIN =
  /^(color\..*|column\..*|core\.(quotepath|autocrlf|safecrlf|abbrev|commentchar|filemode|ignorecase|longpaths|symlinks)|(user|author|committer)\.(name|email)|advice\..*|init\.defaultbranch|(commit|tag)\.gpgsign|diff\.(renames|renamelimit|algorithm|context|noprefix|mnemonicprefix|colormoved)|log\..*|status\..*|pull\.(rebase|ff)|push\.(default|autosetupremote)|merge\.(conflictstyle|ff|renames)|rebase\.(autosquash|autostash)|fetch\.(prune|parallel)|rerere\.enabled|blame\..*|grep\.\w+|i18n\..*|gc\.auto)(=|$)|^(core\.pager|pager\.\w+|core\.editor)=(cat|true|false|:|)$/i;
const PROGRAMS = /^--(upload-pack|receive-pack|exec|extcmd)(=|$)|^ext::/;

export const judgeGit: Judge = (args, scene) => {
  const global = readArguments(args, GLOBAL, "operand");
  const [sub = "", ...rest] = global.operands;
  const given = readArguments(rest, VALUED);
  const [first = "", second = "", ...more] = given.operands;
  const setting = first === "set" ? second : second === "" || /^(get|list)$/.test(first) ? "" : first;
  const harmless = sub === "config" && setting !== "" && PLAIN.test(setting) &&
    !has(given, "--global --system");
  const forced = has(given, "-f --force --force-with-lease --mirror --prune -d --delete") ||
    given.operands.some((one) => /^\+|^:./.test(one));
  const away = valuesOf(global, "-C").some((path) => /^([/~￼]|\.\.)/.test(path));
  return worst(
    ...when(sub === "push" && forced, judged("high", "overwrites or deletes published commits", "git", true)),
    harmless
      ? judged("medium", "changes the repository's settings", "git")
      : judgeByTable("git", global.operands) ?? READS,
    ...[...valuesOf(global, "-c"), ...(sub === "clone" ? valuesOf(given, "-c --config") : [])].map(
      judgeSetting,
    ),
    ...when(
      sub === "config" && setting !== "" && !harmless && !PLAIN.test(setting),
      setsProgram(setting, "git"),
    ),
    ...when(
      has(global, "--config-env --exec-path"),
      judged("high", "runs git with other programs or settings"),
    ),
    ...when(
      away || has(global, "--git-dir --work-tree --bare"),
      judged("medium", "obeys the settings of another repository", "look"),
    ),
    ...when(
      sub.includes(UNKNOWN),
      judged("high", "runs a git command that is only known when it runs", "git"),
    ),
    ...when(
      /^(checkout|switch)$/.test(sub) && discards(rest, given.operands),
      judged("high", "discards changes to files", "git"),
    ),
    ...when(rest.some((arg) => PROGRAMS.test(arg)), judged("high", "starts a program in git's name")),
    ...when(sub === "clone", ...judgeClone([first, second, ...more], scene)),
    ...rest.flatMap((arg, at) => outputOf(arg, rest[at + 1])).map((path) => judgeWrite(path, scene)),
  );
};

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

/** @param setting "key=value" */
function judgeSetting(setting: string): Judgement {
  return PLAIN.test(setting) ? READS : setsProgram(setting.replace(/=.*$/s, ""), "look");
}

function setsProgram(key: string, level: "look" | "git"): Judgement {
  return judged("high", `sets git's ${key}, which may start a program`, level);
}
