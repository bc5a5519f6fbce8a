/** git: what each subcommand does, and the options and settings through which it starts other programs. */
import { type Arguments, find, has, names, readArguments, valuesOf } from "./options.ts";
import { judgeRead, judgeWrite, normalise, UNKNOWN } from "./places.ts";
import type { Judge, Scene } from "./scene.ts";
import { atLeast, HARMLESS, judged, type Judgement, type Severity, worst } from "./severity.ts";

const READS = names(
  "status log diff show blame annotate rev-parse rev-list ls-files ls-tree cat-file describe shortlog name-rev merge-base for-each-ref show-ref show-branch var version help whatchanged count-objects diff-tree diff-index diff-files cherry range-diff check-ignore check-attr check-mailmap check-ref-format verify-commit verify-tag verify-pack fsck grep get-tar-commit-id patch-id stripspace column interpret-trailers merge-tree fmt-merge-msg shell-prompt",
);

type Row = readonly [Severity, string];
/** What is not in here, and does not only read, is medium: it may be an alias. */
const CHANGES: Readonly<Record<string, Row>> = {
  push: ["high", "publishes commits"],
  "send-email": ["high", "sends mail"],
  "request-pull": ["medium", "asks another repository"],
  "filter-branch": ["high", "rewrites history"],
  "filter-repo": ["high", "rewrites history"],
  "replace": ["high", "rewrites history"],
  "update-ref": ["high", "moves branches"],
  "symbolic-ref": ["medium", "moves HEAD"],
  prune: ["high", "deletes unreachable commits"],
  clean: ["high", "deletes untracked files"],
  restore: ["high", "discards changes"],
  daemon: ["high", "serves the repository"],
  "http-backend": ["high", "serves the repository"],
  instaweb: ["high", "serves the repository"],
  p4: ["high", "talks to a server"],
  svn: ["high", "talks to a server"],
  "credential": ["high", "reads or writes passwords"],
  "credential-store": ["high", "reads or writes passwords"],
  commit: ["medium", "commits"],
  add: ["medium", "stages files"],
  clone: ["medium", "downloads a repository"],
  fetch: ["medium", "downloads commits"],
  pull: ["medium", "downloads and merges commits"],
  "ls-remote": ["medium", "asks another repository"],
  rm: ["medium", "deletes files"],
};
/** Where one of these is not known, all else that git does there may be another repository's doing. */
const FAR = /^([/~]|\.\.)/;
const NETWORK = names("push send-email clone fetch pull ls-remote request-pull daemon p4 svn instaweb");

/** Options of a subcommand that make it worse. */
const WORSE: readonly (readonly [commands: string, options: string, Severity, string])[] = [
  ["reset", "--hard --merge --keep", "high", "discards changes"],
  ["checkout", "-f --force --ours --theirs -p --patch --pathspec-from-file", "high", "discards changes"],
  ["checkout switch", "-B -C --force-create --orphan", "high", "moves a branch"],
  ["switch", "-f --force --discard-changes", "high", "discards changes"],
  ["branch", "-D -M -C -f --force", "high", "deletes or moves a branch"],
  ["tag", "-d --delete -f --force", "high", "deletes or moves a tag"],
  ["rm", "-r -f --force", "high", "deletes files"],
  ["worktree submodule", "-f --force", "high", "discards a work tree"],
  ["gc repack", "--prune --aggressive -a -A -d", "high", "deletes unreachable commits"],
  ["commit", "-n", "high", "goes around the hooks"],
  ["commit merge push am", "--no-verify", "high", "goes around the hooks"],
  ["rebase", "-x --exec -i --interactive", "high", "runs commands on each commit"],
  ["grep", "-O --open-files-in-pager", "high", "starts a pager"],
  ["difftool mergetool", "-x --extcmd -t --tool", "high", "starts a tool"],
  ["fetch pull", "-f --force --prune --prune-tags", "medium", "moves or deletes branches"],
  ["config", "--global --system --unset-all --remove-section", "high", "changes git's settings"],
  ["init clone", "--template", "high", "copies hooks"],
];

/** Settings with which git does not start anything; all others may. */
const PLAIN_SETTINGS =
  /^(color\..*|column\..*|core\.(quotepath|autocrlf|safecrlf|abbrev|commentchar|filemode|ignorecase|longpaths|symlinks|precomposeunicode|bare)|user\.(name|email)|author\.(name|email)|committer\.(name|email)|advice\..*|init\.defaultbranch|(commit|tag)\.gpgsign|diff\.(renames|renamelimit|algorithm|context|noprefix|mnemonicprefix|wserrorhighlight|colormoved|statgraphwidth)|log\.(date|decorate|showsignature|abbrevcommit|follow)|status\..*|pull\.(rebase|ff)|push\.(default|autosetupremote)|merge\.(conflictstyle|ff|renames)|rebase\.(autosquash|autostash)|fetch\.(prune|parallel)|rerere\.enabled|blame\..*|grep\.(linenumber|patterntype)|format\.pretty|i18n\..*|index\.threads|gc\.auto|maintenance\.auto)$/i;
