/** Programs that write, move, delete, fetch or change files. */
import { has, readArguments, valuesOf } from "./options.ts";
import { judgeDelete, judgeRead, judgeWrite, UNKNOWN } from "./places.ts";
import type { Judge, Scene } from "./scene.ts";
import { judged, type Judgement, READS, worst } from "./severity.ts";

const CHANGES = judged("medium", "changes files");

/** Where all that is written lies in the folder of temporary files, a look will do. */
function changed(found: readonly Judgement[]): Judgement {
  return found.length > 0 ? worst(...found) : CHANGES;
}

/** rm, rmdir, unlink, shred, trash. */
export const judgeRemove: Judge = (args, scene, name) => {
  const given = readArguments(args, "-n -s --iterations --size --random-source");
  // Options that are only known when it runs may be -rf.
  const unsure = given.operands.some((path) => path.startsWith(UNKNOWN)) && given.operands.length > 1;
  const recursive = name === "rm" && (has(given, "-r -R --recursive") || unsure);
  const found = given.operands.map((path) => judgeDelete(path, recursive, scene));
  if (has(given, "--no-preserve-root")) found.push(judged("critical", "gives up the protection of /"));
  if (name === "shred") found.push(judged("high", "destroys files beyond recovery"));
  if (recursive && found.length === 0) found.push(judged("high", "deletes a folder"));
  return worst(CHANGES, ...found);
};

