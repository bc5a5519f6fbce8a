import assert from "node:assert/strict";
import type { CommandAccess } from "../../../protocol/commands.ts";
import { hintFor } from "./hints.ts";

/** What programs have said in the sandbox, and what the hint must name. */
const SAID: readonly (readonly [output: string, access: CommandAccess, hint: RegExp])[] = [
  [
    "sh: line 1: a.txt: Read-only file system",
    "look",
    /again with access write if the change is to stay, else with access try$/,
  ],
  ["bash: line 1: apply_patch: command not found", "look", /the tool for edits$/],
  ["/usr/bin/ld: cannot open output file main: Read-only file system", "look", /again with access write /],
  ["Error: EROFS: read-only file system, mkdir 'dist'", "look+network", /again with access write\+network /],
  ["attempt to write a readonly database (8)", "look", /again with access write /],
  ["CMake Error: Unable to (re)create the private pkgRedirects directory:\n  /p/b", "look", /access write /],
  ["fatal: Unable to create '/p/.git/index.lock': Read-only file system", "write", /again with access git /],
  ["error: cannot open '.git/FETCH_HEAD': Read-only file system", "write+network", /access git\+network /],
  ["error: could not write config file .git/config: Device or resource busy", "git", /ask the user to run/],
  [
    "fatal: could not create directory of '/p/.git/worktrees/x': Read-only file system",
    "git",
    /git worktree\); ask the user to run/,
  ],
  [
    "error TS5033: Could not write file '/p/tsconfig.tsbuildinfo': EROFS: read-only file system, open '/p/t'.",
    "look",
    /--incremental false/,
  ],
  [
    "error: failed to open: /home/u/.cargo/registry/cache/x.crate\nCaused by: Read-only file system (os error 30)",
    "write+network",
    /~\/\.cargo is read-only for commands; .*shell\.write/,
  ],
  [
    "go: open /home/u/go/pkg/mod/cache/lock: read-only file system",
    "write+network",
    /~\/go\/pkg\/mod is .*shell\.write/,
  ],
  [
    "Errno::EROFS: Read-only file system @ dir_s_mkdir - /var/lib/gems",
    "write",
    /inside the project and \/tmp only/,
  ],
  [
    "npm error enoent ENOENT: no such file or directory, mkdir '/p/node_modules'",
    "look+network",
    /again with access write\+network /,
  ],
  [
    "Main.java:1: error: error while writing Main: could not create parent directories",
    "look",
    /access write /,
  ],
  ["ENOENT: no such file or directory, mkdir '/p/a/b'", "write", /\/p\/a\/b does not exist/],
  ["npm error code ENOTFOUND", "write", /again with access write\+network /],
  ["strace: ptrace(PTRACE_TRACEME, ...): Operation not permitted", "write", /strace, gdb/],
  [
    "warning: Error disabling address space randomization\nptrace: Operation not permitted.",
    "write",
    /strace, gdb/,
  ],
  ["sh: line 1:     8 Segmentation fault      /tmp/x32", "write", /32-bit/],
  [
    "permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock",
    "look",
    /containers .* ask the user/,
  ],
  ["Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "write+network", /containers/],
  ["cat: .env: Permission denied", "look", /do not see files of secrets/],
  ["cat: src/a.txt: No such file or directory", "look", /src\/a\.txt does not exist; list/],
  [
    "head: cannot open 'my notes.txt' for reading: No such file or directory",
    "look",
    /my notes\.txt does not/,
  ],
  ["main.c:1:10: fatal error: foo.h: No such file or directory", "write", /\] foo\.h does not exist/],
  ["sh: 1: cannot open in.txt: No such file", "look", /\] in\.txt does not exist/],
  [
    "python3: can't open file '/p/a.py': [Errno 2] No such file or directory",
    "look",
    /\/p\/a\.py does not exist/,
  ],
  [
    "FileNotFoundError: [Errno 2] No such file or directory: 'data.csv'",
    "look",
    /\] data\.csv does not exist/,
  ],
  ["sh: 1: cd: can't cd to web/app", "look", /no folder web\/app where this command started/],
  ["bash: line 1: cd: web: No such file or directory", "look", /no folder web where this command started/],
  ["sh: line 1: cd: a.txt: Not a directory", "look", /no folder a\.txt where/],
];

for (const [output, access, hint] of SAID) {
  Deno.test(`a hint for: ${output.slice(0, 60).replaceAll("\n", " ")}`, () => {
    assert.match(hintFor(output, access) ?? "(none)", hint);
  });
}

Deno.test("of what has worked only that it could not write is worth a hint", () => {
  assert.equal(hintFor("warning: ptrace is off; Permission denied", "look", false), undefined);
  assert.match(hintFor("warning: cache: Read-only file system", "look", false) ?? "", /access write/);
});

Deno.test("folders that a rehearsal cannot rename: the hint says how to do it", () => {
  for (
    const output of [
      "Error: EXDEV: cross-device link not permitted, rename 'a' -> 'b'",
      "OSError: [Errno 18] Invalid cross-device link: 'a' -> 'b'",
      "fatal: renaming 'a' failed: Invalid cross-device link",
    ]
  ) {
    assert.match(hintFor(output, "write", true, "", true) ?? "", /call it again with direct: true$/);
    assert.match(hintFor(output, "try", true, "", true) ?? "", /again with access write and direct: true/);
    assert.doesNotMatch(hintFor(output, "write", true, "", false) ?? "", /direct/);
  }
});

Deno.test("what else a rehearsal cannot do says so, too", () => {
  for (
    const output of [
      "OSError: [Errno 75] Value too large for defined data type: 'a'",
      "head: error writing 'standard output': No space left on device",
    ]
  ) {
    assert.match(hintFor(output, "try", true, "", true) ?? "", /direct: true works on the files themselves$/);
    assert.equal(hintFor(output, "write", true, "", false), undefined);
  }
});

Deno.test("what fails without a word has a hint too", () => {
  assert.match(hintFor("", "write", true, "git stash && ls") ?? "", /again with access git /);
  assert.equal(hintFor("", "git", true, "git stash"), undefined);
  assert.equal(hintFor("", "look", true, "grep -q stash a"), undefined);
});

Deno.test("nothing is said of an output that says nothing known", () => {
  assert.equal(hintFor("3 tests passed", "look"), undefined);
});
