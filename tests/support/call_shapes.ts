/**
 * Tool calls as models write them, and the call that each of them means. Sources: the tools of Claude Code, Codex, Cursor,
 * Cline, Roo Code, Gemini CLI, Qwen Code, opencode, VS Code, Windsurf, Zed, pi, OpenHands and Anthropic's text editor, whose
 * names models have learnt; issues of these projects and of MCP servers about calls that were refused.
 */
type Arguments = Readonly<Record<string, unknown>>;

/** It does exactly what this call does. */
interface Meant {
  readonly tool: string;
  readonly args: Arguments;
}

/** It does nothing, and the model reads all of these words. */
interface Refused {
  readonly words: readonly string[];
}

export interface CallShape {
  /** Who writes so. */
  readonly by: string;
  readonly name: string;
  /** JSON text, or what is no JSON. */
  readonly text: string;
  readonly expected: Meant | Refused;
}

export function shape(by: string, name: string, args: unknown, expected: Meant | Refused): CallShape {
  return { by, name, text: typeof args === "string" ? args : JSON.stringify(args), expected };
}

export function means(tool: string, args: Arguments): Meant {
  return { tool, args };
}

export function refused(...words: readonly string[]): Refused {
  return { words };
}

export const read = (args: Arguments = {}) => means("read_file", { path: "a.txt", ...args });
export const run = (args: Arguments = {}) => means("run_terminal_command", { command: "make test", ...args });
export const search = (args: Arguments = {}) => means("search_workspace", { query: "beta", ...args });
export const edit = (args: Arguments = {}) =>
  means("edit_file", { path: "a.txt", old_str: "beta", new_str: "BETA", ...args });
export const EDITS = [{ old_str: "alpha", new_str: "ALPHA" }, { old_str: "beta", new_str: "BETA" }];
export const PATCH =
  "*** Begin Patch\n*** Update File: a.txt\n@@\n alpha\n-beta\n+BETA\n gamma\n*** End Patch";
export const patch = means("edit_file", { patch: PATCH });
export const PLAN = [{ step: "Look", status: "completed" }, { step: "Write", status: "in_progress" }];
export const plan = means("update_plan", { steps: PLAN });

/** Those that the design file lists (mind.md, section 2). */
export const LISTED: readonly CallShape[] = [
  shape("any", "read_file", { path: "a.txt", offset: "2" }, read({ offset: 2 })),
  shape("any", "read_file", { path: "a.txt", offset: "2", limit: "1" }, read({ offset: 2, limit: 1 })),
  shape("any", "read_file", { path: "a.txt", offset: 0 }, read({ offset: 1 })),
  shape("strict modes", "read_file", { path: "a.txt", offset: null, limit: null }, read()),
  shape(
    "any",
    "search_workspace",
    { query: "be.a", is_regex: "true" },
    search({ query: "be.a", is_regex: true }),
  ),
  shape("any", "search_workspace", { query: "beta", is_regex: "False" }, search({ is_regex: false })),
  shape("any", "search_workspace", { query: "beta", context: "3" }, search({ context: 3 })),
  shape("any", "run_terminal_command", { command: "make test", timeout: 120_000 }, run({ timeout: 120 })),
  shape("any", "run_terminal_command", { command: "make test", timeout: "120000" }, run({ timeout: 120 })),
  shape("any", "run_terminal_command", { command: "make test", timeout: "30" }, run({ timeout: 30 })),
  shape(
    "any",
    "run_terminal_command",
    { command: "make test", background: "true" },
    run({ background: true }),
  ),
  shape(
    "any",
    "read_files",
    { paths: '["a.txt", "b.txt"]' },
    means("read_files", { paths: ["a.txt", "b.txt"] }),
  ),
  shape("any", "read_files", { paths: "a.txt" }, means("read_files", { paths: ["a.txt"] })),
  shape(
    "any",
    "edit_file",
    { path: "a.txt", edits: JSON.stringify(EDITS) },
    means("edit_file", { path: "a.txt", edits: EDITS }),
  ),
  shape(
    "any",
    "edit_file",
    { path: "a.txt", edits: EDITS[1] },
    means("edit_file", { path: "a.txt", edits: [EDITS[1]] }),
  ),
  shape("any", "update_plan", { steps: JSON.stringify(PLAN) }, plan),
  shape("GPT", "functions.read_file", { path: "a.txt" }, read()),
  shape("any", "readFile", { path: "a.txt" }, read()),
  shape("any", "ReadFile", { path: "a.txt" }, read()),
  shape("any", "read-file", { path: "a.txt" }, read()),
  shape("Kimi", "functions.read_file:0", { path: "a.txt" }, read()),
  shape("Gemini", "default_api.read_file", { path: "a.txt" }, read()),
  shape("Claude Code", "Read", { file_path: "a.txt" }, read()),
  shape("Claude Code", "Bash", { command: "make test" }, run()),
  shape("any", "bash", { command: "make test" }, run()),
  shape("any", "shell", { command: "make test" }, run()),
  shape("any", "search", { query: "beta", kind: "semantic" }, search({ kind: "meaning" })),
  shape("VS Code", "semantic_search", { query: "beta" }, search({ kind: "meaning" })),
  shape(
    "Cursor",
    "codebase_search",
    { query: "beta", explanation: "To find it", target_directories: [] },
    search({ kind: "meaning" }),
  ),
  shape("opencode", "grep", { pattern: "beta" }, search({ is_regex: true })),
  shape("Codex", "apply_patch", { input: PATCH }, patch),
  shape("Codex", "apply_patch", { patch: PATCH }, patch),
  shape("GPT", "edit_file", { input: PATCH }, patch),
  shape("Claude Code", "edit_file", { path: "a.txt", old_string: "beta", new_string: "BETA" }, edit()),
  shape("pi", "edit_file", { path: "a.txt", oldText: "beta", newText: "BETA" }, edit()),
  shape("opencode", "edit_file", { filePath: "a.txt", oldString: "beta", newString: "BETA" }, edit()),
  shape("Codex", "run_terminal_command", { cmd: "make test" }, run()),
  shape("Claude Code", "search_workspace", { pattern: "be.a" }, search({ query: "be.a", is_regex: true })),
  shape("Claude Code", "read_file", { file_path: "a.txt" }, read()),
  shape("any", "read_file", { filename: "a.txt" }, read()),
  shape("any", "read_file", { file: "a.txt" }, read()),
];

