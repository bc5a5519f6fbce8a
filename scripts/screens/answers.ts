/** What the scripted model answers in the pictures. Format: `scripted_model/script.ts`. */

function call(name: string, args: Readonly<Record<string, unknown>>): string {
  return `call ${name} ${JSON.stringify(args)}`;
}

function say(text: string): string {
  return text.trim().split("\n").map((line) => `say ${line}`).join("\n");
}

/** Answers in their order. */
function script(...answers: readonly (readonly string[])[]): string {
  return answers.map((parts) => parts.join("\n")).join("\n---\n");
}

const LOAD = "lua/todo/store.lua";

const EDIT = call("edit_file", {
  path: LOAD,
  old_str: `  local items = {}
  for line in io.lines(path) do
    local mark, text = line:match("^%[(.)%] (.*)$")
    table.insert(items, { text = text, done = mark == "x" })
  end
  return items
end`,
  new_str: `  local items = {}
  if vim.fn.filereadable(path) == 0 then
    return items
  end
  for line in io.lines(path) do
    local mark, text = line:match("^%[(.)%] (.*)$")
    if text then
      table.insert(items, { text = text, done = mark == "x" })
    end
  end
  return items
end`,
});

const SPEC = call("write_file", {
  path: "tests/store_spec.lua",
  content: `local store = require("todo.store")

it("starts with an empty list", function()
  assert.same({}, store.load("missing.txt"))
end)
`,
});

/** Two files change; the answers have prose, thoughts and code. */
export const FIX = script(
  [
    "think Where is the list loaded, and who calls it?",
    call("read_file", { path: LOAD }),
    call("search", { pattern: "store.load" }),
    "usage 11240 95",
  ],
  [
    say(`\`io.lines\` throws if the file is missing, so the first \`:Todo add\` fails. Two cases need care:

1. **No file yet**: \`load\` returns an empty list.
2. **A line without a mark**: \`load\` skips it instead of storing \`nil\`.`),
    EDIT,
    SPEC,
    "usage 12380 310",
  ],
  [say("The first `:Todo add` creates the file now. A new test covers it."), "usage 13240 45"],
);

/** Stops at the gate "held", in the middle of a code block. */
export const STREAM = script(
  [
    "think Where is the list loaded, and who calls it?",
    call("read_file", { path: LOAD }),
    call("search", { pattern: "store.load" }),
    "usage 11240 95",
  ],
  [
    say(
      `\`io.lines\` throws if the file is missing, so the first \`:Todo add\` fails. I would check the file first:

\`\`\`lua
function M.load(path)
  local items = {}
  if vim.fn.filereadable(path) == 0 then
    return items`,
    ),
    "wait held",
    say("  end\n```"),
  ],
);

/** Every form of markdown that models use often. */
export const MARKDOWN = script([
  say(`# How the list is stored

The store keeps **one item on a line**, as *plain text*, in \`stdpath("data")\`. See [the help](https://neovim.io/doc/user/) or <https://example.com/todo>. ~~XML~~ was never an option.

## Reading

\`\`\`lua
-- Returns the items of a file.
local function load(path)
  local items = {} ---@type todo.Item[]
  for line in io.lines(path) do
    items[#items + 1] = parse(line) or error("bad line: " .. line)
  end
  return items
end
\`\`\`

The same in TypeScript, Python and the shell:

\`\`\`typescript
export async function load(path: string): Promise<Item[]> {
  const text = await Deno.readTextFile(path); // throws NotFound
  return text.split("\\n").map((line, at) => ({ text: line, number: at + 1 }));
}
\`\`\`

\`\`\`python
def load(path: str) -> list[Item]:
    """Returns the items of a file."""
    with open(path) as file:
        return [Item(text=line.strip(), done=False) for line in file]
\`\`\`

\`\`\`sh
grep -c '^\\[x\\]' "$HOME/todo.txt" | sort -n # how many are done
\`\`\`

\`\`\`diff
@@ -1,2 +1,2 @@
-local path = "todo.txt"
+local path = vim.fs.joinpath(vim.fn.stdpath("data"), "todo.txt")
 local items = {}
\`\`\`

### A table that fits

| mark | meaning | count |
|:-----|:-------:|------:|
| \`x\` | done    |    12 |
| blank | **open** |   3 |

### A table that does not

| function | what it does | what happens if the file is missing | who calls it in this project |
|---|---|---|---|
| \`load(path)\` | reads every line and parses its mark and its text | throws an error with the path in it, which the user sees | \`add\`, \`done\`, \`list\` and the completion of the command |
| \`save(path, items)\` | writes all items to a new file and renames it | creates the file and its folder | \`add\` and \`done\` |

## Lists

- a mark in brackets
  - \`x\` for done
    - with a date, if \`dates\` is on
  - a blank for open
- the text, which may be long enough to be wrapped in a narrow window, and then its second line is indented

1. parse the line
2. check the mark
   1. known: store it
   2. unknown: report it
10. write the list

- [x] read the file
- [ ] write it
  - [ ] atomically

> **Note**: a quote may have \`code\`, and a second line that
> belongs to it.
>
> > A quote in a quote.

---

Other scripts: 漢字とかなの文, 한국어, русский, ελληνικά, עברית. Emoji: 🚀 ✅ ⚠️ 👩‍💻. Escapes: 1 \\* 2, a_b_c, 5 < 7 && 7 > 5.

| 名前 | emoji | état |
|---|---|---|
| 買い物 | 🛒 | à faire |
| читать | 📚 | fini |

The format is old[^1]. A line\u0020\u0020
break, a hard one. <kbd>Ctrl</kbd> is HTML.

[^1]: It comes from todo.txt.

Setext heading
--------------

Term with a very long word: lua/todo/some/deeply/nested/folder/with/a/file/name/that/never/ends/anywhere_at_all.lua`),
  "usage 14100 890",
]);

