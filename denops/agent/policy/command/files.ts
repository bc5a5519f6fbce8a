/** Programs that write, move, delete or change files. */
import { has, readArguments, valuesOf } from "./options.ts";
import { judgeDelete, judgeRead, judgeWrite, UNKNOWN } from "./places.ts";
import type { Judge, Scene } from "./scene.ts";
import { HARMLESS, judged, type Judgement, worst } from "./severity.ts";

const write = (path: string, scene: Scene) => judgeWrite(path, scene.folders, scene.places);
const remove = (path: string, recursive: boolean, scene: Scene) =>
  judgeDelete(path, recursive, scene.folders, scene.places);

const CHANGES = judged("medium", "changes files", { writes: true });

/** rm, rmdir, unlink, shred, trash. */
export const judgeRemove: Judge = (args, scene, name) => {
  const given = readArguments(args, "-n -s --iterations --size --random-source --interactive");
  const recursive = name === "rm" && has(given, "-r -R --recursive");
  const found = given.operands.map((path) => remove(path, recursive, scene));
  // Options that are only known when it runs may be -rf.
  if (given.operands.some((path) => path.startsWith(UNKNOWN)) && name === "rm") {
    found.push(...given.operands.map((path) => remove(path, true, scene)));
  }
  if (has(given, "--no-preserve-root")) found.push(judged("critical", "gives up the protection of /"));
  if (name === "shred") found.push(judged("high", "destroys files beyond recovery", { writes: true }));
  if (recursive && given.operands.length === 0) {
    found.push(judged("high", "deletes a folder", { writes: true }));
  }
  return worst(CHANGES, ...found);
};

