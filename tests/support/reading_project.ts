/** A small project with a history, the same to the last date wherever it is made. */
import { join } from "node:path";
import { type Scratch, scratch } from "./project.ts";

const TYPESCRIPT = {
  "src/index.ts":
    'import { Cart } from "./cart.ts";\nimport { format } from "./utils/format.ts";\n\n// TODO: read the items from a file\nconst cart = new Cart();\ncart.add("item1", 2);\nconsole.log(format(cart.total()));\n',
  "src/cart.ts":
    'import { price } from "./price.ts";\n\nexport class Cart {\n  readonly items = new Map<string, number>();\n\n  add(name: string, count: number): void {\n    this.items.set(name, count);\n  }\n\n  total(): number {\n    let total = 0;\n    for (const [name, count] of this.items) total += price(name) * count;\n    return total;\n  }\n}\n',
  "src/price.ts": "/** In $ */\nexport function price(name: string): number {\n  return name.length;\n}\n",
  "src/utils/format.ts":
    "export function format(value: number): string {\n  return `$${value.toFixed(2)}`;\n}\n",
  "src/utils/math.ts":
    "// FIXME: rounding\nexport function sum(values: number[]): number {\n  return values.reduce((a, b) => a + b, 0);\n}\n",
};

const ITEMS = [["1", "tools", "12"], ["2", "toys", "5"], ["3", "tools", "40"]] as const;

const LOG = Array.from(
  { length: 200 },
  (_, index) =>
    `2024-01-${String(index % 28 + 1).padStart(2, "0")} ${
      index % 7 === 0 ? "ERROR" : "INFO"
    } line ${index}\n`,
).join("");

const FILES: Readonly<Record<string, string>> = {
  ...TYPESCRIPT,
  "package.json": `{
  "name": "shop",
  "version": "1.2.0",
  "scripts": { "build": "sh scripts/build.sh", "test": "node --test" },
  "dependencies": { "left": "1.0.0" }
}\n`,
  "package-lock.json": JSON.stringify({
    name: "shop",
    version: "1.2.0",
    lockfileVersion: 3,
    requires: true,
    packages: {
      "": { name: "shop", version: "1.2.0", dependencies: { left: "1.0.0" } },
      "node_modules/left": { version: "1.0.0" },
    },
  }),
  "lib/legacy.js": "exports.double = (value) => value * 2;\n",
  "test/cart.test.js":
    'const test = require("node:test");\n// Cart has no test yet\ntest("nothing", () => {});\n',
  "docs/guide.md": "# Guide\n\nPut things into the cart.\n",
  "docs/api.md": "# API\n\nadd(name, count)\n\ntotal()\n",
  "README.md":
    "# shop\n\nA shop with a cart, to be read. It has enough text for a line to be folded.\n\nSee docs/guide.md.\n",
  "Makefile":
    "# how it is built\nall: build\n\nbuild: src/index.ts\n\tsh scripts/build.sh\n\n.PHONY: all build\n",
  "scripts/build.sh": "#!/bin/sh\nmkdir -p dist && cp src/*.ts dist/\n",
  "data/items.csv": `name,kind,price\n${
    ITEMS.map(([number, kind, price]) => `item${number},${kind},${price}\n`).join("")
  }`,
  "data/items.json": JSON.stringify(ITEMS.map(([number, kind]) => ({ name: `item${number}`, kind }))),
  "data/log.txt": LOG,
  "notes with space.txt": "a name with spaces\n",
  ".gitignore": "node_modules/\ndist/\n",
  ".editorconfig": "root = true\n",
  "node_modules/left/package.json": '{ "name": "left", "version": "1.0.0" }\n',
  "node_modules/left/index.js": "module.exports = () => {};\n",
  "node_modules/.bin/left": "#!/bin/sh\necho left\n",
};

/**
 * A repository with branches, a tag, a stash, a remote that is never asked, and with changes that are staged, not
 * staged and new.
 */
export async function readingProject(): Promise<Scratch> {
  const project = await scratch(FILES);
  let day = 0;
  const git = async (...args: readonly string[]) => {
    const date = `2024-03-${String(++day).padStart(2, "0")}T12:00:00Z`;
    const env = {
      PATH: Deno.env.get("PATH") ?? "",
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_DATE: date,
    };
    const { success, stderr } = await new Deno.Command("git", {
      args: [...args],
      cwd: project.root,
      env,
      clearEnv: true,
    }).output();
    if (!success) throw new Error(`git ${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
  };
  const change = async (path: string, more: string) => project.write(path, await project.read(path) + more);
  await Deno.symlink("guide.md", project.path("docs", "latest.md"));
  await Deno.chmod(project.path("scripts", "build.sh"), 0o755);
  await git("init", "--quiet", "--initial-branch=main");
  await git("config", "user.name", "Test");
  await git("config", "user.email", "test@example.invalid");
  await git("remote", "add", "origin", "https://example.invalid/shop.git");
  await git("add", "--all");
  await git("commit", "--quiet", "--message=Start the shop");
  await change("src/cart.ts", "\nexport const EMPTY = new Cart();\n");
  await git("commit", "--quiet", "--all", "--message=An empty cart");
  await git("tag", "--annotate", "v1.0.0", "--message=The first one");
  await change("docs/guide.md", "\nThen pay.\n");
  await git("commit", "--quiet", "--all", "--message=The guide says how to pay");
  await git("checkout", "--quiet", "-b", "feature");
  await change("src/cart.ts", "\n// a feature\n");
  await git("commit", "--quiet", "--all", "--message=A feature");
  await git("checkout", "--quiet", "main");
  await change("README.md", "\nTo be finished.\n");
  await git("stash");
  await change("src/cart.ts", "\n// not staged\n");
  await change("src/price.ts", "\n// staged\n");
  await git("add", "src/price.ts");
  await project.write("src/new.ts", "export const fresh = 1;\n");
  await project.write("dist/bundle.js", "// built\n");
  return project;
}

/** Packed files, which lines such as `zcat` read. */
export async function addPacked(root: string): Promise<void> {
  const line = "printf 'line %s\\n' 1 2 3 | gzip -n > data/old.txt.gz; tar cf data/old.tar docs";
  const { success } = await new Deno.Command("bash", { args: ["-c", line], cwd: join(root) }).output();
  if (!success) throw new Error("Cannot pack files for the project");
}
