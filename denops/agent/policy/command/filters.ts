/** sed: a filter whose scripts can also write files and start programs. */
import { has, readArguments, valuesOf } from "./options.ts";
import { judgeRead, judgeWrite, UNKNOWN } from "./places.ts";
import type { Judge, Scene } from "./scene.ts";
import { judged, type Judgement, worst } from "./severity.ts";

const UNREAD = judged("medium", "runs a script that is only known when it runs", { writes: true });

export const judgeSed: Judge = (args, scene) => {
  const given = readArguments(args, "-e -f -l --expression --file --line-length");
  const inline = valuesOf(given, "-e --expression");
  const files = valuesOf(given, "-f --file");
  const scripts = inline.length + files.length > 0 ? inline : given.operands.slice(0, 1);
  const edited = inline.length + files.length > 0 ? given.operands : given.operands.slice(1);
  const found = scripts.map((script) => judgeSedScript(script, scene));
  if (files.length > 0) found.push(UNREAD);
  if (has(given, "-i --in-place") || args.some((arg) => /^-[nErsuz]*[iI]/.test(arg))) {
    const targets = edited.length > 0 ? edited : [UNKNOWN];
    found.push(...targets.map((path) => judgeWrite(path, scene.folders, scene.places)));
  }
  return worst(...found);
};

/** @return where the command after the addresses starts: numbers, $, /…/, \%…%, steps, ranges, "!" */
function skipAddresses(script: string, start: number): number {
  let at = start;
  while (at < script.length) {
    const char = script.charAt(at);
    if (/[\d$~+,!\sIM]/.test(char)) at++;
    else if (char === "/") at = skipPast("/", script, at + 1);
    else if (char === "\\") at = skipPast(script.charAt(at + 1), script, at + 2);
    else break;
  }
  return at;
}

function skipPast(delimiter: string, script: string, start: number): number {
  let at = start;
  while (at < script.length && script.charAt(at) !== delimiter) at += script.charAt(at) === "\\" ? 2 : 1;
  return at + 1;
}

/** Reads a script command by command; what it cannot read is at least medium. */
function judgeSedScript(script: string, scene: Scene): Judgement {
  if (script.includes(UNKNOWN)) return UNREAD;
  const found: Judgement[] = [];
  let at = 0;
  const lineEnd = () => {
    const end = script.indexOf("\n", at);
    const text = script.slice(at, end < 0 ? undefined : end);
    at = end < 0 ? script.length : end;
    return text.trim();
  };
  while (at < script.length) {
    if (/[\s;{}]/.test(script.charAt(at))) {
      at++;
      continue;
    }
    at = skipAddresses(script, at);
    const command = script.charAt(at++);
    if (command === "s" || command === "y") {
      const flags = skipSubstitution(script, at);
      if (flags === undefined) return worst(...found, UNREAD);
      at = flags.end;
      if (command === "s" && flags.text.includes("e")) {
        found.push(judged("high", "makes sed run what it edits", { writes: true }));
        scene.note({ kind: "runs unknown text" });
      }
      if (command === "s" && flags.text.includes("w")) {
        found.push(judgeWrite(lineEnd(), scene.folders, scene.places));
      }
    } else if (command === "e") {
      const text = lineEnd();
      found.push(judged("high", "makes sed start a program", { writes: true }));
      scene.shell(text);
    } else if (command === "w" || command === "W") {
      found.push(judgeWrite(lineEnd(), scene.folders, scene.places));
    } else if (/[aicrRbtTv:#]/.test(command)) {
      const text = lineEnd();
      if (/[rR]/.test(command)) found.push(judgeRead(text, scene.folders, scene.places));
      // A label ends in ";", and so may the version after "v"; a command may follow.
      const more = /[btTv:]/.test(command) ? text.search(/[;}]/) : -1;
      if (more >= 0) at -= text.length - more;
    } else if (!/[=dDgGhHnNpPxlFzqQ{}\s;]|^$/.test(command)) {
      return worst(...found, UNREAD);
    }
    if (/[qQlL]/.test(command)) { while (/[\s\d]/.test(script.charAt(at))) at++; }
  }
  return worst(...found);
}

/** @return the flags of s/…/…/ that starts at its delimiter; undefined if it does not end */
function skipSubstitution(script: string, start: number): { text: string; end: number } | undefined {
  const delimiter = script.charAt(start);
  if (delimiter === "" || delimiter === "\\" || delimiter === "\n") return undefined;
  let at = start + 1;
  for (let part = 0; part < 2; part++) {
    while (script.charAt(at) !== delimiter) {
      if (at >= script.length) return undefined;
      at += script.charAt(at) === "\\" ? 2 : 1;
    }
    at++;
  }
  const text = /^[gpiImMe\d]*w?/.exec(script.slice(at))?.[0] ?? "";
  return { text, end: at + text.length };
}
