/** Judges git commands that depend on settings or on where they write; the table has the rest. */
import { judgeUnpackInto } from "./files.ts";
import { has, readArguments, valuesOf } from "../../shared/getopt.ts";
import { argumentsOf } from "./programs.ts";
import type { Judge } from "./scene.ts";
import { judgeAs, type Judgement, READS, when, worst } from "./severity.ts";

const VALUED =
  "-m -F -o -x -b -B -X --message --file --author --date --branch --origin --config --template --depth --output --reference --onto";

/** The subcommand and its arguments. */
export function gitCommand(args: readonly string[]): readonly string[] {
  return argumentsOf("git", args, "operand").operands;
}

/** Settings with which git starts nothing; all others may. */
const PLAIN =
  /^(color\..*|column\..*|core\.(quotepath|autocrlf|safecrlf|abbrev|commentchar|filemode|ignorecase|longpaths|symlinks)|(user|author|committer)\.(name|email)|advice\..*|init\.defaultbranch|(commit|tag)\.gpgsign|diff\.(renames|renamelimit|algorithm|context|noprefix|mnemonicprefix|colormoved)|log\..*|status\..*|pull\.(rebase|ff)|push\.(default|autosetupremote)|merge\.(conflictstyle|ff|renames)|rebase\.(autosquash|autostash)|fetch\.(prune|parallel)|rerere\.enabled|blame\..*|grep\.\w+|i18n\..*|gc\.auto)(=|$)|^(core\.pager|pager\.\w+|core\.editor)=(cat|true|false|:|)$/i;

export const judgeGit: Judge = (args, scene) => {
  const global = argumentsOf("git", args, "operand");
  const [sub = "", ...rest] = global.operands;
  const invocation = readArguments(rest, VALUED);
  const [first = "", second = ""] = invocation.operands;
  const away = valuesOf(global, "-C").some((path) => /^([/~￼]|\.\.)/.test(path));
  return worst(
    ...[...valuesOf(global, "-c"), ...(sub === "clone" ? valuesOf(invocation, "-c --config") : [])].map((
      setting,
    ) => judgeSetting(setting, "look")),
    ...when(
      sub === "config" && second !== "" && !/^(get|list)$/.test(first),
      judgeSetting(first === "set" ? second : first, "git"),
    ),
    ...when(
      has(global, "--config-env --exec-path"),
      judgeAs("high", "runs git with other programs or settings"),
    ),
    ...when(
      away || has(global, "--git-dir --work-tree --bare"),
      judgeAs("medium", "obeys the settings of another repository", "look"),
    ),
    ...when(sub === "clone" && second !== "", ...judgeUnpackInto(second, scene)),
  );
};

/** @param setting "key=value" */
function judgeSetting(setting: string, level: "look" | "git"): Judgement {
  return PLAIN.test(setting)
    ? READS
    : judgeAs("high", `sets git's ${setting.replace(/=.*$/s, "")}, which may start a program`, level);
}
