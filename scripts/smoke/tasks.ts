/** Ten small tasks, each with a project and a check that the model does not see. */

export interface SmokeTask {
  readonly name: string;
  readonly files: Readonly<Record<string, string>>;
  readonly prompt: string;
  /** Agent unless given. */
  readonly mode?: string;
  /**
   * Body of a module that throws if the project is wrong: `load(path)` imports one of its files, `read(path)` is a
   * file's text or undefined, `assert` is Node's.
   */
  readonly check?: string;
  /** What the transcript has to say. */
  readonly answer?: RegExp;
  /** Files that must stay as they are; "all": nothing may change. */
  readonly same?: readonly string[] | "all";
}

const RANGE =
  "/** Whole numbers from `from` to `to`, both included. */\nexport function range(from, to) {\n" +
  "  const numbers = [];\n  for (let at = from; at < to; at++) numbers.push(at);\n  return numbers;\n}\n";

const CART =
  "export function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 0);\n}\n";

export const TASKS: readonly SmokeTask[] = [
  {
    name: "fix-bug",
    files: { "src/range.js": RANGE },
    prompt: "range() in src/range.js leaves out the last number. Fix it.",
    check: `const { range } = await load("src/range.js");
      assert.deepEqual(range(1, 3), [1, 2, 3]);
      assert.deepEqual(range(2, 2), [2]);`,
  },
  {
    name: "rename",
    files: {
      "src/greet.js": "export function greet(name) {\n  return `Hello ${name}`;\n}\n",
      "src/main.js": 'import { greet } from "./greet.js";\n\nexport const hello = greet("you");\n',
      "src/other.js": 'import { greet as say } from "./greet.js";\n\nexport const bye = say("me");\n',
    },
    prompt: "Rename the function greet to salute everywhere.",
    check: `assert.equal((await load("src/greet.js")).salute("a"), "Hello a");
      assert.equal((await load("src/main.js")).hello, "Hello you");
      assert.equal((await load("src/other.js")).bye, "Hello me");
      assert.doesNotMatch(read("src/main.js") + read("src/other.js"), /\\bgreet\\b(?!\\.js)/);`,
  },
  {
    name: "new-file",
    files: { "README.md": "# slugs\n" },
    prompt:
      "Write src/slug.js, an ES module that exports slug(text): lower case, each run of characters other than " +
      'a-z and 0-9 becomes one "-", none at the beginning or end.',
    check: `const { slug } = await load("src/slug.js");
      assert.equal(slug("  Hello, World! 2 "), "hello-world-2");
      assert.equal(slug("---"), "");`,
    same: ["README.md"],
  },
  {
    name: "one-key",
    files: {
      "package.json":
        '{\n    "name": "shop",\n    "version": "1.2.3",\n    "type": "module",\n    "license": "MIT"\n}\n',
    },
    prompt: "Set the version in package.json to 1.3.0.",
    check: `assert.equal(read("package.json"),
      '{\\n    "name": "shop",\\n    "version": "1.3.0",\\n    "type": "module",\\n    "license": "MIT"\\n}\\n');`,
  },
  {
    name: "where",
    files: {
      "src/net.js":
        "const RETRIES = 3;\n\nexport const options = {\n  retries: RETRIES,\n  timeout: 4_500,\n};\n",
      "src/app.js": 'import { options } from "./net.js";\n\nconsole.log(options.timeout);\n',
    },
    prompt: "In which file and line is the timeout set?",
    answer: /src\/net\.js:5/,
    same: "all",
  },
  {
    name: "plan-only",
    mode: "plan",
    files: { "src/cart.js": CART },
    prompt: "Plan how to give total() an optional discount in per cent.",
    answer: /Complexity: (?:low|medium|high)/,
    same: "all",
  },
  {
    name: "keep-the-test",
    files: {
      "src/cart.js": CART,
      "test/cart.js":
        'import assert from "node:assert/strict";\nimport { total } from "../src/cart.js";\n\n' +
        "assert.equal(total([{ price: 2, count: 3 }, { price: 1 }]), 7);\n",
    },
    prompt: "test/cart.js fails: an item may have a count, one unless given. Make it pass.",
    check: `const { total } = await load("src/cart.js");
      assert.equal(total([{ price: 2, count: 3 }, { price: 1 }]), 7);
      assert.equal(total([{ price: 5, count: 0 }]), 0);`,
    same: ["test/cart.js"],
  },
  {
    name: "delete",
    files: {
      "src/old.js": "export const old = 1;\n",
      "src/main.js": 'import { old } from "./old.js";\n\nexport const all = [old, 2];\n',
    },
    prompt: "Delete src/old.js, and the import and use of it in src/main.js.",
    check: `assert.equal(read("src/old.js"), undefined);
      assert.deepEqual((await load("src/main.js")).all, [2]);`,
  },
  {
    name: "line-endings",
    files: { "notes.txt": "one\r\ntwo – zwei\r\nthree\r\n" },
    prompt: "In notes.txt change “two” to “2”. Leave everything else as it is.",
    check: String.raw`assert.equal(read("notes.txt"), "one\r\n2 – zwei\r\nthree\r\n");`,
  },
  {
    name: "bad-input",
    files: {
      "src/age.js":
        '/** @param text such as "42" */\nexport function age(text) {\n  return parseInt(text);\n}\n',
    },
    prompt: "age() in src/age.js should throw a RangeError unless the text is a whole number from 0 to 150.",
    check: `const { age } = await load("src/age.js");
      assert.equal(age("42"), 42);
      assert.equal(age("0"), 0);
      for (const text of ["", "x", "-1", "151", "4.5", "4x"]) assert.throws(() => age(text), RangeError, text);`,
  },
];