const NO_PAGER = /^(core\.pager|pager\.\w+|core\.editor)=(cat|true|false|:|)$/i;

const GLOBAL_VALUED =
  "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source";
const SUB_VALUED =
  "-m -F -C -c -u -o -x -b -B -n -L -S -G -O -s -e -X -t -j -U --message --file --author --date --upload-pack --receive-pack --exec --extcmd --branch --origin --config --template --depth --output --format --sort --contains --merged --no-merged --points-at --separate-git-dir --reference --source --strategy --strategy-option --onto --grep --since --until --after --before";

const ANOTHER = judged("medium", "obeys the settings of another repository", { writes: true });

export const judgeGit: Judge = (args, scene) => {
  const global = readArguments(args, GLOBAL_VALUED, "operand");
  const [sub = "", ...rest] = global.operands;
  const given = readArguments(rest, SUB_VALUED);
  const found = [judgeGlobal(global, scene), judgeSub(sub, given, scene), judgeRunning(sub, given, scene)];
  if (sub.includes(UNKNOWN)) found.push(judged("high", "runs a git command that is only known when it runs"));
  const folder = valuesOf(global, "-C").reduce<string>(
    (at, one) => one.startsWith("/") ? one : `${at}/${one}`,
    ".",
  );
  const folders = scene.folders.map((one) => normalise(folder, one, scene.places));
  if (folders.some((one) => FAR.test(one) || one.includes(UNKNOWN))) found.push(ANOTHER);
  const network = NETWORK.has(sub) || sub === "submodule" ||
    (sub === "remote" && /^(show|update|prune)$/.test(given.operands[0] ?? ""));
  return { ...worst(...found), network: network || found.some((one) => one.network) };
};

function judgeGlobal(global: Arguments, scene: Scene): Judgement {
  const found: Judgement[] = [];
  for (const setting of valuesOf(global, "-c")) found.push(judgeSetting(setting, scene));
  if (has(global, "--config-env")) found.push(judged("high", "changes git's settings"));
  if (global.options.some(({ name, value }) => name === "--exec-path" && value !== undefined)) {
    found.push(judged("high", "runs git's programs from another folder", { writes: true }));
  }
  if (has(global, "--git-dir --work-tree --bare -p --paginate")) {
    found.push(ANOTHER);
  }
  return worst(...found);
}

/** @param setting "key=value"; a value that starts with "!" is a command, and many others are too */
function judgeSetting(setting: string, scene: Scene): Judgement {
  const equals = setting.indexOf("=");
  const key = equals < 0 ? setting : setting.slice(0, equals);
  const value = equals < 0 ? "" : setting.slice(equals + 1);
  if (NO_PAGER.test(setting) || PLAIN_SETTINGS.test(key)) return HARMLESS;
  if (value.trim() !== "" && !/^(true|false|\d+|https?:\S*)$/.test(value)) {
    scene.shell(value.replace(/^!/, ""));
  }
  return judged("high", `sets git's ${key}, which may start a program`, { writes: true });
}

function judgeSub(sub: string, given: Arguments, scene: Scene): Judgement {
  const found: Judgement[] = [];
  if (READS.has(sub)) found.push(judgeReader(sub, given));
  else found.push(listing(sub, given) ?? toRow(CHANGES[sub] ?? ["medium", "changes the repository"]));
  for (const [commands, options, severity, reason] of WORSE) {
    if (names(commands).has(sub) && has(given, options)) {
      found.push(judged(severity, reason, { writes: true }));
    }
  }
  const special = Object.hasOwn(SPECIAL, sub) ? SPECIAL[sub] : undefined;
  if (special !== undefined && !listing(sub, given)) found.push(special(given));
  // Whatever shows a difference has --output, and so do the commands that hand their options on: stash, reflog.
  const reads = READS.has(sub) || listing(sub, given) !== undefined;
  const outputs = reads ? outputsOf(given) : valuesOf(given, "-o --output --output-directory");
  for (const path of outputs) {
    const at = judgeWrite(path, scene.folders, scene.places);
    found.push(atLeast(at, reads ? "high" : "medium", "writes its output to a file"));
  }
  for (const path of given.operands) {
    const read = judgeRead(path.replace(/^[^:/]*:/, ""), scene.folders, scene.places);
    if (/^(show|diff|cat-file|blame|grep|add|archive|hash-object|apply)$/.test(sub)) found.push(read);
    // With a patch a log shows what is in the file.
    else if (reads && given.all.some((arg) => /^-[a-zA-Z]*[puSGL]|^--patch/.test(arg))) found.push(read);
  }
  return worst(...found);
}