/** An edit of a sensitive file, which needs an answer. */
export const SENSITIVE = script([
  call("read_file", { path: ".github/workflows/ci.yml" }),
  "usage 10820 60",
], [
  say(
    "The tests need a second job. The workflow decides what runs with the repository's rights, so I ask first.",
  ),
  call("edit_file", {
    path: ".github/workflows/ci.yml",
    old_str:
      "    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v6\n      - run: make test\n",
    new_str: `    strategy:
      matrix:
        neovim: [v0.12.4, nightly]
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v6
      - uses: rhysd/action-setup-vim@v1
        with:
          neovim: true
          version: \${{ matrix.neovim }}
      - run: make test
`,
  }),
  "usage 11240 260",
]);

/** A command whose changes wait for an answer. */
export const RELEASE = script(
  [
    "think What does a release change here?",
    call("read_file", { path: "lua/todo/version.lua" }),
    call("read_file", { path: "build.sh" }),
    "usage 11240 95",
  ],
  [
    say("The build writes the version and the tags, so I run it."),
    call("run_terminal_command", { command: "sh build.sh", access: "write" }),
    "usage 12420 110",
  ],
  ["say Version 1.4.0 is ready.", "usage 12900 20"],
);

/** Three sessions: two short ones and one that fails. */
export const SESSIONS = script(
  [
    say("`load` reads the file **twice** for each item. I would keep the lines in a table."),
    "usage 11240 95",
  ],
  ["new-history", say("Every path uses `vim.fs.joinpath`, so nothing else is needed."), "usage 11240 40"],
  ["new-history", "status 401 no"],
);

/** A request that the provider refuses, after an answer. */
export const REFUSAL = script(
  [say("`load` reads the file twice."), "usage 11240 95"],
  ["status 401"],
);

const STEPS = [
  "Find every caller of load",
  "Return an empty list for a missing file",
  "Add a test",
  "Update the help",
];

function plan(done: number): string {
  const status = (at: number) => at < done ? "completed" : at === done ? "in_progress" : "pending";
  return call("update_plan", { steps: STEPS.map((step, at) => ({ step, status: status(at) })) });
}

/** A plan, a sub-agent that is done and one that waits at the gate "held". */
export const AGENTS = script(
  [plan(0), "usage 11240 95"],
  [
    say("Two questions can be answered at the same time."),
    call("run_subagent", { title: "Find callers of load", task: "Who calls store.load?" }),
    call("run_subagent", { title: "Check the help", task: "Which parts of the help mention the file?" }),
    "usage 12380 210",
  ],
  ["when Who calls store.load?", call("search", { pattern: "store.load" }), "usage 3000 60"],
  [
    "when Who calls store.load?",
    call("read_file", { path: "lua/todo/init.lua" }),
    "usage 3200 60",
  ],
  ["when Who calls store.load?", say("`M.add` in lua/todo/init.lua:8, nobody else."), "usage 3400 40"],
  ["when Which parts of the help", call("list_directory", { path: "doc" }), "usage 3000 60"],
  ["when Which parts of the help", "wait held", "say None."],
);
