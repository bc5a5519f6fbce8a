/** awk: a filter whose programs can also write files and start others. */
import { has, readArguments, valuesOf } from "./options.ts";
import { judgeWrite, UNKNOWN } from "./places.ts";
import type { Judge, Scene } from "./scene.ts";
import { HARMLESS, judged, type Judgement, worst } from "./severity.ts";

const UNREAD = judged("medium", "runs a script that is only known when it runs", { writes: true });

export const judgeAwk: Judge = (args, scene) => {
  const given = readArguments(
    args,
    "-F -v -f -i -l -e -E -W -o --field-separator --assign --file --source --include --load",
    "operand",
  );
  const files = valuesOf(given, "-f -E --file --exec");
  const inline = valuesOf(given, "-e --source");
  const programs = files.length + inline.length > 0 ? inline : given.operands.slice(0, 1);
  const found = programs.map((program) => judgeAwkProgram(program, scene));
  // mawk's -W holds any of its other options, one that reads a program from a file among them.
  if (files.length > 0 || valuesOf(given, "-W").some((value) => value !== "version")) found.push(UNREAD);
  if (has(given, "-l --load")) found.push(judged("high", "loads a library", { writes: true }));
  if (valuesOf(given, "-i --include").length > 0) {
    const inPlace = valuesOf(given, "-i --include").includes("inplace");
    const targets = given.operands.slice(programs.length > inline.length ? 1 : 0);
    found.push(UNREAD);
    if (inPlace) found.push(...targets.map((path) => judgeWrite(path, scene.folders, scene.places)));
  }
  if (has(given, "-o --pretty-print -p --profile -d --dump-variables")) {
    found.push(judged("medium", "writes a file", { writes: true }));
  }
  return worst(...found);
};

/** A pattern can only stand where a value may start; elsewhere a slash divides. */
const STARTS_VALUE = /[(,~!&|;{}\n]/;

/**
 * The program with numbers for its strings, and without its patterns and comments, so that what looks like a command in
 * them does not count, and nothing that runs is taken for one of them.
 */
function bareOf(program: string): { readonly bare: string; readonly strings: readonly string[] } {
  const strings: string[] = [];
  let bare = "";
  let before = "\n";
  const until = (end: string, start: number): number => {
    let at = start;
    while (at < program.length && program.charAt(at) !== end && program.charAt(at) !== "\n") {
      at += program.charAt(at) === "\\" ? 2 : 1;
    }
    return at;
  };
  for (let at = 0; at < program.length; at++) {
    const char = program.charAt(at);
    if (char === '"') {
      const end = until('"', at + 1);
      strings.push(program.slice(at + 1, end).replace(/\\(.)/gs, "$1"));
      bare += `"${strings.length - 1}"`;
      at = end;
    } else if (char === "/" && STARTS_VALUE.test(before)) {
      bare += " 0 ";
      at = until("/", at + 1);
    } else if (char === "#") {
      at = until("\n", at) - 1;
      continue;
    } else if (char === "\\" && program.charAt(at + 1) === "\n") {
      bare += " ";
      at++;
      continue;
    } else bare += char;
    if (char === "\n" || !/\s/.test(char)) before = char;
  }
  return { bare, strings };
}

/** Where print and printf write to: what follows a ">" out of brackets. A list may go on after a comma's line break. */
function targetsOf(bare: string): readonly string[] {
  const found: string[] = [];
  for (const { index } of bare.matchAll(/\bprintf?\b/g)) {
    let depth = 0;
    for (let at = index; at < bare.length; at++) {
      const char = bare.charAt(at);
      if (/[([]/.test(char)) depth++;
      else if (/[)\]]/.test(char)) depth--;
      else if (/[;}]/.test(char) || (char === "\n" && !/[,&|]\s*$/.test(bare.slice(index, at)))) break;
      else if (char === ">" && depth <= 0) {
        found.push(/^>>?\s*("\d+"(?=\s*([;}\n]|$))|[^\s;}]+)/.exec(bare.slice(at))?.[1] ?? UNKNOWN);
        break;
      }
    }
    if (found.length > 20) break;
  }
  return found;
}

function judgeAwkProgram(program: string, scene: Scene): Judgement {
  const { bare, strings } = bareOf(program);
  const found: Judgement[] = [];
  const starts = /\bsystem\s*\(/.test(bare) || /(^|[^|])\|\s*&?\s*(getline|[^|&\s])|\|&/.test(bare);
  if (starts || bare.includes("@")) {
    found.push(judged("high", "makes awk start programs", { writes: true }));
    for (const text of strings) if (/\w/.test(text)) scene.shell(text);
    // Built from fields: `print | $1`.
    if (!/\bsystem\s*\(\s*"\d+"\s*\)|\|&?\s*"\d+"|"\d+"\s*\|/.test(bare)) {
      scene.note({ kind: "runs unknown text" });
    }
  }
  if (strings.some((text) => text.startsWith("/inet"))) {
    found.push(judged("high", "opens a network connection", { network: true }));
  }
  for (const target of targetsOf(bare)) {
    const path = /^"(\d+)"$/.exec(target)?.[1];
    const known = path === undefined ? UNKNOWN : strings[Number(path)] ?? UNKNOWN;
    found.push(judgeWrite(known, scene.folders, scene.places));
  }
  if (program.includes(UNKNOWN)) found.push(UNREAD);
  return worst(...found, HARMLESS);
}