/** The values of --output wherever it stands: what takes a value in one of git's commands is a flag in another. */
function outputsOf({ all }: Arguments): readonly string[] {
  return all.flatMap((arg, index) => {
    const [option, value] = /^(--outp(?:ut?)?)(?:=(.*))?$/s.exec(arg)?.slice(1) ?? [];
    return option === undefined ? [] : [value ?? all[index + 1] ?? UNKNOWN];
  });
}

function toRow([severity, reason]: Row): Judgement {
  return judged(severity, reason, { writes: severity !== "none" });
}

/** Takes its value from the next argument, be it `--`. */
const TAKES_NEXT = /^-[a-zA-Z]*[SGOLUe]$|^--(grep|author|committer|since|until|after|before)$/;

function judgeReader(sub: string, given: Arguments): Judgement {
  const starts = /^(--ext-d[a-z-]*|--textc[a-z]*|--open[a-z-]*)(=|$)/;
  if (given.all.some((arg) => starts.test(arg))) {
    return judged("high", "starts the programs that the repository names", { writes: true });
  }
  if (
    sub === "grep" && given.all.some((arg) => /^-[a-zA-NP-Z]*O/.test(arg) && !/^-[a-zA-Z]*[efmABC]/.test(arg))
  ) {
    return judged("high", "starts a pager", { writes: true });
  }
  const odd = Object.hasOwn(ODD, sub) ? ODD[sub] : undefined;
  if (odd !== undefined && given.all.some((arg) => odd.test(arg))) {
    return judged("medium", "does more than it shows", { writes: true });
  }
  // An argument that is not known may be --output.
  const unsure = given.all.some((arg, index) =>
    arg.startsWith(UNKNOWN) &&
    !given.all.slice(0, index).some((one, at, before) =>
      one === "--" && !TAKES_NEXT.test(before[at - 1] ?? "")
    )
  );
  return unsure
    ? judged("medium", "takes an option that is only known when it runs", { writes: true })
    : HARMLESS;
}

/** Options with which a reader writes, opens a browser or starts what the settings name. */
const ODD: Readonly<Record<string, RegExp>> = {
  help: /^(-[a-z]*[wi]|--(we|inf|m|c)[a-z-]*)$/,
  "cat-file": /^--(fi|batch-c)/,
  fsck: /^--los/,
  "interpret-trailers": /^--in-/,
  "merge-tree": /^--wr/,
  "fmt-merge-msg": /^--into/,
};

/** Forms of changing subcommands that only list. */
const LISTS: Readonly<Record<string, (given: Arguments) => boolean>> = {
  branch: (given) =>
    has(given, "-l --list --show-current --contains --no-contains --merged --no-merged --points-at") &&
      !has(given, "-d -D -m -M -c -C -f -u") ||
    given.operands.length === 0 &&
      given.options.every(({ name }) =>
        /^(-[avrqi]|--(all|remotes|verbose|color|no-color|column|no-column|sort|format|abbrev|ignore-case))$/
          .test(name)
      ),
  tag: (given) =>
    has(given, "-l --list -n --contains --no-contains --merged --points-at -v --verify") &&
      !has(given, "-d -f -a -s -m") ||
    given.operands.length === 0 &&
      given.options.every(({ name }) => /^--(sort|format|column|no-column|color|ignore-case)$/.test(name)),
  remote: (given) =>
    given.operands.length === 0 || given.operands[0] === "get-url" ||
    // Else it asks the other repository.
    (given.operands[0] === "show" && (given.operands.length === 1 || given.all.includes("-n"))),
  stash: (given) => /^(list|show)$/.test(given.operands[0] ?? ""),
  worktree: (given) => given.operands[0] === "list",
  submodule: (given) => given.operands.length === 0 || /^(status|summary)$/.test(given.operands[0] ?? ""),
  notes: (given) => given.operands.length === 0 || /^(list|show)$/.test(given.operands[0] ?? ""),
  reflog: (given) => !/^(expire|delete|drop|write)$/.test(given.operands[0] ?? ""),
  // view and visualize start gitk, or any git command.
  bisect: (given) => /^(log|terms)$/.test(given.operands[0] ?? ""),
  config: (given) =>
    has(given, "-l --list --get --get-all --get-regexp --get-urlmatch") ||
    /^(list|get)$/.test(given.operands[0] ?? "") ||
    (given.operands.length === 1 &&
      !has(given, "--unset --unset-all --remove-section --rename-section --add --replace-all -e --edit")),
  clean: (given) => has(given, "-n --dry-run") && !given.all.some((arg) => /^(--no-d|-i|--i)/.test(arg)),
  apply: (given) =>
    has(given, "--stat --numstat --summary --check") &&
    !has(given, "--apply --build-fake-ancestor --index --cached -3"),
  lfs: (given) => /^(ls-files|status|env|version)$/.test(given.operands[0] ?? ""),
  "sparse-checkout": (given) => given.operands[0] === "list",
  "symbolic-ref": (given) => given.operands.length === 1 && !has(given, "-d --delete -m"),
  "": () => true,
};