/** cp, mv, install, ln: the last operand, or that of -t, is where they write. */
export const judgeCopy: Judge = (args, scene, name) => {
  const given = readArguments(args, "-t -S -m -o -g --target-directory --suffix --mode --owner --group");
  const into = valuesOf(given, "-t --target-directory");
  const target = into[0] ?? given.operands.at(-1) ?? UNKNOWN;
  const sources = into.length > 0 ? given.operands : given.operands.slice(0, -1);
  const found = [CHANGES, write(target, scene)];
  for (const source of sources) {
    found.push(...intoFolder(source, target, scene));
    found.push(judgeRead(source, scene.folders, scene.places));
    if (name === "mv") found.push(moveAway(source, scene));
    // Whoever writes through the link writes there.
    if (name === "ln") found.push(write(source, scene));
    scene.note({ kind: "writes to", path: target.endsWith("/") ? target + source : target, text: undefined });
  }
  if (name === "mv" && /^\/dev\//.test(target)) found.push(judged("critical", "moves files into a device"));
  if (name === "install" && has(given, "-m --mode") && setsId(args)) found.push(SETS_ID);
  return worst(...found);
};

/** `cp hooks/pre-commit .git/hooks` writes .git/hooks/pre-commit; `cp .bashrc ~` writes ~/.bashrc. */
function intoFolder(source: string, target: string, scene: Scene): readonly Judgement[] {
  const name = source.replace(/\/+$/, "").split("/").at(-1) ?? "";
  const plain = name !== "" && name !== "." && name !== ".." && !/[*?[]/.test(name) &&
    !name.includes(UNKNOWN);
  // Into "." a file keeps its place; only a folder of another's files is told by its name.
  return plain && !/^(\.?\/?)$/.test(target) ? [write(`${target}/${name}`, scene)] : [];
}

function moveAway(path: string, scene: Scene): Judgement {
  const found = remove(path, true, scene);
  return found.severity === "critical"
    ? found
    : { ...remove(path, false, scene), reason: "moves a file away" };
}

/** Programs whose operands are files that they write: tee, touch, mkdir, truncate, sponge. */
export const judgeWriters: Judge = (args, scene, name) => {
  const given = readArguments(args, "-m -t -d -r -s --mode --date --reference --size --context");
  for (const path of given.operands) {
    const text = name === "tee" && scene.input.kind === "text" ? scene.input.text : undefined;
    scene.note({ kind: "writes to", path, text });
  }
  const found = given.operands.map((path) => write(path, scene));
  if (name === "tee" && given.operands.length === 0) return HARMLESS;
  return name === "tee" ? worst(...found) : worst(CHANGES, ...found);
};

export const judgeDd: Judge = (args, scene) => {
  const found: Judgement[] = [];
  for (const arg of args) {
    const [key, value = ""] = [arg.slice(0, arg.indexOf("=")), arg.slice(arg.indexOf("=") + 1)];
    if (key === "of") found.push(write(value, scene));
    if (key === "if") found.push(judgeRead(value, scene.folders, scene.places));
    if (arg.startsWith(UNKNOWN)) found.push(judged("high", "may write anywhere", { writes: true }));
  }
  return worst(CHANGES, ...found);
};

const SETS_ID = judged("high", "gives a program its owner's rights", { writes: true });

function setsId(args: readonly string[]): boolean {
  return args.some((arg) =>
    /^0?[2467]\d{3}$/.test(arg) || /^[ugoa]*[+=][rwxXt]*s/.test(arg) || /=[2467]\d{3}$/.test(arg)
  );
}

/** chmod, chown, chgrp, chattr, setfacl, xattr. */
export const judgeMode: Judge = (args, scene, name) => {
  const given = readArguments(args.filter((arg) => !/^-[rwxXst]+$/.test(arg)), "--reference --from -m -x -M");
  const [mode = "", ...files] = given.operands;
  const found: Judgement[] = [CHANGES];
  const recursive = has(given, "-R --recursive");
  if (name !== "chmod") found.push(judged("high", "changes who owns or may use files", { writes: true }));
  if (
    name === "chmod" &&
    (/^0?\d?\d?[2367]$/.test(mode) && mode.length >= 3 || /(^|,)[ugo]*[oa][ugoa]*[+=]\w*w/.test(mode) ||
      /^[+=]\w*w/.test(mode))
  ) {
    found.push(judged("high", "lets everybody write", { writes: true }));
  }
  if (setsId([mode])) found.push(SETS_ID);
  if (mode.includes(UNKNOWN)) found.push(judged("high", "sets a mode that is only known when it runs"));
  for (const path of files.length > 0 ? files : given.operands) {
    const at = write(path, scene);
    // The project itself is not meant here, only what lies around it.
    const whole = recursive && !/^(\.\/?)?\*?$/.test(path) &&
      remove(path, true, scene).severity === "critical";
    if (whole || at.severity === "critical") {
      found.push(
        judged("critical", "changes the rights of what lies outside or of all files", { writes: true }),
      );
    } else found.push(at);
  }
  if (recursive && name === "chmod") found.push(judged("medium", "changes a whole folder", { writes: true }));
  return worst(...found);
};

/** kill, pkill, killall, xkill, skill. */
export const judgeKill: Judge = (args, _scene, name) => {
  const hard = args.some((arg, index) =>
    /^-(9|KILL|SIGKILL|19|STOP)$/i.test(arg) ||
    (/^(9|KILL|SIGKILL)$/i.test(arg) && /^-(s|n|-signal)$/.test(args[index - 1] ?? ""))
  );
  const targets = args.filter((arg, index) =>
    !/^-(s|n|-signal)$/.test(args[index - 1] ?? "") &&
    (!arg.startsWith("-") || (index > 0 && /^-\d+$/.test(arg)))
  );
  const [first = "", ...rest] = args;
  if (/^(-0|-l|-L|--list)$/.test(first) && !rest.some((arg) => arg.startsWith("-"))) return HARMLESS;
  if (
    name === "kill" && targets.some((arg) => /^(-1|0|1|-0)$/.test(arg)) &&
    !targets.some((arg) => arg.startsWith("%"))
  ) {
    return judged("critical", "ends all processes");
  }
  if (hard) return judged("high", "ends a process without asking it");
  return name === "kill"
    ? judged("medium", "ends a process")
    : judged("high", "ends every process of a name");
};

const FIND_EXECUTES = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
const FIND_WRITES = new Set(["-fprint", "-fprint0", "-fprintf", "-fls"]);
const FIND_TESTS =
  /^-(i?name|i?path|i?wholename|i?regex|type|size|[acm]?(time|min)|newer\w*|empty|user|group|perm|inum|links|mtime|ctime|atime)$/;

export const judgeFind: Judge = (args, scene) => {
  const start = args.findIndex((arg) => /^[-(!,]/.test(arg) && !/^-([HLPD]|O\d)$/.test(arg));
  const roots = args.slice(0, start < 0 ? args.length : start).filter((arg) => !arg.startsWith("-"));
  const from = roots.length > 0 ? roots : ["."];
  const found = from.map((root) => judgeRead(root, scene.folders, scene.places));
  const tested = args.some((arg) => FIND_TESTS.test(arg));
  for (let index = 0; index < args.length; index++) {
    const arg = args[index] ?? "";
    if (arg === "-delete") {
      found.push(judged("high", "deletes all that it finds", { writes: true }));
      for (const root of from) {
        const all = remove(root, true, scene);
        const own = /^(\.\/?)?$/.test(root);
        if (!tested || !own) found.push(all);
      }
    } else if (FIND_WRITES.has(arg)) found.push(write(args[index + 1] ?? UNKNOWN, scene));
    else if (arg.startsWith(UNKNOWN)) {
      found.push(judged("medium", "takes an option that is only known when it runs", { writes: true }));
    } else if (FIND_EXECUTES.has(arg)) {
      const length = args.slice(index + 1).findIndex((word, at, rest) =>
        word === ";" || (word === "+" && rest[at - 1] === "{}")
      );
      const words = args.slice(index + 1, length < 0 ? undefined : index + 1 + length);
      for (const root of from) {
        scene.run(words.map((word) => word.replaceAll("{}", `${root}/*`)), { input: { kind: "nothing" } });
      }
      index += words.length;
    }
  }
  return worst(...found);
};

/** Programs whose second operand is a file that they write: uniq, xxd. */
export const judgeSecondOperand: Judge = (args, scene, name) => {
  const given = readArguments(
    args,
    name === "uniq" ? "-f -s -w --skip-fields --skip-chars --check-chars" : "-c -g -l -o -s -n -R",
  );
  const target = given.operands[1];
  if (given.operands[0]?.startsWith(UNKNOWN)) return judged("medium", "may write a file", { writes: true });
  return target === undefined ? HARMLESS : write(target, scene);
};
