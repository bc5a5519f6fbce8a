import assert from "node:assert/strict";
import { optionRows, readCommandLine, usage } from "./command_line.ts";

Deno.test("the command line: options in any order, words of the message, the last of two values", () => {
  const request = readCommandLine([
    ...[
      "--allow",
      "run(npm test *)",
      "fix",
      "--max-usd=0.5",
      "--max-turns",
      "7",
      "it",
      "--allow=write(docs/**)",
    ],
    ...["--cwd", "/a", "--cwd", "/b", "--session", "last", "--json", "--", "--now"],
  ]);
  assert.deepEqual(request.words, ["fix", "it", "--now"]);
  assert.deepEqual(request.allow, ["run(npm test *)", "write(docs/**)"]);
  const { maxUsd, maxTurns, cwd, session, json, unsandboxed, mode } = request;
  assert.deepEqual({ maxUsd, maxTurns, cwd, session, json, unsandboxed, mode }, {
    ...{
      maxUsd: 0.5,
      maxTurns: 7,
      cwd: "/b",
      session: "last",
      json: true,
      unsandboxed: false,
      mode: undefined,
    },
  });
});

Deno.test("a wrong command line is one line that says what is wrong", () => {
  for (
    const [args, message] of [
      [["--bogus", "x"], "Unknown option '--bogus'. Try agent run --help."],
      [["--model"], "Option '--model <value>' argument missing. Try agent run --help."],
      [["--model", ""], "--model needs a value. Try agent run --help."],
      [["--max-usd", "much"], '--max-usd must be a number above 0, not "much".'],
      [["--max-usd", "Infinity"], '--max-usd must be a number above 0, not "Infinity".'],
      [["--max-turns", "0"], '--max-turns must be a whole number from 1 to 1000, not "0".'],
      [["--max-turns", "1.5"], '--max-turns must be a whole number from 1 to 1000, not "1.5".'],
    ] as const
  ) assert.throws(() => readCommandLine(args), { message });
});

Deno.test("--help lists every option", () => {
  const text = usage();
  for (const [option] of optionRows()) assert.ok(text.includes(`  ${option} `), option);
});
