/** Judges the paths that programs delete, copy, change, unpack or fetch. */
import { has, valuesOf } from "../../shared/getopt.ts";
import { judgeDelete, judgeRead, judgeWrite, UNKNOWN } from "./places.ts";
import { argumentsOf } from "./programs.ts";
import type { Judge, Scene } from "./scene.ts";
import { judgeAs, type Judgement, when, worst } from "./severity.ts";

/** rm, rmdir, unlink, shred, trash. */
export const judgeRemove: Judge = (args, scene, name) => {
  const invocation = argumentsOf(name, args);
  // Options that are unknown before the line runs may be -rf.
  const unsure = invocation.operands.some((path) => path.startsWith(UNKNOWN)) &&
    invocation.operands.length > 1;
  const recursive = name === "rm" && (has(invocation, "-r -R --recursive") || unsure);
  return worst(...invocation.operands.map((path) => judgeDelete(path, recursive, scene)));
};

/** cp, mv, install, ln, rsync: they write to the last operand, or to that of -t. */
export const judgeCopy: Judge = (args, scene, name) => {
  const invocation = argumentsOf(name, args);
  const [into] = name === "rsync" ? [] : valuesOf(invocation, "-t --target-directory");
  const target = into ?? invocation.operands.at(-1) ?? UNKNOWN;
  const sources = into === undefined ? invocation.operands.slice(0, -1) : invocation.operands;
  scene.made(target);
  return worst(
    judgeWrite(target, scene),
    ...when(args.some((arg) => name === "rsync" && /^--del/.test(arg)), judgeDelete(target, true, scene)),
    ...sources.flatMap((source) => {
      const file = source.replace(/\/+$/, "").split("/").at(-1) ?? "";
      const away = judgeDelete(source, true, scene);
      return [
        judgeRead(source, scene),
        // `cp .bashrc ~` writes ~/.bashrc; in "." a file keeps its place.
        ...when(/^[^*?[￼]+$/.test(file) && !/^\.?\/?$/.test(target), judgeWrite(`${target}/${file}`, scene)),
        ...when(name === "mv" && away.severity === "critical", away),
        // Writing through the link writes there.
        ...when(name === "ln", judgeWrite(source, scene)),
      ];
    }),
  );
};

/** chmod, chown, chgrp: the mode is also treated as a path, which does no harm. */
export const judgeMode: Judge = (args, scene, name) => {
  const invocation = argumentsOf(name, args);
  return worst(...invocation.operands.map((path) => {
    // Only folders around the project, not the project itself.
    const whole = has(invocation, "-R --recursive") && !/^(\.\/?)?\*?$/.test(path) &&
      judgeDelete(path, true, scene).severity === "critical";
    return whole ? judgeAs("critical", "changes the rights of all files there") : judgeWrite(path, scene);
  }));
};

/** Tests of find, with which it does not match all files. */
const TESTS =
  /^-(i?name|i?path|i?wholename|i?regex|type|size|[acm]?(time|min)|newer\w*|empty|user|group|perm|inum|links)$/;

/** The start folders of find, and whether it matches everything in them. */
export function findsWhere(args: readonly string[]) {
  const start = args.findIndex((arg) => /^[-(!,]/.test(arg) && !/^-([HLPD]|O\d)$/.test(arg));
  const roots = args.slice(0, start < 0 ? undefined : start).filter((arg) => !arg.startsWith("-"));
  return { from: roots.length > 0 ? roots : ["."], all: !args.some((arg) => TESTS.test(arg)) };
}

/** find, and fd with its -x. */
export const judgeFind: Judge = (args, scene, name) => {
  const fd = !name.endsWith("find") || name === "fdfind";
  const { from, all: every } = fd ? { from: ["."], all: false } : findsWhere(args);
  const run = args.findIndex((arg) => /^-(exec|execdir|ok|okdir|x|X|-exec|-exec-batch)$/.test(arg));
  const words = args.slice(run + 1);
  const end = words.findIndex((word, at) => word === ";" || (word === "+" && words[at - 1] === "{}"));
  const inner = words.slice(0, end < 0 ? undefined : end);
  const all = inner.includes("{}") ? inner : [...inner, "{}"];
  for (const root of run < 0 ? [] : from) {
    scene.run(all.map((word) => word.replaceAll("{}", `${root}/${every ? "*" : UNKNOWN}`)));
  }
  // A part of the project's files is not a whole folder.
  const emptied = from.filter((root) => args.includes("-delete") && (every || !/^(\.\/?)?$/.test(root)));
  return worst(
    ...from.map((root) => judgeRead(root, scene)),
    ...emptied.map((root) => judgeDelete(root, true, scene)),
  );
};

/** tar, unzip: judges the files that they write. */
export const judgeUnpack: Judge = (args, scene, name) => {
  const invocation = argumentsOf(name, args);
  const into = valuesOf(invocation, name === "unzip" ? "-d" : "-C --directory");
  const packed = has(invocation, "-c -r -u --create --append") && name !== "unzip"
    ? valuesOf(invocation, "-f --file")
    : [];
  return worst(
    ...into.flatMap((path) => judgeUnpackInto(path, scene)),
    ...packed.map((path) => judgeWrite(path, scene)),
  );
};

/** Unpacking into a top-level or home folder overwrites its contents, which is as bad as deleting it. */
export function judgeUnpackInto(path: string, scene: Scene): readonly Judgement[] {
  const all = judgeDelete(path, false, scene).severity === "critical";
  return [
    judgeWrite(path, scene),
    ...when(all, judgeAs("critical", "writes over a top-level, home or parent folder")),
  ];
}

/** curl, wget: the files that they name after the address, and those that they read by one. */
export const judgeCurl: Judge = (args, scene, name) => {
  const invocation = argumentsOf(name, args);
  const urls = [...invocation.operands, ...valuesOf(invocation, "--url")];
  const [folder = "."] = valuesOf(invocation, name === "curl" ? "--output-dir" : "-P --directory-prefix");
  const own = name === "curl"
    ? has(invocation, "-O --remote-name --remote-name-all -J")
    : !has(invocation, "-O -o -a --output-document --output-file --append-output");
  const files = own ? urls.map((url) => `${folder}/${fileOf(url)}`) : [];
  for (const path of files) scene.made(path);
  return worst(
    ...files.map((path) => judgeWrite(path, scene)),
    ...urls.map((url) => judgeRead(/^file:\/\/(.*)$/.exec(url)?.[1] ?? "", scene)),
  );
};

function fileOf(url: string): string {
  const name = url.replace(/[?#].*$/, "").split("/").at(-1) ?? "";
  return name === "" || /^https?:$/.test(name) ? "index.html" : name;
}
