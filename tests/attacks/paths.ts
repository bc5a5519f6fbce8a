/** Paths that a model may try, and what each tool has to answer. `proj` is the project, `base` the folder it is in. */

/** What a call answers: a pattern, or how far a write gets. */
export type Answer =
  | RegExp
  /** A person is asked; then it is done. */
  | "asked"
  /** A person is asked; even then it is not done. */
  | "guarded";

/** A tool and the argument that the path goes into, where it has several. */
export type AttackTool =
  | "read_file"
  | "list_directory"
  | "edit_file"
  | "write_file"
  | "list_files"
  | "search_workspace"
  | "find_code_changes"
  | "delete_file"
  | "move_file from"
  | "move_file to";

const ALL: readonly AttackTool[] = [
  "read_file",
  "list_directory",
  "edit_file",
  "write_file",
  "list_files",
  "search_workspace",
  "find_code_changes",
  "delete_file",
  "move_file from",
  "move_file to",
];

/** A tool that is not named is not tried. */
export type Answers = Readonly<Partial<Record<AttackTool, Answer>>>;

/** Name, path as the model writes it, answers. */
export type Attack = readonly [name: string, path: string, answers: Answers];

const OUTSIDE = all(/^path is outside of the project: .+$/);
/** Inside bubblewrap the link's target is not even there. */
const LED_OUT = all(/^path is (outside of the project|a symbolic link to nothing): .+$/);
const NOTHING = all(/^path is a symbolic link to nothing: .+$/);
const CONTROL = all(/^path has a control character: .+$/);
const TOO_LONG = all(/^path (is|has a name that is) too long: .{1,200}$/);
const NO_FOLDER = all(/^path goes through something that is not a folder: .+$/);

/** May not be read, whatever its name; may be written after a question. */
const UNREADABLE = /^Cannot read [^\n]+: [^\n]+ may hold secrets and is not readable \(deny_read: .+\)\.$/;
const HIDDEN: Answers = {
  ...only(["read_file", "list_directory", "edit_file", "list_files", "search_workspace"], UNREADABLE),
  // Under another name it could be read.
  ...only(["find_code_changes", "move_file from"], UNREADABLE),
  write_file: "asked",
  delete_file: /^[^\n]+$/,
};

/** A strange name, but only a name: it means a file in the project that is not there. */
const MERE_NAME: Answers = {
  ...only(["read_file", "list_directory", "edit_file"], /^.+ does not exist\..*$/),
  write_file: /^Created .+ \(\+1\)\.$/,
};
/** The same, but the name looks like that of a sensitive file. */
const SENSITIVE_NAME: Answers = { ...MERE_NAME, write_file: "asked" };

const FILE: Answers = {
  read_file: /^1\t/,
  list_directory: /^.+ is a file\. Use read\.$/,
  edit_file: /^(Edited .+|old_str was not found in .+)$/,
  write_file: /^Replaced .+\.$/,
};
/** It may be a file of another place. */
const SECOND_NAME: Answers = {
  ...FILE,
  edit_file: /^(Edited .+|old_str was not found in .+|The user rejected this\..*)$/,
  write_file: "asked",
  delete_file: "asked",
};
const GIT_FILE: Answers = {
  ...FILE,
  ...only(["write_file", "delete_file", "move_file from"], "guarded"),
};

const FOLDER: Answers = {
  read_file: /^.+ is a folder\. Use list\.$/,
  list_directory: /^\S/,
  edit_file: /^.+ is a folder, not a file\.$/,
  write_file: /^.+ is a folder, not a file\.$/,
  list_files: /./,
  search_workspace: /./,
  delete_file: /^.+ is a folder; delete its files one by one\.$/,
  "move_file from": /^.+ is not a file\.$/,
};

const SPECIAL: Answers = {
  read_file: /^.+ is not a regular file\.$/,
  list_directory: /^.+ is not a folder\.$/,
  edit_file: /^.+ is not a regular file\.$/,
  write_file: /^.+ is not a regular file\.$/,
  "move_file from": /^.+ is not a file\.$/,
};

function only(tools: readonly AttackTool[], answer: Answer): Answers {
  return Object.fromEntries(tools.map((tool) => [tool, answer]));
}

function all(answer: Answer): Answers {
  return only(ALL, answer);
}

