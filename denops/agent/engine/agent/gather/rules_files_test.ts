/** Which files of rules the model is told, when, and what of them. */
import assert from "node:assert/strict";
import { listed, newest, startIn, systemOf, unmarked } from "../../../../../tests/support/surroundings.ts";
import { isRules } from "../../../protocol/rules/names.ts";
import type { Surroundings } from "../../../protocol/surroundings.ts";

Deno.test("rules of all projects, of the root and what it imports stand in the prompt, each labelled", async () => {
  const files = {
    "AGENTS.md": "Use tabs, see @docs/style.md and @/etc/hostname and @../outside.md.\n",
    ".cursorrules": "Not this one.\n",
    "AGENTS.override.md": " \n",
    "docs/style.md": "Short lines. @more.md\n",
    "docs/more.md": "Or longer.\n",
    ".github/instructions/all.instructions.md": '---\napplyTo: "**"\n---\nBe kind.\n',
    ".github/instructions/hand.instructions.md": "By hand.\n",
  };
  const answer = {
    ...listed([
      ".github/instructions/all.instructions.md",
      ".github/instructions/hand.instructions.md",
      "AGENTS.md",
    ]),
    rules: "Answer in verse.\n",
  };
  await using engine = await startIn({ files }, answer);
  await engine.prompt("Hello");
  const system = systemOf(engine);
  const [, rules] = /(<rules [^]*<\/rules>)/.exec(system) ?? [];
  assert.equal(
    rules,
    [
      `<rules file="the user's, for all projects">\nAnswer in verse.\n</rules>`,
      `<rules file="AGENTS.md">\n${files["AGENTS.md"].trim()}\n</rules>`,
      `<rules file="docs/style.md">\nShort lines. @more.md\n</rules>`,
      `<rules file="docs/more.md">\nOr longer.\n</rules>`,
      `<rules file=".github/instructions/all.instructions.md">\nBe kind.\n</rules>`,
    ].join("\n"),
  );
});

/** Names of the files whose rules stand in the prompt. */
async function rulesIn(files: Readonly<Record<string, string>>, ...linked: readonly string[]) {
  await using engine = await startIn({ files }, listed(Object.keys(files).filter((name) => isRules(name))));
  for (const name of linked) await Deno.symlink("AGENTS.md", engine.project.path(name));
  await engine.prompt("Hello");
  const tags = systemOf(engine).matchAll(/<rules file="([^"]+)">/g);
  return { names: [...tags].map(([, name]) => name), system: systemOf(engine) };
}

Deno.test("imports are followed five deep, each file once, also in a circle", async () => {
  const files = Object.fromEntries(
    Array.from(
      { length: 8 },
      (_, at) => [`docs/${at}.md`, `Part ${at}. @${at + 1}.md @0.md @../AGENTS.md\n`],
    ),
  );
  const { names } = await rulesIn({ ...files, "AGENTS.md": "See @docs/0.md\n" });
  assert.deepEqual(names, ["AGENTS.md", ...[0, 1, 2, 3, 4].map((at) => `docs/${at}.md`)]);
  // However many they are, so many are looked up.
  const wide = Object.fromEntries(
    Array.from({ length: 90 }, (_, at) => [`${at}.md`, `${at} @${at + 1}.md @${at + 2}.md @${at + 3}.md\n`]),
  );
  const many = await rulesIn({
    ...wide,
    "AGENTS.md": "See @0.md @1.md @2.md @3.md @4.md @5.md @6.md @7.md\n",
  });
  assert.ok(many.names.length > 8 && many.names.length <= 51, `${many.names.length} files`);
});

Deno.test("CLAUDE.md counts beside AGENTS.md unless one imports the other or both are the same; local files too", async () => {
  const both = { "AGENTS.md": "Use tabs.\n", "CLAUDE.md": "Be kind.\n" };
  assert.deepEqual((await rulesIn(both)).names, ["AGENTS.md", "CLAUDE.md"]);
  assert.deepEqual((await rulesIn({ ...both, "CLAUDE.md": "@AGENTS.md\nBe kind.\n" })).names, ["AGENTS.md"]);
  assert.deepEqual((await rulesIn({ ...both, "AGENTS.md": "@CLAUDE.md\n" })).names, [
    "AGENTS.md",
    "CLAUDE.md",
  ]);
  assert.deepEqual((await rulesIn({ ...both, "CLAUDE.md": "Use tabs." })).names, ["AGENTS.md"]);
  assert.deepEqual((await rulesIn({ "AGENTS.md": "Use tabs.\n" }, "CLAUDE.md")).names, ["AGENTS.md"]);
  const local = { "AGENTS.local.md": "My way.\n", "CLAUDE.local.md": "My way too.\n" };
  assert.deepEqual((await rulesIn({ "CLAUDE.md": "Be kind.\n", ".cursorrules": "No.\n", ...local })).names, [
    "CLAUDE.md",
    "AGENTS.local.md",
    "CLAUDE.local.md",
  ]);
});