function listing(sub: string, given: Arguments): Judgement | undefined {
  const lists = Object.hasOwn(LISTS, sub) ? LISTS[sub] : undefined;
  return lists?.(given) === true ? judgeReader(sub, given) : undefined;
}

/** What the operands change. */
const SPECIAL: Readonly<Record<string, (given: Arguments) => Judgement>> = {
  push: (given) => {
    const forced = find(given, "-f --force --force-with-lease --mirror --prune -d --delete") !== undefined ||
      given.operands.some((operand) => /^\+|^:./.test(operand));
    return forced ? judged("high", "overwrites or deletes published commits") : HARMLESS;
  },
  checkout: (given) =>
    given.all.includes("--") ||
      given.operands.some((operand) =>
        /^\.{1,2}$|[/*]|\.\w+$/.test(operand) &&
        !/^(origin|upstream|feature|fix|release|hotfix|bugfix|chore|feat|docs|test|refactor|heads|tags|refs)\//
          .test(operand)
      )
      ? judged("high", "discards changes to files", { writes: true })
      : HARMLESS,
  restore: () => HARMLESS,
  stash: (given) =>
    /^(drop|clear)$/.test(given.operands[0] ?? "") ? judged("high", "deletes stashed changes") : HARMLESS,
  remote: (given) =>
    judged(
      /^(set-url|add|remove|rm|rename)$/.test(given.operands[0] ?? "") ? "high" : "medium",
      "changes where commits are sent",
    ),
  worktree: (given) =>
    given.operands[0] === "remove" ? judged("high", "deletes a work tree", { writes: true }) : HARMLESS,
  reflog: () => judged("high", "deletes the record of old commits"),
  config: (given) => {
    const [key = ""] = given.operands[0] === "set" ? given.operands.slice(1) : given.operands;
    return PLAIN_SETTINGS.test(key)
      ? judged("medium", "changes the repository's settings", { writes: true })
      : judged("high", `sets git's ${key}, which may start a program`, { writes: true });
  },
  lfs: (given) =>
    given.operands[0] === "push" ? judged("high", "publishes files", { network: true }) : HARMLESS,
};

/** Everything through which git starts another program by its arguments. */
function judgeRunning(sub: string, given: Arguments, scene: Scene): Judgement {
  const found: Judgement[] = [];
  const run = (text: string, reason: string) => {
    scene.shell(text.replace(/^!/, ""));
    found.push(judged("high", reason, { writes: true }));
  };
  const remote = /^(clone|fetch|pull|push|ls-remote|archive|fetch-pack|send-pack)$/.test(sub);
  const programs = remote
    ? [
      ...valuesOf(given, "--upload-pack --receive-pack --exec"),
      // Behind -u, which is a flag in fetch.
      ...given.all.flatMap((arg) =>
        /^--(?:up[a-z-]*|rec[a-z-]*-pack|receive-p|exec?)=(.*)$/s.exec(arg)?.[1] ?? []
      ),
    ]
    : valuesOf(given, "-x --exec --extcmd");
  for (const text of [...programs, ...(/^(clone|ls-remote)$/.test(sub) ? valuesOf(given, "-u") : [])]) {
    run(text, "starts a program in git's name");
  }
  for (const operand of given.operands) {
    const [, transport] = /^ext::(.*)$/s.exec(operand) ?? [];
    if (transport !== undefined) run(transport, "starts a program as a transport");
    if (/^-/.test(operand) && remote) found.push(judged("high", "hides an option"));
  }
  if (sub === "clone") {
    for (const setting of valuesOf(given, "-c --config")) found.push(judgeSetting(setting, scene));
  }
  if (sub === "config") {
    const value = given.operands.at(-1) ?? "";
    if (given.operands.length > 1 && !PLAIN_SETTINGS.test(given.operands[0] ?? "")) {
      scene.shell(value.replace(/^!/, ""));
    }
  }
  const [first = "", ...rest] = given.operands;
  if (sub === "submodule" && first === "foreach") run(rest.join(" "), "runs a command in each submodule");
  if (sub === "bisect" && first === "run") scene.run(given.all.slice(given.all.indexOf("run") + 1));
  if (sub === "filter-branch") {
    for (const text of given.all.filter((arg) => !arg.startsWith("-"))) scene.shell(text);
  }
  return worst(...found);
}
