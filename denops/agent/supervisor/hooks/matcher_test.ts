import assert from "node:assert/strict";
import { matcherProblem, matches, matchesRule } from "./matcher.ts";

Deno.test("names match exactly, other matchers are regular expressions", () => {
  for (
    const [matcher, subject, expected] of [
      ["", "Bash", true],
      ["*", "Bash", true],
      ["Bash", "Bash", true],
      ["Bash", "BashOutput", false],
      ["Edit|Write", "Write", true],
      ["Edit, Write", "Write", true],
      ["^Bash", "BashOutput", true],
      ["mcp__memory", "mcp__memory__read", false],
      ["mcp__memory__.*", "mcp__memory__read", true],
    ] as const
  ) assert.equal(matches(matcher, subject), expected, `${matcher} ${subject}`);
  assert.equal(matches("Bash", undefined), true);
  assert.match(matcherProblem("(") ?? "", /not a regular expression/);
  const usual = ["^(Edit|Write)$", "mcp__.*__(create|delete).*", "^Edit|.*Read$|^mcp__[^(+*]+__\\w+$"];
  for (const matcher of usual) assert.equal(matcherProblem(matcher), undefined, matcher);
});

Deno.test("a matcher of a hostile project cannot hold up the supervisor", () => {
  for (
    const matcher of [
      "(a+)+$",
      "((\\w+)_?)+!",
      "(\\w|\\w)*!",
      "(?:\\w|\\w){9,}!",
      "(\\w|x)".repeat(40) + "!",
      "(x|(x|x))".repeat(40) + "!",
      "\\w*".repeat(20) + "!",
      "\\w?".repeat(60) + "!",
      "[)+]?".repeat(60) + "!",
      "(?=(\\w*\\w*\\w*\\w*))!",
    ]
  ) {
    assert.match(matcherProblem(matcher) ?? "", /can take too long/, matcher);
  }
});

Deno.test("a rule narrows a hook to some calls, and one that cannot be read narrows nothing", () => {
  for (
    const [rule, tool, input, expected] of [
      ["Bash(git push *)", "Bash", { command: "git push origin" }, true],
      ["Bash(git push:*)", "Bash", { command: "git push" }, true],
      ["Bash(git push *)", "Bash", { command: "cd x && git push -f" }, true],
      ["Bash(git push *)", "Bash", { command: "if true; then (git -C x push); fi" }, true],
      ["Bash(git push *)", "Bash", { command: "A=1 timeout 5 /usr/bin/git push" }, true],
      ["Bash(git push *)", "Bash", { command: "bash -c 'git push'" }, true],
      ["Bash(rm *)", "Bash", { command: "for f in *; do rm $f; done" }, true],
      ["Bash(* --force*)", "Bash", { command: "ls; git push --force" }, true],
      ["Bash(rm *)", "Bash", { command: "rm 'x" }, true],
      ["Bash(rm *)", "Bash", { command: "echo rm 'x; rm y' $HOME" }, false],
      ["Bash(git push *)", "Bash", { command: "git pull" }, false],
      ["Bash(rm *)", "Read", { file_path: "rm" }, false],
      ["Edit(*.ts)", "Edit", { file_path: "/p/src/a.ts" }, true],
      ["Edit(*.ts)", "Edit", { file_path: "/p/src/a.js" }, false],
      ["Edit(./src/**)", "Edit", { file_path: "/p/src/a.js" }, true],
      ["Edit(/src/**/*.js)", "Edit", { file_path: "/p/src/a.js" }, true],
      ["Read(//p/src/*)", "Read", { file_path: "/p/src/a.js" }, true],
      ["Read(~/.ssh/**)", "Read", { file_path: "/home/me/.ssh/id" }, true],
      ["mcp__*", "mcp__a__b", {}, true],
      ["a(b", "Bash", { command: "ls" }, true],
    ] as const
  ) assert.equal(matchesRule(rule, tool, input), expected, `${rule} ${JSON.stringify(input)}`);
});
