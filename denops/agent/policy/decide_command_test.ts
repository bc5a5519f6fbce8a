import assert from "node:assert/strict";
import type { CommandAccess, CommandInput } from "../protocol/commands.ts";
import { type CommandCircumstances, type CommandDecision, decideCommand } from "./decide_command.ts";
import { parseRule, RULE_VERDICTS } from "./rules.ts";

interface Rules {
  readonly allow?: string;
  readonly ask?: string;
  readonly deny?: string;
}

/** @param texts rules by verdict, parted by commas */
function decide(
  line: string,
  access: CommandAccess,
  texts: Rules = {},
  more: Partial<CommandCircumstances> = {},
): CommandDecision {
  const rules = RULE_VERDICTS.flatMap((verdict) =>
    (texts[verdict] ?? "").split(", ").filter((text) => text !== "").map((text) =>
      parseRule(text, verdict, "user")
    )
  );
  const places = { root: "/home/me/p", home: "/home/me" };
  const held = {
    sandboxed: true,
    commands: "look",
    rehearses: false,
    hidesHistory: false,
    cannotHide: undefined,
    permission: "default",
    isTainted: false,
  } as const;
  return decideCommand({ command: line, access }, { rules, places, ...held, ...more });
}

/** "allow look", "ask network", "deny run(x)": verdict, rule, and what it runs as where that is another. */
function said(asked: CommandAccess, { decision, always, access }: CommandDecision): string {
  const as = access === asked ? "" : ` as ${access}`;
  return `${decision.verdict} ${decision.rule}${always ? " always" : ""}${as}`;
}

Deno.test("a line is parsed once, however often the gate decides on it, and again for other places", () => {
  const first = decide("make test", "try");
  assert.equal(decide("make test", "write", { allow: "run(make *)" }).verdict, first.verdict);
  const elsewhere = decide("make test", "try", {}, { places: { root: "/home/me/q", home: "/home/me" } });
  assert.notEqual(elsewhere.verdict, first.verdict);
});

Deno.test("levels, rules and severities decide together", () => {
  const cases: readonly (readonly [string, CommandAccess, Rules, string])[] = [
    // What can only look runs, whatever it reads as, but for what nobody wants to see pass.
    ["ls", "look", {}, "allow look"],
    ["some-unknown-tool", "look", {}, "allow look"],
    ["npm test", "look", {}, "allow look"],
    ["echo x > a.txt", "look", {}, "allow look"],
    ["rm -rf build", "look", {}, "ask high"],
    ["cat .env", "look", {}, "ask high"],
    ["ls\u202e", "look", {}, "ask high"],
    ["rm -rf ~", "look", {}, "ask critical always"],
    ["rm -rf build", "look", { allow: "run(rm -rf build)" }, "allow run(rm -rf build)"],
    ["rm -rf ~", "look", { allow: "run(rm -rf ~), run(*)" }, "ask critical always"],
    // Writing asks, unless each command is allowed.
    ["ls", "write", {}, "ask none"],
    ["make", "write", {}, "ask medium"],
    ["make", "write", { allow: "run(make *)" }, "allow run(make *)"],
    ["make && make x", "write", { allow: "run(make), run(make x)" }, "allow run(make), run(make x)"],
    ["make && rm x", "write", { allow: "run(make *)" }, "ask medium"],
    ["make", "write", { allow: "git(make *)" }, "ask medium"],
    ["make", "write", { allow: "network(make *)" }, "ask medium"],
    // A line that a rule allows and that reads as a look is no more than that.
    ["git diff", "write", { allow: "run(git diff *)" }, "allow run(git diff *) as look"],
    ["git diff", "git", { allow: "run(git diff *)" }, "allow run(git diff *) as look"],
    ["git diff", "git+network", { allow: "git(git diff *)" }, "allow git(git diff *) as look"],
    ["git diff", "look+network", { allow: "run(git diff *)" }, "allow run(git diff *) as look"],
    ["npm test", "write", { allow: "run(npm test *)" }, "allow run(npm test *)"],
    // Leave to change the repository comes from git(…) alone.
    ["git commit -m x", "git", {}, "ask git"],
    ["git commit -m x", "git", { allow: "run(git commit *)" }, "ask git"],
    ["git commit -m x", "git", { allow: "git(git commit *)" }, "allow git(git commit *)"],
    ["git commit -m x", "write", { allow: "git(git commit *)" }, "ask medium"],
    ["npm test", "git", { allow: "run(npm test *)" }, "ask git"],
    ["npm test && git add a", "git", { allow: "run(npm test), git(git add *)" }, "ask git"],
    [
      "npm test && git add a",
      "git",
      { allow: "git(npm test), git(git add *)" },
      "allow git(npm test), git(git add *)",
    ],
    // The network is a question of its own.
    ["npm view a", "look+network", {}, "ask network"],
    ["npm view a", "look+network", { allow: "run(npm view *)" }, "ask network"],
    ["npm view a", "look+network", { allow: "network(npm view *)" }, "allow look"],
    ["npm install", "write+network", { allow: "network(npm install)" }, "ask medium"],
    [
      "npm install",
      "write+network",
      { allow: "network(npm install), run(npm install)" },
      "allow run(npm install), network(npm install)",
    ],
    ["git fetch", "git+network", { allow: "git(git fetch *)" }, "ask network"],
    [
      "git fetch",
      "git+network",
      { allow: "git(git fetch *), network(git fetch *)" },
      "allow git(git fetch *), network(git fetch *)",
    ],
    // What is forbidden or asked about is so at each level.
    ["git push", "git", { deny: "run(git push *)", allow: "git(git push *)" }, "deny run(git push *)"],
    ["git push", "look", { deny: "run(git push *)" }, "deny run(git push *)"],
    ["git push", "git", { deny: "git(git push *)" }, "deny git(git push *)"],
    ["git push", "write", { deny: "git(git push *)" }, "ask high"],
    ["curl x", "look+network", { deny: "network(curl *)" }, "deny network(curl *)"],
    ["curl x", "look", { deny: "network(curl *)" }, "allow look"],
    ["rm -rf ~", "write", { deny: "run(rm *)" }, "deny run(rm *)"],
    ["sh -c 'git push'", "look", { deny: "run(git push *)" }, "deny run(git push *)"],
    ["ls; make", "write", { ask: "run(make *)", allow: "run(*)" }, "ask run(make *)"],
    ["ls", "look", { ask: "run(ls *)" }, "ask run(ls *)"],
    ["make", "look", { ask: "git(make)" }, "allow look"],
    ["make", "git", { ask: "git(make)", allow: "git(*)" }, "ask git(make)"],
    ["curl x", "look+network", { ask: "network(curl *)", allow: "network(*)" }, "ask network(curl *)"],
    // What expands is covered by nothing.
    ["make $X", "write", { allow: "run(make *), run(*)" }, "ask medium"],
    ["git diff --output=x", "write", { allow: "run(git diff *)" }, "ask medium"],
  ];
  for (const [line, access, rules, expected] of cases) {
    assert.equal(said(access, decide(line, access, rules)), expected, `${line} at ${access}`);
  }
});