/** cp, mv, install, ln: the last operand, or that of -t, is where they write. */
export const judgeCopy: Judge = (args, scene, name) => {
  const given = readArguments(args, "-t -S -m -o -g --target-directory --suffix --mode --owner --group");
  const into = valuesOf(given, "-t --target-directory");
  const target = into[0] ?? given.operands.at(-1) ?? UNKNOWN;
  const sources = into.length > 0 ? given.operands : given.operands.slice(0, -1);
  const found = [judgeWrite(target, scene)];
  for (const source of sources) {
    const file = source.replace(/\/+$/, "").split("/").at(-1) ?? "";
    // `cp .bashrc ~` writes ~/.bashrc; into "." a file keeps its place.
    if (/^[^*?[￼]+$/.test(file) && !/^(\.?\/?)$/.test(target)) {
      found.push(judgeWrite(`${target}/${file}`, scene));
    }
    found.push(judgeRead(source, scene));
    if (name === "mv") found.push(movedAway(source, scene));
    // Whoever writes through the link writes there.
    if (name === "ln") found.push(judgeWrite(source, scene));
    scene.made(target.endsWith("/") ? target + source : target, false);
  }
  if (name === "mv" && /^\/dev\//.test(target)) found.push(judged("critical", "moves files into a device"));
  return changed(found);
};

function movedAway(path: string, scene: Scene): Judgement {
  const found = judgeDelete(path, true, scene);
  return found.severity === "critical"
    ? found
    : { ...judgeDelete(path, false, scene), reason: "moves a file away" };
}

/** Programs whose operands are files that they write: tee, touch, mkdir, truncate, sponge. */
export const judgeWriters: Judge = (args, scene, name) => {
  const { operands } = readArguments(args, "-m -t -d -r -s --mode --date --reference --size");
  if (name === "tee" && operands.length === 0) return READS;
  for (const path of operands) {
    if (name !== "mkdir") scene.made(path, scene.input.kind === "unknown" && name === "tee");
  }
  return changed(operands.map((path) => judgeWrite(path, scene)));
};

export const judgeDd: Judge = (args, scene) => {
  const found = [CHANGES];
  for (const arg of args) {
    if (arg.startsWith("of=")) found.push(judgeWrite(arg.slice(3), scene));
    if (arg.startsWith(UNKNOWN)) found.push(judged("high", "may write anywhere"));
  }
  return worst(...found);
};

/** chmod, chown, chgrp. */
export const judgeMode: Judge = (args, scene, name) => {
  const given = readArguments(args.filter((arg) => !/^-[rwxXst]+$/.test(arg)), "--reference --from");
  const [mode = "", ...files] = given.operands;
  const found = [CHANGES];
  if (name !== "chmod") found.push(judged("high", "changes who owns files"));
  else if (
    /^0?\d?\d?[2367]$/.test(mode) && mode.length >= 3 || /(^|,)[ugo]*[oa][ugoa]*[+=]\w*w|^[+=]\w*w/.test(mode)
  ) {
    found.push(judged("high", "lets everybody write"));
  }
  if (/^0?[2467]\d{3}$|^[ugoa]*[+=][rwxXt]*s/.test(mode)) {
    found.push(judged("high", "gives a program its owner's rights"));
  }
  for (const path of files) {
    const at = judgeWrite(path, scene);
    // The project itself is not meant here, only what lies around it.
    const whole = has(given, "-R --recursive") && !/^(\.\/?)?\*?$/.test(path) &&
      judgeDelete(path, true, scene).severity === "critical";
    found.push(whole ? judged("critical", "changes the rights of all files there") : at);
  }
  return worst(...found);
};

/** kill, pkill, killall, xkill, skill. */
export const judgeKill: Judge = (args, _scene, name) => {
  if (/^(-0|-l|-L|--list)$/.test(args[0] ?? "") && args.length <= 2) return READS;
  const signal = args.findIndex((arg) => /^-(s|n|-signal)$/.test(arg));
  const targets = args.filter((arg, at) =>
    (signal < 0 || at !== signal + 1) && (!arg.startsWith("-") || (at > 0 && /^-\d+$/.test(arg)))
  );
  if (name === "kill" && targets.some((arg) => /^(-1|0|1)$/.test(arg))) {
    return judged("critical", "ends all processes");
  }
  if (args.some((arg) => /^(-9|-?KILL|-?SIGKILL)$/i.test(arg)) || args[signal + 1] === "9") {
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
  const start = args.findIndex((arg) => /^[-(!,]/.test(arg) && !/^-([HLPD]|O\d)$/.test(arg));
  const roots = name.endsWith("find")
    ? args.slice(0, start < 0 ? args.length : start).filter((arg) => !arg.startsWith("-"))
    : [];
  const from = roots.length > 0 ? roots : ["."];
  const tested = !name.endsWith("find") || args.some((arg) => FIND_TESTS.test(arg));
  const found = from.map((root) => judgeRead(root, scene));
  for (const [at, arg] of args.entries()) {
    if (arg === "-delete") {
      found.push(judged("high", "deletes all that it finds"));
      // Some files of the project are no whole folder.
      for (const root of from) {
        if (!tested || !/^(\.\/?)?$/.test(root)) found.push(judgeDelete(root, true, scene));
      }
    } else if (/^-(fprint|fprint0|fprintf|fls)$/.test(arg)) {
      found.push(judgeWrite(args[at + 1] ?? UNKNOWN, scene));
    } else if (/^-(exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(arg)) {
      const words = args.slice(at + 1);
      const end = words.findIndex((word, index) =>
        word === ";" || (word === "+" && words[index - 1] === "{}")
      );
      const inner = words.slice(0, end < 0 ? undefined : end);
      const all = inner.includes("{}") ? inner : [...inner, "{}"];
      for (const root of from) {
        scene.run(all.map((word) => word.replaceAll("{}", `${root}/${tested ? UNKNOWN : "*"}`)));
      }
      break;
    }
  }
  return worst(...found);
};

/** tar, unzip: what they write where, and the programs that they start. */
export const judgeUnpack: Judge = (args, scene, name) => {
  const given = readArguments(
    name === "unzip" ? args : args.map((arg, at) => at === 0 && /^[a-zA-Z]+$/.test(arg) ? `-${arg}` : arg),
    name === "unzip"
      ? "-d -x -P"
      : "-f -C -T -X -I -F -b -H -K --file --directory --use-compress-program --to-command --exclude",
  );
  const lists = has(given, name === "unzip" ? "-l -v -t -Z -p -c" : "-t --list") &&
    !has(given, name === "unzip" ? "-d" : "-x -c -r -u");
  const found = [lists ? READS : judged("medium", "packs or unpacks files")];
  if (!lists) {
    for (const path of valuesOf(given, name === "unzip" ? "-d" : "-C --directory")) {
      found.push(judgeWrite(path, scene), ...onTop(path, scene));
    }
    if (name !== "unzip" && has(given, "-c -r -u --create --append")) {
      for (const path of valuesOf(given, "-f --file")) found.push(judgeWrite(path, scene));
    }
  }
  const programs = valuesOf(
    given,
    "-I -F --use-compress-program --to-command --info-script --new-volume-script --rmt-command --rsh-command",
  );
  const actions = valuesOf(given, "--checkpoint-action").flatMap((text) =>
    /^exec=(.*)$/s.exec(text)?.[1] ?? []
  );
  for (const text of name === "unzip" ? [] : [...programs, ...actions]) {
    scene.shell(text);
    found.push(judged("medium", "starts a program"));
  }
  if (has(given, "-P --absolute-names") && !lists && name !== "unzip") {
    found.push(judged("high", "may write outside of the project"));
  }
  return worst(...found);
};

/** Unpacking into a top-level or home folder overwrites what is there: as bad as what deletes it. */
function onTop(path: string, scene: Scene): readonly Judgement[] {
  return judgeDelete(path, false, scene).severity === "critical"
    ? [judged("critical", "writes over a top-level, home or parent folder")]
    : [];
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
  scene.note("downloads");
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
export const judgeSocket: Judge = (args, scene, name) => {
  scene.note("downloads");
  const runs = name === "socat"
    ? args.some((arg) => /\b(exec|system|shell|pty):/i.test(arg))
    : has(readArguments(args, "-p -w -s"), "-e -c --exec --sh-exec --lua-exec");
  return runs
    ? judged("critical", "gives a program to the network", "write", true)
    : judged("high", "sends data over the network", "look", true);
};

/** `git clone url path`: what it means to write a repository there. */
export function judgeClone(operands: readonly string[], scene: Scene): readonly Judgement[] {
  const [, path = ""] = operands;
  return path === "" ? [] : [judgeWrite(path, scene), ...onTop(path, scene)];
}
