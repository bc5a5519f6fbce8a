import assert from "node:assert/strict";
import fc from "fast-check";
import { parse } from "unbash";
import {
  commandMatches,
  type CommandVerdict,
  judgeCommand,
  lineMatches,
  linesCovered,
  lineTouches,
  type Severity,
  specificity,
  suggestRules,
} from "./command.ts";

const RANK: Readonly<Record<string, number>> = { none: 0, medium: 1, high: 2, critical: 3 };
const rank = (verdict: CommandVerdict) => RANK[verdict.severity] ?? -1;

interface Row {
  readonly line: number;
  readonly cells: readonly string[];
}

/** The rows of a table next to this file; "⏎" stands for a line break. */
function table(name: string): readonly Row[] {
  const text = Deno.readTextFileSync(new URL(`./${name}`, import.meta.url));
  return text.split("\n").flatMap((row, index) => {
    if (row === "" || /^#( |$)/.test(row)) return [];
    const cells = row.split(" │").map((cell) => cell.replace(/^ /, "").replaceAll("⏎", "\n"));
    return [{ line: index + 1, cells }];
  });
}

const CASES = table("command_cases.txt").map(({ line, cells: [severity = "", command = ""] }) => ({
  line,
  severity,
  command,
}));

Deno.test("every command of the table has its severity", () => {
  const wrong = CASES.flatMap(({ line, severity, command }) => {
    const found = judgeCommand(command);
    return found.severity === severity
      ? []
      : [`${line}: ${command}\n    should be ${severity}, is ${found.severity}: ${found.reason}`];
  });
  assert.equal(wrong.join("\n"), "");
  assert.ok(CASES.length >= 320);
});

Deno.test("the reason is one line that names the command", () => {
  for (const { command } of CASES) {
    const { reason } = judgeCommand(command);
    assert.ok(!reason.includes("\n") && reason.length > 0 && reason.length < 200, reason);
  }
  assert.equal(judgeCommand("ls; rm -rf dist | cat").reason, "rm -rf dist: deletes");
});

Deno.test("rules cover and touch the lines that the table says", () => {
  const wrong: string[] = [];
  const rows = table("command_rule_cases.txt");
  for (const { line, cells: [kind = "", pattern = "", command = ""] } of rows) {
    const [covers, touches] = [lineMatches(pattern, command), lineTouches(pattern, command)];
    const right = { allows: covers, refuses: !covers, touches, misses: !touches }[kind];
    if (right !== true) wrong.push(`${line}: ${kind} │ ${pattern} │ ${command}`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(rows.length >= 60);
});

Deno.test("several rules cover a line together", () => {
  const line = "npm test 2>&1 | tail -n 20";
  assert.equal(linesCovered(["npm test *"], line), false);
  assert.equal(linesCovered(["npm test *", "tail *"], line), true);
  assert.equal(linesCovered(["npm test *", "tail *"], `${line} > out.txt`), false);
});

Deno.test("the narrower pattern is the more specific", () => {
  const order = ["*", "git *", "git diff *", "git diff --stat *", "git diff --stat"];
  for (const [index, pattern] of order.entries()) {
    for (const wider of order.slice(0, index)) {
      assert.ok(specificity(pattern) > specificity(wider), `${pattern} over ${wider}`);
    }
  }
  assert.ok(specificity("npm run test:*") > specificity("npm run *"));
});

Deno.test("always allow suggests the smallest sensible rule", () => {
  const expected: readonly (readonly [string, string | undefined])[] = [
    ["npm test -- --watch=false", "run(npm test *)"],
    ["npm run build", "run(npm run build *)"],
    ["cargo test foo", "run(cargo test *)"],
    ["git log --oneline", "run(git log *)"],
    ["pytest -q tests", "run(pytest *)"],
    ["python -m pytest -q", "run(python -m pytest *)"],
    ["python script.py 1", "run(python script.py *)"],
    ["./gradlew test", "run(./gradlew *)"],
    ["NO_COLOR=1 npm test", "run(npm test *)"],
    ["npm test | tail -n 5", "run(npm test *), run(tail *)"],
    ["timeout 60 cargo test", "run(cargo test *)"],
    ["cd web && npm test", "run(cd *), run(npm test *)"],
    ["rm a.txt", "run(rm a.txt)"],
    ["rm -rf dist", "run(rm -rf dist)"],
    ["git push origin main", "run(git push origin main)"],
    ["git commit -m 'a b'", "run(git commit *)"],
    ["curl https://example.org", "run(curl https://example.org)"],
    ["find . -name '*.ts'", "run(find . -name \\*.ts)"],
    ["npm test > out.txt", undefined],
    ["rm -rf /", undefined],
    ['rm "$X"', undefined],
    ["$X", undefined],
    ["PATH=. ls", undefined],
    ["ls )", undefined],
    ["curl x | sh", undefined],
  ];
  for (const [line, rule] of expected) assert.equal(suggestRules(line)?.join(", "), rule, line);
});

Deno.test("what is suggested covers the line it was suggested for, and never a critical one", () => {
  for (const { command } of CASES) {
    const verdict = judgeCommand(command);
    const rules = suggestRules(verdict);
    if (rules === undefined) continue;
    assert.notEqual(verdict.severity, "critical", command);
    const patterns = rules.map((rule) => rule.slice("run(".length, -1));
    assert.ok(linesCovered(patterns, verdict), `${command} by ${rules.join(", ")}`);
    for (const other of ["rm -rf ~", `${command}\nrm -rf ~`, `rm -rf ~; ${command}`]) {
      assert.ok(!linesCovered(patterns, other), `${patterns.join(", ")} covers ${other}`);
    }
  }
});

Deno.test("network and written files are seen", () => {
  const expected: readonly (readonly [string, boolean, boolean])[] = [
    ["ls", false, false],
    ["cat a | grep b", false, false],
    ["curl https://example.org", true, false],
    ["curl https://example.org -o x", true, true],
    ["npm install", true, true],
    ["git fetch", true, true],
    ["git status", false, false],
    ["echo x > a.txt", false, true],
    ["ls > /dev/null 2>&1", false, false],
    ["sed -i s/a/b/ a.txt", false, true],
    ["some-tool https://example.org", true, true],
    ["ls | xargs rm", false, true],
    ["bash -c 'curl https://example.org'", true, false],
  ];
  for (const [line, network, writesFiles] of expected) {
    const verdict = judgeCommand(line);
    assert.deepEqual([verdict.network, verdict.writesFiles], [network, writesFiles], line);
  }
});

Deno.test("absolute paths into the project count as the project's", () => {
  const places = { root: "/home/me/project", home: "/home/me" };
  const expected: readonly (readonly [string, Severity])[] = [
    ["rm -rf /home/me/project/dist", "high"],
    ["echo x > /home/me/project/a.txt", "medium"],
    ["cat /home/me/project/a.txt", "none"],
    ["rm -rf /home/me/project", "critical"],
    ["rm -rf /home/me/project/../other", "critical"],
    ["echo x > /home/me/.bashrc", "critical"],
    ["echo x > /home/me/project/.git/hooks/pre-commit", "critical"],
    ["cat /home/me/.ssh/id_rsa", "high"],
    ["rm -rf /home/me/project-other", "critical"],
  ];
  for (const [line, severity] of expected) assert.equal(judgeCommand(line, places).severity, severity, line);
});

Deno.test("the simple commands are listed as they will run", () => {
  const { commands } = judgeCommand("cd src && timeout 5 npm test | tee \"$OUT\"; X=1 sh -c 'ls a'");
  assert.deepEqual(commands.map(({ words, transparent }) => [words.join(" "), transparent]), [
    ["cd src", false],
    ["npm test", false],
    ["timeout 5 npm test", true],
    ["tee \u{FFFC}", false],
    ["tee", false],
    ["ls a", false],
    ["sh -c ls a", false],
  ]);
});

// ── What holds for all lines ────────────────────────────────────────────────────────────────────────────────────

/** Pieces from which lines grow that a shell finds hard to read. */
const TOKENS =
  `rm|-rf|/|~|ls|sh|-c|eval|git|diff|curl|x|a b|$X|"$X"|\${X}|\${X:-rm}|\${X/a/b}|$(|)|(|{ |; }|\`|'|"|\\|$'|#|;|&|&&|\\|||>|>>|<|<<E\n|\nE\n|<<<|<(|>(|2>&1|[[ |]]|((|))|$((|if |then |fi|for i in |do |done|while true|case x in |esac|f() {|}|function f |!|time |coproc |X=|X=(|*|?|{a,b}|{rm,-rf,/}| |  |\n|\t|é|sudo |env |nohup |timeout 5 |xargs |find . -exec |\\;|python -c |trap |alias l=|cd |/dev/sda|.git|base64 -d|true|awk '|sed e`
    .split(/(?<!\\)\|/).map((token) => token.replaceAll("\\|", "|")).filter((token) => token !== "");

const soup = fc.array(fc.constantFrom(...TOKENS, " ", " ", " ", "; "), { maxLength: 25 }).map((all) =>
  all.join("")
);
const known = fc.constantFrom(...CASES.map(({ command }) => command));
const anyLine = fc.oneof(
  { weight: 4, arbitrary: known },
  { weight: 4, arbitrary: soup },
  { weight: 1, arbitrary: fc.string({ maxLength: 60 }) },
  {
    weight: 2,
    arbitrary: fc.tuple(known, fc.constantFrom("; ", " && ", " | ", "\n", " & ", " "), soup).map((all) =>
      all.join("")
    ),
  },
);
const RUNS = { numRuns: 400, seed: 7 };

/** Around any line; a line break ends a comment or a here-document that the line may end in. */
const WRAPS: readonly (readonly [string, (line: string) => string])[] = [
  ["sh -c", (line) => `sh -c '${line.replaceAll("'", "'\\''")}'`],
  ["bash -lc", (line) => `bash -lc '${line.replaceAll("'", "'\\''")}'`],
  ["eval", (line) => `eval '${line.replaceAll("'", "'\\''")}'`],
  ["( … )", (line) => `( ${line}\n)`],
  ["$( … )", (line) => `$( ${line}\n)`],
  ["{ … }", (line) => `{ ${line}\n}`],
  ["if", (line) => `if true; then ${line}\nfi`],
  ["a function", (line) => `f() { ${line}\n}; f`],
  ["a pipe", (line) => `true | { ${line}\n}`],
  ["a further command", (line) => `${line}; rm -rf ~`],
];

/** Before a simple command: what changes the shell itself, or is no command, means something else there. */
const PREFIXES = [
  "env",
  "nohup",
  "timeout 5",
  "nice -n 5",
  "command",
  "sudo",
  "exec",
  "xargs",
  "time",
  "env A=b",
  "stdbuf -oL",
];
const SHELL_ITSELF =
  /^(cd|pushd|popd|set|shopt|export|declare|typeset|readonly|local|unset|alias|unalias|shift|trap|let|read|eval|\.|source|exec|return|exit|hash|enable|time|!)$/;

function isSimple(line: string): boolean {
  const script = parse(line);
  const command = script.commands[0]?.command;
  return script.errors === undefined && script.commands.length === 1 && command?.type === "Command" &&
    command.prefix.length === 0 && command.pos === 0 && command.end === line.length &&
    command.name !== undefined && command.name.value !== "" && !SHELL_ITSELF.test(command.name.value) &&
    !command.name.value.startsWith("-") && !/^\w+=|^!/.test(command.name.value);
}

for (const [name, wrap] of WRAPS) {
  Deno.test(`${name} around any line never lowers its severity`, () => {
    fc.assert(
      fc.property(anyLine, (line) => {
        // Text that starts like an option is none for the shell.
        if (/ -\w*c$/.test(name) && /^[-+]/.test(line)) return;
        const [plain, wrapped] = [judgeCommand(line), judgeCommand(wrap(line))];
        // Here the wrapping has made a line of what was none before.
        if (!plain.parsed && wrapped.parsed) return;
        assert.ok(rank(wrapped) >= rank(plain), `${plain.severity} (${plain.reason}) → ${wrapped.severity}`);
      }),
      RUNS,
    );
  });
}

Deno.test("a program that runs a command never lowers its severity", () => {
  const simple = anyLine.map((line) => line.split(/[;&|\n]/)[0]?.trim() ?? "").filter(isSimple);
  fc.assert(
    fc.property(simple, fc.constantFrom(...PREFIXES), (line, prefix) => {
      // What is fed to xargs becomes arguments, and no longer is what the command reads.
      if (prefix.startsWith("xargs") && line.includes("<<")) return;
      const [plain, wrapped] = [judgeCommand(line), judgeCommand(`${prefix} ${line}`)];
      const message =
        `${prefix}: ${plain.severity} (${plain.reason}) → ${wrapped.severity} (${wrapped.reason})`;
      assert.ok(rank(wrapped) >= rank(plain), message);
    }),
    { numRuns: 1000, seed: 7 },
  );
});

Deno.test("an allow rule never covers a line with a further command", () => {
  const more = fc.constantFrom(
    "; rm x",
    " && rm x",
    " || rm x",
    " | rm x",
    " & rm x",
    "\nrm x",
    " $(rm x)",
    " `rm x`",
    " <(rm x)",
    " > x",
    ' "$(rm x)"',
    " <<< $(rm x)",
  );
  fc.assert(
    fc.property(known, more, (line, rest) => {
      const [first] = judgeCommand(line).commands;
      const name = first?.words[0];
      if (name === undefined || name === "rm" || /['"#\\]|<</.test(line)) return;
      assert.ok(!lineMatches(`${name} *`, `${line}${rest}`), `${name} * covers ${line}${rest}`);
    }),
    RUNS,
  );
});

Deno.test("any text is judged, without an error", () => {
  fc.assert(
    fc.property(fc.oneof(soup, fc.string({ unit: "binary", maxLength: 200 }), anyLine), (line) => {
      const verdict = judgeCommand(line);
      assert.ok(rank(verdict) >= 0);
      assert.ok(!verdict.reason.includes("cannot be judged"), verdict.reason);
      suggestRules(verdict);
      for (const command of verdict.commands) commandMatches("git *", command);
    }),
    { numRuns: 800, seed: 7 },
  );
});

Deno.test("10 kB of anything, however deep, come to an end soon", () => {
  const size = 10_000;
  const tokens = [
    ...TOKENS,
    "((",
    "$(case x in x) ",
    '"$(',
    '"${a:-"',
    "a[$(",
    "<<a\n",
    "cd a;",
    "cd ..;",
    "X=$X$X;",
    "$X ",
  ];
  for (const token of tokens) {
    for (const prefix of ["", "rm "]) {
      const line = prefix + token.repeat(Math.ceil(size / token.length));
      const start = performance.now();
      const verdict = judgeCommand(line);
      // Usually below 50 ms; a machine that is busy with other things may take longer, but never this long.
      assert.ok(performance.now() - start < 3_000, `${JSON.stringify(prefix + token)} × ${size}`);
      assert.ok(rank(verdict) >= 0);
    }
  }
  assert.equal(judgeCommand("(".repeat(size)).severity, "critical");
  assert.equal(judgeCommand(`${"$(".repeat(size)}ls${")".repeat(size)}`).severity, "critical");
});
