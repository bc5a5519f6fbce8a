/** Checks the arguments of the script's directives (see script.ts). */
import type { HttpAnswer, ScriptedUsage } from "./answer.ts";

/** A directive's argument: `text` is the rest of its line, `more` the indented lines below it. */
export interface Argument {
  readonly line: number;
  readonly text: string;
  readonly more: readonly string[];
}

/** An argument is invalid; the parser adds its location. */
export class Wrong extends Error {}

export function wrong(reason: string): never {
  throw new Wrong(reason);
}

export function needed(text: string): string {
  return text.trim() === "" ? wrong("the argument is missing") : text;
}

export function word(text: string): string {
  return /^\S+$/.test(text.trim()) ? text.trim() : wrong("it takes one word");
}

export function flag(text: string): true {
  return text.trim() === "" ? true : wrong("it takes no argument");
}

export function integer(text: string, least: number): number {
  const value = /^\d+$/.test(text.trim()) ? Number(text) : NaN;
  return Number.isSafeInteger(value) && value >= least
    ? value
    : wrong(`it takes a whole number from ${least}`);
}

export function usage(text: string): ScriptedUsage {
  const [input, output, cached = "0", ...rest] = text.trim().split(/\s+/);
  if (input === undefined || output === undefined || rest.length > 0) {
    return wrong("use usage IN OUT [CACHED]");
  }
  const result = { input: integer(input, 0), output: integer(output, 0), cached: integer(cached, 0) };
  return result.cached <= result.input ? result : wrong("CACHED is a part of IN and cannot be more");
}

export function nameAndRest({ text, more }: Argument): [string, string] {
  const [, name, rest] = /^\s*(\S+)\s*([\s\S]*)$/.exec(text) ?? wrong("use call NAME JSON");
  return [name ?? "", [rest ?? "", ...more].filter((line) => line !== "").join("\n")];
}

export function compactObject(json: string): string {
  try {
    const value: unknown = JSON.parse(json === "" ? "{}" : json);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return JSON.stringify(value);
  } catch (error) {
    if (error instanceof SyntaxError) return wrong(`${error.message}. Try rawcall for broken arguments`);
    throw error;
  }
  return wrong("the arguments are not a JSON object");
}

export function status(text: string): HttpAnswer {
  const [, code = "", rest = ""] = /^\s*(\d+)(?:\s+(.*))?$/.exec(text) ??
    wrong("use status CODE [NAME=VALUE ...] [BODY]");
  const number = integer(code, 200);
  if (number > 599) wrong("the code is at most 599");
  const headers: Record<string, string> = {};
  let body = rest;
  for (let match; (match = /^([A-Za-z][A-Za-z0-9-]*)=(\S*)\s*/.exec(body)) !== null;) {
    headers[(match[1] ?? "").toLowerCase()] = match[2] ?? "";
    body = body.slice(match[0].length);
  }
  return { kind: "status", code: number, headers, body: body === "" ? undefined : body };
}

/** UTF-8, with `\n`, `\r`, `\t`, `\\` and `\xNN` for any single byte. */
export function unescaped(text: string): Uint8Array<ArrayBuffer> {
  const names: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, "\\": 92 };
  const encoder = new TextEncoder();
  const bytes = [...text.matchAll(/\\x([0-9a-fA-F]{2})|\\(.?)|[^\\]+/g)].flatMap(([all, hex, name]) => {
    if (hex !== undefined) return [parseInt(hex, 16)];
    if (name !== undefined) {
      return [names[name] ?? wrong(`"\\${name}" is no escape. Try \\n, \\r, \\t, \\\\, \\xNN`)];
    }
    return [...encoder.encode(all)];
  });
  return new Uint8Array(bytes);
}
