import assert from "node:assert/strict";
import { TOOLS } from "../../tools/registry.ts";
import { Grammar } from "./grammar.ts";
import { extract, Partial } from "./scan.ts";

const grammar = new Grammar(TOOLS.map(({ spec }) => spec));

interface Case {
  readonly what: string;
  readonly text: string;
  /** "NAME JSON" or "NAME !". */
  readonly calls: readonly string[];
  readonly rest: string;
}

function casesOf(file: string): readonly Case[] {
  const groups = file.split(/^== /m).slice(1);
  return groups.flatMap((group) => {
    const [who = "", ...cases] = group.split(/^-- /m);
    return cases.map((one) => {
      const [what = "", ...lines] = one.trimEnd().split("\n");
      const end = lines.findIndex((line) => line.startsWith("=> "));
      const marked = (mark: string) =>
        lines.slice(end).filter((line) => line.startsWith(mark)).map((line) => line.slice(mark.length));
      return {
        what: `${who.trim()}: ${what}`,
        text: lines.slice(0, end).join("\n").replaceAll("␍", "\r"),
        calls: marked("=> ").filter((call) => call !== "nothing"),
        rest: marked("=| ").join("\n"),
      };
    });
  });
}

/** Characters of a piece. */
const STEP = 3;

const CASES = casesOf(await Deno.readTextFile(new URL("cases.txt", import.meta.url)));

function found(text: string) {
  const { calls, rest } = extract(text, grammar);
  return {
    calls: calls.map(({ name, arguments: args }) => [name, isJson(args) ? JSON.parse(args) : "!"]),
    rest: rest.trim(),
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

Deno.test("calls are found as they are written", () => {
  assert.ok(CASES.length > 400);
  const wrong: unknown[] = [];
  for (const { what, text, calls, rest } of CASES) {
    const expected = {
      calls: calls.map((call) => {
        const [name = "", ...args] = call.split(" ");
        return [name, args.join(" ") === "!" ? "!" : JSON.parse(args.join(" "))];
      }),
      rest,
    };
    const actual = found(text);
    try {
      assert.deepEqual(actual, expected);
    } catch {
      wrong.push({ what, text, actual, expected });
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("what is shown while it comes is the beginning of what stays, and never a part of a call", () => {
  for (const [index, { what, text }] of CASES.entries()) {
    const { rest } = extract(text, grammar);
    const partial = new Partial(grammar);
    let shown = "";
    for (let end = index % STEP; end < text.length + STEP; end += STEP) {
      shown += partial.add(text.slice(Math.max(0, end - STEP), end));
      assert.ok(rest.startsWith(shown), `${what}: ${JSON.stringify(shown)} is shown at ${end}`);
    }
  }
});

Deno.test("what is left holds none of the calls", () => {
  for (const { what, text } of CASES) {
    const { calls, rest } = extract(text, grammar);
    const left = extract(rest, grammar).calls.filter((call) => calls.some((one) => isSame(one, call)));
    assert.deepEqual(left, [], what);
  }
});

Deno.test("a write that is cut off is never run", () => {
  for (const { what, text, calls } of CASES) {
    const [only = "", ...others] = calls;
    if (others.length > 0 || !/^(?:write|edit|delete)_file \{/.test(only)) continue;
    const [name = "", ...args] = only.split(" ");
    for (let end = 0; end < text.length; end++) {
      for (const [found_, given] of found(text.slice(0, end)).calls) {
        const isWhole = given === "!" || isSame(given, JSON.parse(args.join(" ")));
        assert.ok(found_ !== name || isWhole, `${what}: ${JSON.stringify(given)} runs, cut at ${end}`);
      }
    }
  }
});

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

Deno.test("what a file says, as it is shown with numbers of lines, is a quotation when the model repeats it", () => {
  const wrong: string[] = [];
  for (const { what, text, calls } of CASES) {
    if (calls.length === 0) continue;
    const file = text.split("\n").map((line, at) => `${at + 1}\t${line}`).join("\n");
    const reader = new Grammar(TOOLS.map(({ spec }) => spec), ["What does it say?", `A:\n${file}\n[1 more]`]);
    for (const answer of [text, `It says:\n${text}`, `\`\`\`\n${text}\n\`\`\``, text.replace(/^/gm, "> ")]) {
      const made = extract(answer, reader).calls.filter(({ arguments: args }) => isJson(args));
      if (made.length > 0) wrong.push(`${what}: ${JSON.stringify(made)} of ${JSON.stringify(answer)}`);
    }
  }
  assert.deepEqual(wrong, []);
});