Deno.test("without a sandbox each command asks, whatever the rules say, and a deny still denies", () => {
  const bare = { sandboxed: false };
  for (const access of ["look", "write", "git", "look+network"] as const) {
    const found = decide("ls", access, { allow: "run(*), git(*), network(*)" }, bare);
    assert.deepEqual([found.decision.verdict, found.always], ["ask", true], access);
  }
  assert.equal(decide("ls", "look", { deny: "run(ls)" }, bare).decision.verdict, "deny");
});

Deno.test("where looks ask, a rule still answers", () => {
  const asking = { commands: "ask" } as const;
  assert.equal(said("look", decide("ls", "look", {}, asking)), "ask none");
  assert.equal(said("look", decide("ls -la", "look", { allow: "run(ls *)" }, asking)), "allow run(ls *)");
});

Deno.test("over an overlay everything offline runs unasked but for what reads secrets, and what changes .git", () => {
  const overlay = { rehearses: true };
  const cases: readonly (readonly [string, CommandAccess, Rules, string])[] = [
    ["make", "try", {}, "allow try"],
    ["make", "write", {}, "allow write"],
    ["rm -rf build", "write", {}, "allow write"],
    ["rm -rf build", "try", {}, "allow try"],
    ["rm -rf build", "look", {}, "ask high"],
    ["cat .env", "try", {}, "ask high"],
    ["cat .env > a", "write", {}, "ask high"],
    ["rm -rf ~", "try", {}, "ask critical always"],
    ["make", "try", { deny: "run(make)" }, "deny run(make)"],
    ["make", "write", { ask: "run(make)" }, "ask run(make)"],
    ["make", "write", { allow: "run(make)" }, "allow run(make)"],
    ["npm install", "write+network", {}, "ask network"],
    ["npm install", "try+network", {}, "ask network"],
    ["git commit -m x", "git", {}, "ask git"],
    ["git commit -m x", "try", {}, "allow try"],
  ];
  for (const [line, access, rules, expected] of cases) {
    const found = decide(line, access, rules, overlay);
    assert.equal(said(access, found), expected, `${line} at ${access}`);
    const level = access.split("+")[0] ?? "";
    assert.equal(found.rehearsed, ["try", "write"].includes(level), line);
    assert.equal(found.agreed, "allow" in rules, line);
  }
  assert.equal(said("write", decide("make", "write", {}, { ...overlay, commands: "ask" })), "ask medium");
  assert.equal(decide("make", "write", {}, { ...overlay, commands: "ask" }).rehearsed, true);
  assert.equal(
    said("write", decide("make", "write", {}, { ...overlay, commands: "project" })),
    "allow write",
  );
});

