/** Programs that write, move, delete, fetch or change files. */
import { has, readArguments, valuesOf } from "./options.ts";
import { judgeDelete, judgeRead, judgeWrite, UNKNOWN } from "./places.ts";
import type { Judge, Scene } from "./scene.ts";
import { judged, type Judgement, READS, when, worst } from "./severity.ts";

const CHANGES = judged("medium", "changes files");

/** rm, rmdir, unlink, shred, trash. */
export const judgeRemove: Judge = (args, scene, name) => {
  const given = readArguments(args, "-n -s --iterations --size --random-source");
  // Options that are only known when it runs may be -rf.
  const unsure = given.operands.some((path) => path.startsWith(UNKNOWN)) && given.operands.length > 1;
  const recursive = name === "rm" && (has(given, "-r -R --recursive") || unsure);
  return worst(
    CHANGES,
    ...given.operands.map((path) => judgeDelete(path, recursive, scene)),
    ...when(has(given, "--no-preserve-root"), judged("critical", "gives up the protection of /")),
    ...when(name === "shred", judged("high", "destroys files beyond recovery")),
    ...when(recursive && given.operands.length === 0, judged("high", "deletes a folder")),
  );
};

/** cp, mv, install, ln: the last operand, or that of -t, is where they write. */
export const judgeCopy: Judge = (args, scene, name) => {
  const given = readArguments(args, "-t -S -m -o -g --target-directory --suffix --mode --owner --group");
  const [into] = valuesOf(given, "-t --target-directory");
  const target = into ?? given.operands.at(-1) ?? UNKNOWN;
  const sources = into === undefined ? given.operands.slice(0, -1) : given.operands;
  scene.made(target, false);
  return worst(
    judgeWrite(target, scene),
    ...sources.flatMap((source) => {
      const file = source.replace(/\/+$/, "").split("/").at(-1) ?? "";
      const away = judgeDelete(source, true, scene);
      return [
        judgeRead(source, scene),
        // `cp .bashrc ~` writes ~/.bashrc; into "." a file keeps its place.
        ...when(/^[^*?[￼]+$/.test(file) && !/^\.?\/?$/.test(target), judgeWrite(`${target}/${file}`, scene)),
        ...when(name === "mv", away.severity === "critical" ? away : judged("medium", "moves a file away")),
        // Whoever writes through the link writes there.
        ...when(name === "ln", judgeWrite(source, scene)),
      ];
    }),
    ...when(name === "mv" && /^\/dev\//.test(target), judged("critical", "moves files into a device")),
  );
};

/** Programs whose operands are files that they write: tee, touch, mkdir, truncate, sponge. */
export const judgeWriters: Judge = (args, scene, name) => {
  const { operands } = readArguments(args, "-m -t -d -r -s --mode --date --reference --size");
  if (name !== "mkdir") { for (const path of operands) scene.made(path, scene.input.kind === "unknown"); }
  const found = worst(...operands.map((path) => judgeWrite(path, scene)));
  return worst(...when(found.level !== "look", CHANGES), found);
};

export const judgeDd: Judge = (args, scene) =>
  worst(
    CHANGES,
    ...args.filter((arg) => arg.startsWith("of=")).map((arg) => judgeWrite(arg.slice(3), scene)),
  );

/** chmod, chown, chgrp. */
export const judgeMode: Judge = (args, scene, name) => {
  const given = readArguments(args.filter((arg) => !/^-[rwxXst]+$/.test(arg)), "--reference --from");
  const [mode = "", ...files] = given.operands;
  const wide = /^0?\d?\d[2367]$|(^|,)[ugo]*[oa][ugoa]*[+=]\w*w|^[+=]\w*w/.test(mode);
  return worst(
    name === "chmod" ? CHANGES : judged("high", "changes who owns files"),
    ...when(name === "chmod" && wide, judged("high", "lets everybody write")),
    ...when(
      /^0?[2467]\d{3}$|^[ugoa]*[+=][rwxXt]*s/.test(mode),
      judged("high", "gives a program its owner's rights"),
    ),
    ...files.map((path) => {
      // The project itself is not meant here, only what lies around it.
      const whole = has(given, "-R --recursive") && !/^(\.\/?)?\*?$/.test(path) &&
        judgeDelete(path, true, scene).severity === "critical";
      return whole ? judged("critical", "changes the rights of all files there") : judgeWrite(path, scene);
    }),
  );
};

/** kill, pkill, killall. */
export const judgeKill: Judge = (args, _scene, name) => {
  if (/^(-0|-l|-L|--list)$/.test(args[0] ?? "") && args.length <= 2) return READS;
  const signal = args.findIndex((arg) => /^-(s|n|-signal)$/.test(arg)) + 1;
  const targets = args.filter((arg, at) => at > 0 ? at !== signal && /^-?\d+$/.test(arg) : /^\d+$/.test(arg));
  if (name === "kill" && targets.some((arg) => /^(-1|0|1)$/.test(arg))) {
    return judged("critical", "ends all processes");
  }
  if (args.some((arg, at) => /^(-9|-?KILL|-?SIGKILL)$/i.test(arg) || (at === signal && arg === "9"))) {
    return judged("high", "ends a process without asking it");
  }
  return name === "kill"
    ? judged("medium", "ends a process")
    : judged("high", "ends every process of a name");
};

const FIND_TESTS =
  /^-(i?name|i?path|i?wholename|i?regex|type|size|[acm]?(time|min)|newer\w*|empty|user|group|perm|inum|links)$/;

/** find, and fd with its -x. */
export const judgeFind: Judge = (args, scene, name) => {
  const fd = !name.endsWith("find") || name === "fdfind";
  const start = args.findIndex((arg) => /^[-(!,]/.test(arg) && !/^-([HLPD]|O\d)$/.test(arg));
  const roots = args.slice(0, start < 0 ? undefined : start).filter((arg) => !fd && !arg.startsWith("-"));
  const from = roots.length > 0 ? roots : ["."];
  const tested = fd || args.some((arg) => FIND_TESTS.test(arg));
  const run = args.findIndex((arg) => /^-(exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(arg));
  const words = args.slice(run + 1);
  const end = words.findIndex((word, at) => word === ";" || (word === "+" && words[at - 1] === "{}"));
  const inner = words.slice(0, end < 0 ? undefined : end);
  const all = inner.includes("{}") ? inner : [...inner, "{}"];
  for (const root of run < 0 ? [] : from) {
    scene.run(all.map((word) => word.replaceAll("{}", `${root}/${tested ? UNKNOWN : "*"}`)));
  }
  return worst(
    ...from.map((root) => judgeRead(root, scene)),
    ...when(
      args.includes("-delete"),
      judged("high", "deletes all that it finds"),
      // Some files of the project are no whole folder.
      ...from.filter((root) => !tested || !/^(\.\/?)?$/.test(root)).map((root) =>
        judgeDelete(root, true, scene)
      ),
    ),
    ...args.flatMap((arg, at) =>
      when(/^-(fprint|fprint0|fprintf|fls)$/.test(arg), judgeWrite(args[at + 1] ?? UNKNOWN, scene))
    ),
  );
};

const TAR = "-f -C -T -X -I -F -b -H -K --file --directory --use-compress-program --to-command --exclude";

/** tar, unzip: what they write where, and the programs that they start. */
export const judgeUnpack: Judge = (args, scene, name) => {
  const unzip = name === "unzip";
  const dashed = args.map((arg, at) => at === 0 && !unzip && /^[a-zA-Z]+$/.test(arg) ? `-${arg}` : arg);
  const given = readArguments(dashed, unzip ? "-d -x -P" : TAR);
  if (has(given, unzip ? "-l -v -t -Z -p -c" : "-t --list") && !has(given, unzip ? "-d" : "-x -c -r -u")) {
    return READS;
  }
  const packs = has(given, "-c -r -u --create --append");
  return worst(
    judged("medium", "packs or unpacks files"),
    ...valuesOf(given, unzip ? "-d" : "-C --directory").flatMap((path) => over(path, scene)),
    ...when(!unzip && packs, ...valuesOf(given, "-f --file").map((path) => judgeWrite(path, scene))),
    ...when(!unzip && has(given, "-P --absolute-names"), judged("high", "may write outside of the project")),
  );
};

/** Unpacking into a top-level or home folder overwrites what is there: as bad as what deletes it. */
function over(path: string, scene: Scene): readonly Judgement[] {
  const all = judgeDelete(path, false, scene).severity === "critical";
  return [
    judgeWrite(path, scene),
    ...when(all, judged("critical", "writes over a top-level, home or parent folder")),
  ];
}

/** `git clone url path`: what it means to write a repository there. */
export function judgeClone([, path = ""]: readonly string[], scene: Scene): readonly Judgement[] {
  return path === "" ? [] : over(path, scene);
}

const CURL =
  "-d -F -T -o -K -H -X -u -A -e -b -c -x -w -m -r -C -E -Q -D -t --data --data-raw --data-binary --data-ascii --data-urlencode --json --form --upload-file --output --output-dir --config --header --request --user --user-agent --cookie --cookie-jar --proxy --write-out --max-time --connect-timeout --retry --cert --key --dump-header --url --trace --stderr";
const WGET =
  "-O -o -a -P -i -t -T -w -U -e -A -R --output-document --output-file --append-output --directory-prefix --input-file --post-data --post-file --body-data --body-file --method --header --user --password --execute --use-askpass --tries --timeout --config --user-agent";

/** curl, wget. */
export const judgeCurl: Judge = (args, scene, name) => {
  const curl = name === "curl";
  const given = readArguments(args, curl ? CURL : WGET);
  const methods = valuesOf(given, "-X --request --method").filter((method) =>
    !/^(GET|HEAD|OPTIONS)$/i.test(method)
  );
  const found = [judged("medium", "reads from the network", "look", true)];
  const sends = curl
    ? "-d -F -T -Q --data --data-raw --data-binary --data-ascii --data-urlencode --json --form --upload-file --quote"
    : "--post-data --post-file --body-data --body-file";
  if (has(given, sends) || methods.length > 0 || args.some((arg) => arg.includes(UNKNOWN))) {
    found.push(judged("high", "sends data over the network", "look", true));
  }
  if (
    has(
      given,
      curl
        ? "-K --config -n --netrc --netrc-file -u --user --key"
        : "-e --execute --config -i --input-file --use-askpass",
    )
  ) {
    found.push(judged("high", "takes settings or passwords from elsewhere", "look", true));
  }
  const urls = [...given.operands, ...valuesOf(given, "--url")];
  const named = valuesOf(
    given,
    curl
      ? "-o -D -c --output --dump-header --cookie-jar --trace --stderr"
      : "-O -o -a --output-document --output-file --append-output",
  );
  const folder = valuesOf(given, curl ? "--output-dir" : "-P --directory-prefix")[0] ?? ".";
  const own = curl ? has(given, "-O --remote-name --remote-name-all -J") : named.length === 0;
  for (const path of [...named, ...(own ? urls.map((url) => `${folder}/${fileOf(url)}`) : [])]) {
    if (path === "-") continue;
    scene.made(path, true);
    found.push(judgeWrite(path, scene));
  }
  for (const url of urls) found.push(judgeRead(/^file:\/\/(.*)$/.exec(url)?.[1] ?? "", scene));
  return worst(...found);
};

function fileOf(url: string): string {
  const name = url.replace(/[?#].*$/, "").split("/").at(-1) ?? "";
  return name === "" || /^https?:$/.test(name) ? "index.html" : name;
}

/** nc, ncat, netcat, socat. */
export const judgeSocket: Judge = (args, _scene, name) => {
  const runs = name === "socat"
    ? args.some((arg) => /\b(exec|system|shell|pty):/i.test(arg))
    : has(readArguments(args, "-p -w -s"), "-e -c --exec --sh-exec --lua-exec");
  return runs
    ? judged("critical", "gives a program to the network", "write", true)
    : judged("high", "sends data over the network", "look", true);
};
