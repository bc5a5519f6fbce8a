/** The project's rules, kept by several Neovims at once. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ruleText } from "../../denops/agent/policy/rules.ts";
import { RuleBook } from "../../denops/agent/supervisor/gate/rule_book.ts";
import { scratch } from "../support/project.ts";

const NO_RULES = { allow: [], ask: [], deny: [] };
const CHAT = 1;

const texts = (book: RuleBook) => book.rules(CHAT).map(ruleText);

async function fileOf(state: string): Promise<string> {
  const [entry] = (await Array.fromAsync(Deno.readDir(join(state, "rules"))))
    .filter(({ name }) => name.endsWith(".json"));
  assert.ok(entry !== undefined);
  return join(state, "rules", entry.name);
}

Deno.test("what one Neovim adds or removes holds for the next decision of the other", async () => {
  await using state = await scratch();
  const one = await RuleBook.open(state.root, "/project", NO_RULES);
  const other = await RuleBook.open(state.root, "/project", NO_RULES);
  assert.deepEqual(texts(other), []);
  await one.add("run(npm test)", "allow", "project", CHAT);
  assert.deepEqual(texts(other), ["run(npm test)"]);
  await other.remove("run(npm test)", "project", CHAT);
  assert.deepEqual(texts(one), []);
  await one.remove("run(npm test)", "project", CHAT);
  await one.add("run(a)", "allow", "project", CHAT);
  await Deno.remove(await fileOf(state.root));
  assert.deepEqual(texts(one), []);
});

Deno.test("a rule is removed from its own source: an allow for all projects takes no deny along", async () => {
  await using state = await scratch();
  const book = await RuleBook.open(state.root, "/project", NO_RULES);
  await book.add("run(make)", "deny", "session", CHAT);
  await book.add("run(make)", "deny", "project", CHAT);
  await book.add("run(make)", "allow", "all projects", CHAT);
  await book.remove("run(make)", "all projects", CHAT);
  assert.deepEqual(book.rules(CHAT).map(({ source }) => source), ["session", "project"]);
  await book.remove("run(make)", "session", CHAT);
  assert.deepEqual(book.rules(CHAT).map(({ source }) => source), ["project"]);
});

Deno.test("of rules that are written at the same time none is lost, and none that was removed comes back", async () => {
  await using state = await scratch();
  const books = await Promise.all(
    Array.from({ length: 4 }, () => RuleBook.open(state.root, "/project", NO_RULES)),
  );
  const [first] = books;
  assert.ok(first !== undefined);
  const old = Array.from({ length: 10 }, (_, index) => `run(old ${index})`);
  for (const text of old) await first.add(text, "allow", "project", CHAT);
  const added = books.flatMap((_, at) => Array.from({ length: 10 }, (_, index) => `run(new ${at} ${index})`));
  await Promise.all([
    ...books.map(async (book, at) => {
      for (const text of added.slice(at * 10, at * 10 + 10)) await book.add(text, "allow", "project", CHAT);
    }),
    ...old.map((text, index) => books[index % books.length]?.remove(text, "project", CHAT)),
  ]);
  for (const book of books) assert.deepEqual(texts(book).sort(), [...added].sort());
  const left = (await Array.fromAsync(Deno.readDir(state.path("rules")))).map(({ name }) => name);
  assert.deepEqual(left.filter((name) => name.endsWith(".tmp")), []);
});

Deno.test("other projects have rules of their own", async () => {
  await using state = await scratch();
  const one = await RuleBook.open(state.root, "/one", NO_RULES);
  await one.add("run(npm test)", "allow", "project", CHAT);
  assert.deepEqual(texts(await RuleBook.open(state.root, "/other", NO_RULES)), []);
});

Deno.test("rules that cannot be read stop every decision until the file is mended", async () => {
  await using state = await scratch();
  const book = await RuleBook.open(state.root, "/project", NO_RULES);
  await book.add("run(npm test)", "allow", "project", CHAT);
  const file = await fileOf(state.root);
  const good = await Deno.readTextFile(file);
  for (
    const [bad, says] of [
      ["{", /^Cannot read the rules in .+\. Correct the file or delete it\.$/],
      [
        good.replace("run(npm test)", "read([x)"),
        /Not a rule: read\(\[x\)\. Its pattern needs a closing \]\.$/,
      ],
    ] as const
  ) {
    await Deno.writeTextFile(file, bad);
    assert.throws(() => book.rules(CHAT), { message: says });
    await assert.rejects(book.add("run(ls)", "allow", "project", CHAT), { message: says });
  }
  await Deno.writeTextFile(file, good);
  assert.deepEqual(texts(book), ["run(npm test)"]);
});