Deno.test("what is in the background, or is to be direct, or has no overlay, is not rehearsed and asks", () => {
  const places = { root: "/p", home: "/home/me" };
  const of = (more: Partial<CommandInput>, rehearses = true, command = "make") => {
    const found = decideCommand({ command, ...more }, {
      ...{ rules: [], places, sandboxed: true, commands: "look", rehearses, hidesHistory: false },
      ...{ cannotHide: undefined, permission: "default", isTainted: false },
    });
    return `${said(found.requestedAccess, found)} at ${found.requestedAccess}${
      found.rehearsed ? " rehearsed" : ""
    }`;
  };
  assert.equal(of({ access: "write", background: true }), "ask medium at write");
  assert.equal(of({ access: "write", direct: true }), "ask medium at write");
  assert.equal(of({ access: "write" }, false), "ask medium at write");
  assert.equal(of({ access: "try" }, false), "ask medium at write");
  assert.equal(of({ access: "try" }, false, "npm test"), "allow look at look");
  assert.equal(of({ access: "try", background: true }, true, "npm test"), "allow look at look");
  // Where a line names nothing.
  assert.equal(of({}), "allow write at write rehearsed");
  assert.equal(of({}, true, "npm test"), "allow try at try rehearsed");
  assert.equal(of({}, true, "some-tool"), "allow try at try rehearsed");
  assert.equal(of({}, false, "some-tool"), "ask medium at write");
  assert.equal(of({}, true, "git commit -m x"), "ask git at git");
});

Deno.test("with the project's programs on PATH rules on names allow looks only, and what needs no rule stays so", () => {
  const places = { root: "/p", home: "/home/me" };
  const allow = ["run(npm *)", "run(ls *)", "git(git commit *)", "network(npm *)"];
  const decided = (command: string, access: CommandAccess, on: "PATH" | "VIRTUAL_ENV", asks = true) => {
    const activation = on === "PATH"
      ? { before: [], after: ["/p/bin"] }
      : { virtualEnv: "/p/.venv", before: [], after: [] };
    const found = decideCommand({ command, access, activation }, {
      ...{ places, sandboxed: true, commands: asks ? "ask" : "look", rehearses: true, hidesHistory: false },
      rules: allow.map((text) => parseRule(text, "allow", "user")),
      cannotHide: undefined,
      permission: "default",
      isTainted: false,
    });
    assert.ok(on !== "PATH" || !found.agreed || found.access === "look", command);
    return `${said(access, found)}${found.suggestion === undefined ? "" : ` or ${found.suggestion}`}`;
  };
  for (
    const [line, access, withPath, withoutPath] of [
      ["npm test", "write", "ask medium", "allow run(npm *)"],
      ["npm test", "try", "ask medium", "allow run(npm *)"],
      ["git commit -m x", "git", "ask git", "allow git(git commit *)"],
      ["npm install", "write+network", "ask network", "allow run(npm *), network(npm *)"],
      ["ls -la", "write", "allow run(ls *) as look", "allow run(ls *) as look"],
    ] as const
  ) {
    assert.equal(decided(line, access, "PATH"), withPath, line);
    assert.equal(decided(line, access, "VIRTUAL_ENV"), withoutPath, line);
  }
  assert.equal(decided("npm test", "write", "PATH", false), "allow write");
  assert.equal(decided("ls", "look", "PATH", false), "allow run(ls *)");
});

Deno.test("without a sandbox only a rule for that approves, unless a rule asks or denies or the line is critical", () => {
  const unsandboxed = ["run(make *)", "run(rm *)"].map((text) => parseRule(text, "allow", "user"));
  const cases: readonly (readonly [string, Rules, string])[] = [
    ["make test", {}, "allow run(make *) without a sandbox"],
    ["make test && make all", {}, "allow run(make *) without a sandbox"],
    ["npm test", { allow: "run(npm *)" }, "ask no sandbox always"],
    ["make test && npm test", { allow: "run(npm *)" }, "ask no sandbox always"],
    ["make $(npm test)", {}, "ask no sandbox always"],
    ["make test", { ask: "run(make *)" }, "ask no sandbox always"],
    ["make test", { deny: "run(make test)" }, "deny run(make test)"],
    ["make test", { deny: "network(make *)" }, "deny network(make *)"],
    ["rm -rf ~", {}, "ask critical always"],
  ];
  for (const [line, rules, wanted] of cases) {
    const decided = decide(line, "git+network", rules, { sandboxed: false, unsandboxed });
    assert.equal(said("git+network", decided), wanted, line);
  }
  const activation = { before: ["/home/me/p/bin"], after: [] };
  const renamed = decideCommand({ command: "make test", access: "git+network", activation }, {
    ...{
      rules: [],
      places: { root: "/home/me/p" },
      sandboxed: false,
      unsandboxed,
      commands: "look",
      rehearses: false,
    },
    ...{ hidesHistory: false, cannotHide: undefined, permission: "default", isTainted: false },
  });
  assert.equal(said("git+network", renamed), "ask no sandbox always");
  assert.equal(said("write", decide("make test", "write", {}, { unsandboxed })), "ask medium");
});