export function attacks(base: string): readonly Attack[] {
  const root = `${base}/proj`;
  const out = `${base}/outside`;
  return [
    ["parent", "../outside/secret.txt", OUTSIDE],
    ["many parents", "../../../../../../../../../../etc/passwd", OUTSIDE],
    ["parent below a folder", "src/../../outside/secret.txt", OUTSIDE],
    ["parent with detours", "src/.././src/./../../outside/secret.txt", OUTSIDE],
    ["parent after a dot", "./../outside/secret.txt", OUTSIDE],
    ["parent through a file", "src/greet.ts/../../../outside/secret.txt", OUTSIDE],
    ["parent through what is not there", "no/../../outside/secret.txt", OUTSIDE],
    ["the parent itself", "..", OUTSIDE],
    ["the parent with a slash", "../", OUTSIDE],
    ["a sibling whose name begins alike", "../proj-evil/secret.txt", OUTSIDE],
    ["the project's name, then out", "proj/../outside/secret.txt", OUTSIDE],
    ["the project's name, with backslashes", "proj\\..\\outside\\secret.txt", OUTSIDE],
    ["the sibling's name is a mere name", "proj-evil/secret.txt", MERE_NAME],

    ["absolute", `${out}/secret.txt`, OUTSIDE],
    ["absolute, out of the root", `${root}/../outside/secret.txt`, OUTSIDE],
    ["absolute, sibling", `${root}-evil/secret.txt`, OUTSIDE],
    ["absolute, with more slashes", `//${out}//secret.txt`, OUTSIDE],
    ["absolute, another name of the root", `${base}/proj-link/../outside/secret.txt`, OUTSIDE],
    ["the system", "/etc/passwd", OUTSIDE],
    ["the system's root", "/", OUTSIDE],
    ["the root as a process sees it", `/proc/self/root${out}/secret.txt`, OUTSIDE],
    ["out of the working folder of a process", "/proc/self/cwd/../outside/secret.txt", OUTSIDE],
    ["a secret through a process", "/proc/self/cwd/.env", OUTSIDE],
    ["own environment", "/proc/self/environ", OUTSIDE],
    ["parent's environment", "/proc/1/environ", OUTSIDE],
    ["an endless device", "/dev/zero", OUTSIDE],
    ["standard input", "/dev/stdin", OUTSIDE],
    ["a descriptor", "/dev/fd/0", OUTSIDE],
    ["a shell's network device", "/dev/tcp/127.0.0.1/80", OUTSIDE],
    ["the state folder", `${base}/state/keep.txt`, OUTSIDE],

    ["percent-encoded dots", "%2e%2e/outside/secret.txt", MERE_NAME],
    ["percent-encoded slashes", "..%2foutside%2fsecret.txt", MERE_NAME],
    ["doubly encoded", "%252e%252e%252foutside/secret.txt", MERE_NAME],
    ["overlong UTF-8, encoded", "..%c0%afoutside/secret.txt", MERE_NAME],
    ["file URL", `file://${out}/secret.txt`, MERE_NAME],
    ["file URL of the system", "file:///etc/passwd", MERE_NAME],
    ["home", "~root/notes.txt", MERE_NAME],
    ["a secret in the home", "~/.ssh/id_ed25519", HIDDEN],
    ["a variable", "$HOME/notes.txt", MERE_NAME],
    ["a variable of Windows", "%USERPROFILE%\\notes.txt", MERE_NAME],
    ["a command's output", "$(cat ../outside/secret.txt)", MERE_NAME],
    ["a glob", "*", MERE_NAME],
    ["an option", "-rf", MERE_NAME],

    ["NUL", "src/greet.ts\0.png", CONTROL],
    ["NUL behind a path to the outside", "../outside/secret.txt\0.ts", CONTROL],
    ["newline", "src/\ngreet.ts", CONTROL],
    ["newline behind a secret", ".env\n", CONTROL],
    ["escape", "src/\x1b[2Jgreet.ts", CONTROL],
    ["delete", "src/greet.ts\x7f", CONTROL],

    ["a dot behind a secret", ".env.", HIDDEN],
    ["a space behind a secret", ".env ", SENSITIVE_NAME],
    ["a space before the parent", " ../outside/secret.txt", MERE_NAME],
    ["three dots", ".../outside/secret.txt", MERE_NAME],
    ["backslashes", "..\\outside\\secret.txt", MERE_NAME],
    ["a drive", "C:\\Windows\\win.ini", MERE_NAME],
    ["a share", "\\\\server\\share\\secret.txt", MERE_NAME],
    ["an alternate stream of a secret", ".env::$DATA", SENSITIVE_NAME],

    // Before it is deleted.
    ["below a secret", ".env/x", NO_FOLDER],
    ["a secret", ".env", HIDDEN],
    ["a secret, absolute", `${root}/.env`, HIDDEN],
    ["a secret under the project's name", "proj/.env", HIDDEN],
    ["a secret with detours", "src/.././config/../.env", HIDDEN],
    ["a secret with a slash", ".env/", HIDDEN],
    ["a secret in capitals", ".ENV", HIDDEN],
    ["a secret in mixed case", "Config/.Env", HIDDEN],
    ["another secret", ".env.local", HIDDEN],
    ["a secret that may be written", ".npmrc", { ...HIDDEN, write_file: /^[^\n]+$/ }],
    ["a key", "config/server.pem", HIDDEN],
    ["a folder of keys", ".ssh/config", HIDDEN],
    ["a link to a secret", "notes.txt", HIDDEN],
    ["a chain of links to a secret", "notes-chain.txt", HIDDEN],
    ["a secret behind a link to its folder", "harmless/.env", HIDDEN],
    ["a secret behind a link to the root", "self/self/.env", HIDDEN],
    ["a secret in the root's parent's project", "to-parent/proj/.env", HIDDEN],
    ["a link to a secret below a newline", "line.txt", { ...HIDDEN, write_file: "guarded" }],
    ["a secret below a line separator", "separator\u2028/.env", HIDDEN],
    ["a link to a folder with a newline", "line/.env", { ...HIDDEN, write_file: "guarded" }],
    ["a link with a secret's name", ".env.link", HIDDEN],

    ["a look-alike of a secret", ".\u0435nv", MERE_NAME],
    ["a zero-width space in a secret", ".e\u200bnv", MERE_NAME],
    ["a byte order mark before a secret", "\ufeff.env", MERE_NAME],
    ["full-width dots", "\uff0e\uff0e/outside/secret.txt", MERE_NAME],
    ["dot leaders", "\u2024\u2024/outside/secret.txt", MERE_NAME],
    ["a division slash", "..\u2215outside\u2215secret.txt", MERE_NAME],
    ["written from right to left", "\u202etxt.terces/edistuo/..", MERE_NAME],
    ["half a character", "\ud800/secret.txt", MERE_NAME],
    ["a composed and a decomposed letter", "src/../\u00e9/e\u0301", MERE_NAME],

    ["git's configuration", ".git/config", GIT_FILE],
    ["a hook", ".git/hooks/pre-commit", GIT_FILE],
    ["a hook through a link to the folder", "to-git/hooks/pre-commit", GIT_FILE],
    ["a hook through a link to the root", "self/.git/hooks/pre-commit", GIT_FILE],
    ["a hook through a link of its own", "hook.txt", { ...GIT_FILE, delete_file: "asked" }],
    ["another folder for git", ".git/commondir", only(["write_file", "move_file to"], "guarded")],
    ["git's folder in capitals", ".GIT/config", { ...MERE_NAME, write_file: "guarded" }],

    ["a link to a file", "to-file", LED_OUT],
    ["a relative link to a file", "to-file-relative", LED_OUT],
    ["a link to a folder", "to-folder/secret.txt", LED_OUT],
    ["a new file behind a link to a folder", "to-folder/new.txt", LED_OUT],
    ["a new folder behind a link to a folder", "to-folder/new/new.txt", LED_OUT],
    ["a link to a folder itself", "to-folder", LED_OUT],
    ["a link to the parent", "to-parent/outside/secret.txt", LED_OUT],
    ["a link to the parent, one deeper", "src/up/outside/secret.txt", LED_OUT],
    ["a link to the system's root", `to-root${out}/secret.txt`, LED_OUT],
    ["a link to the sibling", "to-sibling/secret.txt", LED_OUT],
    ["a chain of links", "chain-1", LED_OUT],
    ["a loop of links", "loop-1", NOTHING],
    ["below a loop of links", "loop-1/secret.txt", NOTHING],
    ["a link to what is not there", "dangling", NOTHING],
    ["below a link to what is not there", "dangling-folder/new.txt", NOTHING],
    ["a link to what is not there, inside", "dangling-inside", NOTHING],
    ["a link to a process's root", `proc-root${out}/secret.txt`, LED_OUT],
    ["a link to a process's folder", "proc-cwd/../../outside/secret.txt", OUTSIDE],
    ["a secret behind a process's folder", "proc-cwd/.env", HIDDEN],
    ["a link to a file of the system", "to-passwd", LED_OUT],
    ["a link to an endless device", "to-zero", LED_OUT],
    ["a link to standard input", "to-stdin", LED_OUT],
    ["a link to the state folder", "to-state/notes.txt", LED_OUT],

    ["a second name of a file outside", "hard.txt", SECOND_NAME],
    ["a pipe", "fifo", SPECIAL],
    ["a socket", "socket", SPECIAL],
    ["below a pipe", "fifo/x", NO_FOLDER],
    ["below a file", "src/greet.ts/x", NO_FOLDER],
    ["a folder", "src", FOLDER],
    ["a folder with secrets", "config", FOLDER],
    ["a link to a folder with secrets", "harmless", FOLDER],
    ["the root", ".", FOLDER],
    ["the root, absolute", root, FOLDER],
    ["the root by its name", "proj", FOLDER],
    ["the root through its parent", "../proj", FOLDER],
    ["nothing", "", only(["read_file", "edit_file", "write_file", "delete_file"], /^path is empty: .+$/)],
    ["a long name", "x".repeat(300), TOO_LONG],
    ["a long name in bytes", "\u00e9".repeat(200), TOO_LONG],
    ["a very long name", "x".repeat(4_200), TOO_LONG],
    ["a very deep path", "a/".repeat(2_100) + "x", TOO_LONG],
    ["a very deep path outside", "/a".repeat(2_100), TOO_LONG],
    ["many detours to the outside", "a/../".repeat(200) + "../outside/secret.txt", OUTSIDE],
  ];
}
