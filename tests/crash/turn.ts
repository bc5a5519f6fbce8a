/** The turn that is interrupted: 21 tool calls that write, edit, move, delete, read and run, in ten answers. */

const LONG = Array.from({ length: 400 }, (_, at) => `line ${at}`).join("\n") + "\n";

/** Project files before the turn. */
export const BEFORE: Readonly<Record<string, string>> = {
  "a.txt": "alpha\n",
  "b.txt": LONG,
  "c.txt": "gamma\n",
  "d.txt": "delta\n",
  "old/e.txt": "epsilon\n",
  "gone/f.txt": "zeta\n",
  // Slow enough to be met in the middle.
  "build.sh": `mkdir -p made
for name in $(seq 60); do echo "made by $0" >made/$name; sleep 0.005; done
tr a-z A-Z <build.sh >made/large; rm -r gone; echo more >>a.txt
`,
};

const MADE = "made by build.sh\n";

/** Every content that a file may have at any time; undefined: not there. */
export const ALLOWED: Readonly<Record<string, readonly (string | undefined)[]>> = {
  "a.txt": ["alpha\n", "ALPHA\n", "ALPHA\nmore\n", "ALPHA and omega\n", "ALPHA and omega\nmore\n"],
  "b.txt": [LONG, LONG.replace("line 7\n", "LINE 7\n"), LONG.toUpperCase()],
  "c.txt": ["gamma\n", undefined],
  "d.txt": ["delta\n", undefined],
  "old/e.txt": ["epsilon\n", undefined],
  "new/e.txt": ["epsilon\n", undefined],
  "new/one.txt": [undefined, "one\n"],
  "new/two.txt": [undefined, LONG],
  "new/three.txt": [undefined, "three\n"],
  "log.txt": [undefined, "", "\0".repeat(5)],
  "gone/f.txt": ["zeta\n", undefined],
  "build.sh": [BEFORE["build.sh"]],
  "made/large": [undefined, BEFORE["build.sh"]?.toUpperCase()],
  ...Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`made/${at + 1}`, [undefined, MADE]])),
};

function call(name: string, args: Readonly<Record<string, unknown>>): string {
  return `call ${name} ${JSON.stringify(args)}`;
}

const ANSWERS: readonly string[] = [
  [
    "think I read what there is.",
    call("list_directory", { path: "." }),
    call("read_file", { path: "a.txt" }),
  ],
  [
    call("read_file", { path: "b.txt" }),
    call("read_file", { path: "c.txt" }),
    call("read_file", { path: "old/e.txt" }),
  ],
  [
    "say Now I change the first two.",
    call("edit_file", { path: "a.txt", old_str: "alpha", new_str: "ALPHA" }),
    call("edit_file", { path: "b.txt", old_str: "line 7\n", new_str: "LINE 7\n" }),
  ],
  [call("write_file", { path: "new/one.txt", content: "one\n" }), call("delete_file", { path: "c.txt" })],
  [call("run_terminal_command", { command: "touch log.txt" })],
  [
    "say And the others.",
    call("move_file", { from: "old/e.txt", to: "new/e.txt" }),
    call("write_file", { path: "new/two.txt", content: LONG }),
    call("update_plan", { steps: [{ step: "the rest", status: "in_progress" }] }),
  ],
  [
    call("edit_file", { path: "a.txt", old_str: "ALPHA", new_str: "ALPHA and omega" }),
    call("read_file", { path: "d.txt" }),
  ],
  [call("run_terminal_command", { command: "truncate -s 5 log.txt" })],
  [call("run_terminal_command", { command: "sh build.sh", access: "write" })],
  [
    call("write_file", { path: "b.txt", content: LONG.toUpperCase() }),
    call("delete_file", { path: "d.txt" }),
    call("write_file", { path: "new/three.txt", content: "three\n" }),
  ],
  ["think One look more.", call("list_directory", { path: "new" })],
  ["say All of it is done, as far as I can see."],
].map((lines) => ["pieces 40", "slow 1", ...lines].join("\n"));

/** The last answer is for the message after the interruption, whenever it came. */
export const SCRIPT = [...ANSWERS, "when go on\nsay I go on from here."].join("\n---\n");

/** On screen when the turn has come to its end. */
export const LAST_WORDS = "as far as I can see.";

/** Nothing is asked: these run by rule. */
export const OPTIONS = 'rules = { allow = { "run(touch *)", "run(truncate *)", "run(sh build.sh)" } }';