Deno.test("a line that wants the network gets the hosts that rules open, at its level without the network", () => {
  const open = { opensHosts: true, rehearses: true } as const;
  const allow = "host(b.test), host(a.test)";
  const cases: readonly (readonly [string, CommandAccess, Rules, Partial<CommandCircumstances>, string])[] = [
    ["npm install", "write+network", { allow }, open, "allow write as write: a.test b.test"],
    ["npm install", "try+network", { allow }, open, "allow try as try: a.test b.test"],
    ["curl a.test", "look+network", { allow }, open, "allow try as try: a.test b.test"],
    ["git fetch", "git+network", { allow }, open, "ask git as git: a.test b.test"],
    [
      "git fetch",
      "git+network",
      { allow: `${allow}, git(git fetch)` },
      open,
      "allow git(git fetch) as git: a.test b.test",
    ],
    [
      "npm install",
      "write+network",
      { allow: `${allow}, run(npm install)` },
      open,
      "allow run(npm install) as write: a.test b.test",
    ],
    [
      "npm install",
      "write+network",
      { allow, deny: "host(b.test)" },
      open,
      "allow write as write: a.test b.test !b.test",
    ],
    [
      "npm install",
      "write+network",
      { allow: "host(*.test)", ask: "host(b.test)" },
      open,
      "allow write as write: *.test !b.test",
    ],
    ["cat .env", "try+network", { allow }, open, "ask high as try: a.test b.test"],
    // None is left, or none is wanted.
    ["npm install", "write+network", { allow, deny: "host(*.test)" }, open, "ask network"],
    ["npm install", "write+network", { deny: "host(b.test)" }, open, "ask network"],
    ["npm install", "write", { allow }, open, "allow write"],
    ["ls", "look+network", { allow: `${allow}, run(ls)` }, open, "allow run(ls) as look"],
    // A rule on the line is about the whole network.
    ["npm install", "write+network", { allow, deny: "network(npm *)" }, open, "deny network(npm *)"],
    ["npm install", "write+network", { allow, ask: "network(npm *)" }, open, "ask network(npm *)"],
    ["npm install", "write+network", { allow: `${allow}, network(npm *)` }, open, "allow write"],
    // Without rehearsals, a look has no level for it, and other lines ask as without the network.
    ["curl a.test", "look+network", { allow }, { opensHosts: true }, "ask network"],
    ["npm install", "write+network", { allow }, { opensHosts: true }, "ask medium as write: a.test b.test"],
    // Other sandboxes open no hosts, and nothing does without a sandbox.
    ["npm install", "write+network", { allow }, { rehearses: true }, "ask network"],
    [
      "npm install",
      "write+network",
      { allow },
      { ...open, sandboxed: false },
      "ask no sandbox always as git+network",
    ],
    ["rm -rf ~", "write+network", { allow }, open, "ask critical always as write: a.test b.test"],
  ];
  for (const [line, access, rules, more, expected] of cases) {
    const decision = decide(line, access, rules, more);
    const hosts = decision.hosts.length === 0 ? "" : `: ${decision.hosts.join(" ")}`;
    assert.equal(said(access, decision) + hosts, expected, `${line} at ${access}`);
    assert.ok(decision.hosts.length === 0 || !decision.access.endsWith("+network"));
  }
});

Deno.test("rules on hosts go by no program's name, so an activated environment changes nothing", () => {
  const places = { root: "/p", home: "/home/me" };
  const rules = ["host(a.test)", "network(npm *)"].map((text) => parseRule(text, "allow", "user"));
  const activation = { before: ["/p/bin"], after: [] };
  const { hosts, decision } = decideCommand(
    { command: "npm install", access: "write+network", activation },
    {
      ...{ rules, places, sandboxed: true, commands: "look", rehearses: true, hidesHistory: false },
      ...{ cannotHide: undefined, permission: "default", isTainted: false, opensHosts: true },
    },
  );
  assert.deepEqual(hosts, ["a.test"]);
  assert.equal(decision.rule, "write");
});
