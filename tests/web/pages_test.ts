/** Pages in the style of twenty generators of documentation, as models see them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { webText } from "../../denops/agent/engine/tools/web/show.ts";

const PAGES = join(import.meta.dirname ?? "", "pages");

/** Page → lines that models see. Menus, banners and line numbers contain SKIPME. */
const LINES: Readonly<Record<string, readonly string[]>> = {
  docusaurus: [
    "- [Node.js](https://nodejs.org/en/download/) version 20 or above:",
    "  - tick *all* boxes.",
    "```bash",
    "yarn create docusaurus",
    "| `/blog/` | posts |",
    "Use [the API](https://docs.example/docs/api).",
  ],
  doxygen: [
    "  Repo r;",
    "## Public Member Functions",
    "| bool | open (const char *path) |",
    "| path | of the repository |",
  ],
  exdoc: ["```elixir", "[1]", "# all?(enumerable)", "| `all?([])` | true |"],
  github: [
    "## ripgrep (rg)",
    "```shell",
    "$ rg --version",
    "| [ripgrep](https://github.com/BurntSushi/ripgrep) | **0.08s** |",
    "- [x] done",
  ],
  godoc: ['	fmt.Println("a & b")', "Package strings implements simple functions."],
  haddock: ["| Copyright | (c) The University of Glasgow 2001 |", "True", "| Just a | a value |"],
  javadoc: ["# Class Optional<T>", "```java", "      .length();", "| empty | false |", "**Throws:**"],
  jsdoc: ["#### new Book(title)", "| `title` | string | The title. |", "b.read();"],
  man: [
    "| printf() | Thread safety | MT-Safe locale |",
    "       int printf(const char *restrict format, ...);",
  ],
  mdbook: ["```rust", "$ ./main", "3. First:", "  let x = 5;", "4. Second", "| rustfmt | format |"],
  mdn: ["# Array.prototype.at()", "```js", "**`index`**", "**Note:** negative counts back."],
  mkdocs: [
    "See the [setup](https://docs.example/material/setup/).",
    "```py",
    "def bubble_sort(items):",
    "    pass",
    "```cpp",
    "| `linenums` | `false \\| true` |",
    "- [x] done",
    "- [ ] open",
  ],
  npm: [
    "Zod is a **validation** library.",
    'import { z } from "zod";',
    "z.string();",
    "| zod/mini | 2kb |",
    "Zod logo",
  ],
  pdoc: ["# demo.dog", "class Dog:", "    pass", "###### Usage", "Dog()"],
  php: [
    "$b = array_map('cube', [1]);",
    "    [0] => 1",
    "| 8.0.0 | If `callback` expects a reference, a warning. |",
  ],
  rustdoc: [
    "# Struct Vec",
    "```rust",
    "    A: Allocator,",
    "A contiguous growable array type, written as `Vec<T>`.",
    "assert_eq!(vec.len(), 1);",
    "#### pub const fn new() -> Self",
  ],
  sphinx: [
    "# `json` — JSON encoder and decoder",
    "```python3",
    ">>> json.dumps(['foo'])",
    "`json.dump(obj, fp)`",
    "| object | dict |",
    "y = 2",
    "JSON is a subset of [YAML](https://yaml.org/) 1.2.",
  ],
  typedoc: ["# Class Parser<T>", "```ts", 'p.parse("<p>");', "- html: string"],
  vitepress: [
    "# Getting Started",
    "```sh",
    "$ npm add -D vitepress",
    "  title: 'My Site'",
    "| a | 1 |",
    "Is *ESM-only*.",
  ],
  yard: ["# Class: YARD::Tags::Tag", "tag = Tag.new", "def initialize(name)", "**Inherits:**"],
};

async function shownPage(name: string): Promise<{ readonly html: string; readonly text: string }> {
  const html = await Deno.readTextFile(join(PAGES, `${name}.html`));
  const { parts } = await webText({
    url: "https://docs.example/guide/page.html",
    status: 200,
    type: "text/html",
    kind: "text",
    body: html,
    isCut: false,
  });
  return { html, text: parts.join("\n") };
}

/** The texts of elements, without those of menus. */
function textsOf(html: string, element: RegExp): readonly string[] {
  return [...html.matchAll(element)].map(([text]) => plain(text)).filter((text) =>
    text !== "" && !text.includes("SKIPME")
  );
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', nbsp: " " };
const NO_TEXT =
  /<button.*?<\/button>|<span class="linenos">.*?<\/span>|<a[^>]*class="[^"]*(?:anchor|link)[^"]*".*?<\/a>/gis;

function plain(html: string): string {
  return html.replace(NO_TEXT, "").replace(/<br>|<\/div>/g, "\n").replace(/<[^>]*>/g, "")
    .replace(
      /&#(x?)(\w+);/g,
      (_, hex: string, digits: string) => String.fromCodePoint(Number.parseInt(digits, hex === "" ? 10 : 16)),
    )
    .replace(/&(\w+);/g, (_, name: string) => ENTITIES[name] ?? " ")
    .replace(/[\u200b\u00a0¶§◆]/g, " ").replace(/\s+/g, " ").trim();
}

/** Without marks and links, for a comparison of words. */
function bare(markdown: string): string {
  return markdown.replace(/\]\([^)\s]*\)/g, "").replace(/[[\]*`#>\\]/g, "").replace(/\s+/g, " ").trim();
}

for (const [name, lines] of Object.entries(LINES)) {
  Deno.test(`a page of ${name}: its code, headings and tables, and nothing of its menus`, async () => {
    const { html, text } = await shownPage(name);
    const all = text.split("\n").map((line) => line.trimEnd());
    for (const line of lines) {
      const isThere = all.some((one) => one === line || one.trim() === line.trim());
      assert.ok(isThere, `${name} has no line ${JSON.stringify(line)}:\n${text}`);
    }
    assert.ok(!text.includes("SKIPME"), `${name} shows a menu:\n${text}`);
    const code = [...text.matchAll(/^ *(`{3,})[^\n]*\n(.*?)\n *\1$/gms)].map(([, , code = ""]) =>
      plainCode(code)
    );
    for (const block of textsOf(html, /<pre[^>]*>.*?<\/pre>/gs)) {
      assert.ok(
        code.some((one) => one.includes(plainCode(block))),
        `${name} lost the code ${block}:\n${text}`,
      );
    }
    const headings = all.filter((line) => /^#{1,6} /.test(line)).map(bare);
    for (const heading of textsOf(html, /<h([1-6])[ >].*?<\/h\1>/gs)) {
      assert.ok(headings.includes(bare(heading)), `${name} lost the heading ${heading}:\n${text}`);
    }
    assert.doesNotMatch(text, /\n{3,}|\]\((?!https?:|mailto:)/, `${name}: empty lines and links`);
  });
}

function plainCode(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