Deno.test("rules of Cursor and Claude Code: for all files, for some, and by their description", async () => {
  const files = {
    ".cursor/rules/always.mdc": "---\nalwaysApply: true\n---\nAlways so.\n",
    ".cursor/rules/deep/ts.mdc": "---\nglobs: *.ts\nalwaysApply: false\n---\nTypes.\n",
    ".cursor/rules/db.mdc": "---\ndescription: How migrations work\n---\nMigrate so.\n",
    ".cursor/rules/hand.mdc": "By hand.\n",
    ".claude/rules/tests.md": "Test all. See @../../docs/more.md\n",
    ".claude/rules/api.md": "---\npaths: src/api/**\n---\nThe interface.\n",
    "docs/more.md": "More.\n",
    "src/.cursor/rules/here.mdc": "---\nalwaysApply: true\n---\nOnly in src.\n",
    "src/api/a.ts": "1\n",
    "b.ts": "2\n",
  };
  const script =
    'call read_file {"path": "b.ts"}\n---\ncall read_file {"path": "src/api/a.ts"}\n---\nsay Done.';
  await using engine = await startIn(
    { files, script },
    listed(Object.keys(files).filter((name) => isRules(name))),
  );
  await engine.prompt("Read");
  assert.deepEqual([...systemOf(engine).matchAll(/<rules file="[^"]+">\n[^<]*/g)].map(([text]) => text), [
    '<rules file=".cursor/rules/always.mdc">\nAlways so.\n',
    '<rules file=".claude/rules/tests.md">\nTest all. See @../../docs/more.md\n',
    '<rules file="docs/more.md">\nMore.\n',
    '<rules file="more rules: read one before you do what it is about">\n' +
    "- .cursor/rules/db.mdc: How migrations work\n",
  ]);
  const told = engine.results().map((text) => [...unmarked(text).matchAll(/<rules file="([^"]+)">/g)]);
  assert.deepEqual(told.map((tags) => tags.map(([, name]) => name)), [
    [".cursor/rules/deep/ts.mdc"],
    [".claude/rules/api.md", "src/.cursor/rules/here.mdc"],
  ]);
});

Deno.test("rules that may not be read, or not unasked, or lie outside, are not told", async () => {
  const files = {
    "AGENTS.md": "Denied.\n",
    "CLAUDE.md": "Asked about.\n",
    ".cursorrules": "See @key.pem, @.git/config and @src/../.git/config.\n",
    "key.pem": "SECRET",
    ".git/config": "SECRET",
    ".claude/rules/a.md": "Fine, see @../../.git/config\n",
  };
  const outside = await Deno.makeTempFile();
  try {
    const links = [".claude/rules/key.md", ".cursor/rules/git.mdc", "CLAUDE.local.md"];
    await using engine = await startIn({
      files,
      fileRules: () =>
        Promise.resolve({
          safe_to_write: [],
          deny_read: ["AGENTS.md", "**/*.pem"],
          read_rules: { deny: [], ask: ["CLAUDE.md"] },
        }),
    }, listed([".claude/rules/a.md", ...links]));
    await Deno.writeTextFile(outside, "From outside.\n");
    await Deno.symlink(outside, engine.project.path("AGENTS.override.md"));
    await Deno.mkdir(engine.project.path(".cursor/rules"), { recursive: true });
    await Deno.symlink("../../key.pem", engine.project.path(".claude/rules/key.md"));
    await Deno.symlink("../../.git/config", engine.project.path(".cursor/rules/git.mdc"));
    await Deno.symlink(".git/config", engine.project.path("CLAUDE.local.md"));
    await engine.prompt("Hello");
    const system = systemOf(engine);
    assert.match(system, /<rules file="\.cursorrules">\nSee @key\.pem, /);
    assert.match(system, /<rules file="\.claude\/rules\/a\.md">\nFine, /);
    assert.doesNotMatch(system, /Denied|Asked about|SECRET|From outside/);
  } finally {
    await Deno.remove(outside);
  }
});

Deno.test("a folder's rules come with the result of the first call that touches it, once", async () => {
  const files = {
    "AGENTS.md": "Root.\n",
    "src/AGENTS.md": "In src.\n",
    "src/deep/CLAUDE.md": "Deep.\n",
    "src/deep/a.ts": "1\n",
    "src/b.ts": "2\n",
    "dep/AGENTS.md": "Ignored by git.\n",
    "dep/c.ts": "3\n",
    ".github/instructions/ts.instructions.md": "---\napplyTo: '**/*.ts'\n---\nTypes.\n",
  };
  const rules = [
    ".github/instructions/ts.instructions.md",
    "AGENTS.md",
    "src/AGENTS.md",
    "src/deep/CLAUDE.md",
  ];
  const script = [
    'call read_file {"path": "src/deep/a.ts"}\ncall read_file {"path": "dep/c.ts"}',
    'call read_file {"path": "src/b.ts"}',
    "say Done.",
  ].join("\n---\n");
  await using engine = await startIn({ files, script }, listed(rules));
  await engine.prompt("Read");
  const [first, second] = engine.results().map(unmarked);
  assert.doesNotMatch(first ?? "", /rules/);
  assert.equal(
    second?.slice(second.indexOf("<rules")),
    [
      '<rules file="src/AGENTS.md">\nIn src.\n</rules>',
      '<rules file="src/deep/CLAUDE.md">\nDeep.\n</rules>',
      '<rules file=".github/instructions/ts.instructions.md">\nTypes.\n</rules>',
    ].join("\n"),
  );
  assert.doesNotMatch(newest(engine), /<rules/);
  assert.doesNotMatch(JSON.stringify(engine.server.requests.at(-1)?.body), /Ignored by git/);
});

Deno.test("all rules of a session take 32 KiB at most", async () => {
  const files = { "AGENTS.md": "a line\n".repeat(10_000), "src/AGENTS.md": "In src.\n", "src/a.ts": "1\n" };
  const script = 'call read_file {"path": "src/a.ts"}\n---\nsay Done.';
  await using engine = await startIn({ files, script }, listed(["AGENTS.md", "src/AGENTS.md"]));
  await engine.prompt("Read");
  const system = systemOf(engine);
  assert.match(system, /\n\[cut: the file has 70000 bytes; read the rest\]\n<\/rules>/);
  assert.ok(system.length < 32 * 1024 + 8_000);
  assert.doesNotMatch(newest(engine), /In src/);
});

Deno.test("rules of folders are told again once the messages with them are no longer sent", async () => {
  const files = {
    "src/AGENTS.md": "In src.\n",
    "src/a.ts": "// a\n".repeat(2_000),
    "lib/AGENTS.md": "In lib.\n",
    "lib/b.ts": "1\n",
  };
  const read = (path: string) => `new-history\ncall read_file {"path": "${path}"}`;
  const script = [
    "when Stop here for a moment\nnew-history\nsay The summary.\nrepeat",
    ...[read("src/a.ts"), "say Read.", "say x.", "say y.", "say z.", read("lib/b.ts"), "say Read."],
    ...[read("src/a.ts"), read("lib/b.ts"), "new-history\nsay Read again.\nrepeat"],
  ].join("\n---\n");
  await using engine = await startIn({ files, script }, listed(["src/AGENTS.md", "lib/AGENTS.md"]));
  for (const text of ["Read", "x", "y", "z", "Other"]) await engine.prompt(text);
  const told = () => JSON.stringify(engine.server.requests.at(-1)?.body).match(/In (?:src|lib)\./g) ?? [];
  assert.deepEqual(told(), ["In src.", "In lib."]);
  await engine.session.compact("all");
  await engine.prompt("Read again");
  // Those of lib still stand in the last messages.
  assert.deepEqual(told().toSorted(), ["In lib.", "In src."]);
  assert.match(JSON.stringify(engine.server.requests.at(-1)?.body), /The summary.*In lib\..*In src\./);
});

Deno.test("a list of files that was cut is asked for again for the rules of folders; the prompt stays", async () => {
  const files = { "a.ts": "1\n", "src/AGENTS.md": "In src.\n", "src/b.ts": "2\n" };
  const answers: Surroundings[] = [{ files: { paths: ["a.ts"], more: true, rules: [], late: true } }];
  const script = 'say Hm.\n---\ncall read_file {"path": "src/b.ts"}\n---\nsay Read.';
  await using engine = await startIn(
    { files, script },
    () => answers.shift() ?? listed(["src/AGENTS.md"], ["a.ts"]),
  );
  await engine.prompt("Hello");
  const system = systemOf(engine);
  assert.match(system, /:\na\.ts$/);
  await engine.prompt("Read");
  assert.match(engine.results().at(-1) ?? "", /In src\./);
  assert.equal(systemOf(engine), system);
});