/** None of them does more than what was written, guesses a path or makes nothing of what cannot be read. */
export const DANGEROUS: readonly CallShape[] = [
  shape(
    "Codex",
    "shell",
    { command: ["apply_patch", PATCH], workdir: "src" },
    refused("edit has no argument workdir"),
  ),
  shape("any", "write_file", { path: "a.txt", content: "x", append: true }, refused("append", "content")),
  shape("any", "write_file", { path: "a.txt", content: "x", mode: "a" }, refused("mode", "content")),
  shape(
    "any",
    "Write",
    { file_path: "a.txt", content: "x", start_line: 2, end_line: 2 },
    refused("start_line", "content"),
  ),
  shape(
    "any",
    "edit_file",
    { path: "a.txt", content: "x", start_line: 2, end_line: 2 },
    refused("start_line", "old_str"),
  ),
  shape("any", "delete_file", { path: "a.txt", dry_run: true }, refused("dry_run", "path")),
  shape("any", "delete_file", { path: "a.txt", file_path: "b.txt" }, refused("file_path", "path")),
  shape("any", "delete_file", { path: ["a.txt", "b.txt"] }, refused("path")),
  shape(
    "any",
    "run_terminal_command",
    { command: "make test", dry_run: true },
    refused("dry_run", "command"),
  ),
  shape("any", "run_terminal_command", { command: "make test", env: { CI: "1" } }, refused("env", "command")),
  shape("any", "bash", { command: "make test", args: ["-n"] }, refused("args", "command")),
  shape("any", "move_file", { from: "a.txt", new_name: "c.txt" }, refused("new_name", "to")),
  shape("any", "edit_file", { path: "a.txt", old_str: "beta" }, refused("new_str")),
  shape("any", "edit_file", { path: "a.txt", old_str: "beta", new_str: null }, refused("new_str")),
  shape("any", "write_file", { path: "a.txt" }, refused("content")),
  shape("any", "write_file", { content: "x" }, refused("path")),
  shape("any", "read_file", { question: "What is in it?" }, refused("question", "path")),
  shape("any", "write_file", { path: "a.json", content: { a: 1 } }, refused("content", "string")),
  shape("any", "bash", "rm -rf build", refused("JSON")),
  shape("any", "delete_file", '{"path": "a.t', refused("JSON")),
  shape("any", "list_files", "src and its files", refused("JSON")),
  shape("any", "apply_patch", PATCH.slice(0, -10), refused("JSON")),
  shape("any", "create_new_file", { path: "a.txt", content: "x" }, refused("create_new_file", "use write")),
  shape("any", "append_to_file", { path: "a.txt", content: "x" }, refused("append_to_file", "use edit")),
  shape("any", "python", { code: "print(1)" }, refused("python", "read")),
];
