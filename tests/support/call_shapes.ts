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

function shape(by: string, name: string, args: unknown, expected: Meant | Refused): CallShape {
  return { by, name, text: typeof args === "string" ? args : JSON.stringify(args), expected };
}

function means(tool: string, args: Arguments): Meant {
  return { tool, args };
}

function refused(...words: readonly string[]): Refused {
  return { words };
}

const read = (args: Arguments = {}) => means("read_file", { path: "a.txt", ...args });
const run = (args: Arguments = {}) => means("run_terminal_command", { command: "make test", ...args });
const search = (args: Arguments = {}) => means("search_workspace", { query: "beta", ...args });
const edit = (args: Arguments = {}) =>
  means("edit_file", { path: "a.txt", old_str: "beta", new_str: "BETA", ...args });
const EDITS = [{ old_str: "alpha", new_str: "ALPHA" }, { old_str: "beta", new_str: "BETA" }];
const PATCH = "*** Begin Patch\n*** Update File: a.txt\n@@\n alpha\n-beta\n+BETA\n gamma\n*** End Patch";
const patch = means("edit_file", { patch: PATCH });
const PLAN = [{ step: "Look", status: "completed" }, { step: "Write", status: "in_progress" }];
const plan = means("update_plan", { steps: PLAN });

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

export const FOUND: readonly CallShape[] = [
  // Claude Code
  shape("Claude Code", "Read", { file_path: "a.txt", offset: 2, limit: 1 }, read({ offset: 2, limit: 1 })),
  shape("Claude Code", "Edit", {
    file_path: "a.txt",
    old_string: "beta",
    new_string: "BETA",
    replace_all: false,
  }, edit()),
  shape("Claude Code", "MultiEdit", {
    file_path: "a.txt",
    edits: EDITS.map(({ old_str, new_str }) => ({ old_string: old_str, new_string: new_str })),
  }, means("edit_file", { path: "a.txt", edits: EDITS })),
  shape(
    "Claude Code",
    "Write",
    { file_path: "b.txt", content: "new\n" },
    means("write_file", { path: "b.txt", content: "new\n" }),
  ),
  shape(
    "Claude Code",
    "Bash",
    { command: "make test", timeout: 60_000, description: "Run the tests" },
    run({ timeout: 60 }),
  ),
  shape("Claude Code", "Bash", { command: "make test", run_in_background: true }, run({ background: true })),
  shape(
    "Claude Code",
    "Grep",
    { pattern: "beta", path: "src", glob: "*.ts" },
    search({ is_regex: true, directory: "src", glob: "*.ts" }),
  ),
  shape(
    "Claude Code",
    "Grep",
    { pattern: "beta", "-i": true },
    search({ is_regex: true, case: "insensitive" }),
  ),
  shape("Claude Code", "Grep", { pattern: "beta", "-C": 3 }, search({ is_regex: true, context: 3 })),
  shape("Claude Code", "Glob", { pattern: "**/*.ts" }, means("find_files", { query: "**/*.ts" })),
  shape("Claude Code", "LS", { path: "src" }, means("list_directory", { path: "src" })),
  shape("Claude Code", "TodoWrite", {
    todos: PLAN.map(({ step, status }) => ({ content: step, status, activeForm: `${step}ing` })),
  }, plan),
  shape("Claude Code", "BashOutput", { bash_id: "c1" }, means("command_output", { id: "c1" })),
  shape("Claude Code", "KillShell", { shell_id: "c1" }, means("stop_command", { id: "c1" })),
  // Codex and OpenAI
  shape(
    "Codex",
    "shell",
    { command: ["bash", "-lc", "make test"], workdir: "src", timeout_ms: 10_000 },
    run({ cwd: "src", timeout: 10 }),
  ),
  shape("Codex", "exec_command", {
    cmd: "make test",
    workdir: "src",
    yield_time_ms: 1_000,
    max_output_tokens: 500,
  }, run({ cwd: "src" })),
  shape("Codex", "shell_command", { command: "make test", timeout_ms: 5_000 }, run({ timeout: 5 })),
  shape("gpt-oss", "container.exec", { cmd: ["bash", "-lc", "make test"] }, run()),
  shape("gpt-oss", "container.exec", { cmd: ["make", "a b"] }, run({ command: "make 'a b'" })),
  shape("GPT-4.1", "shell", { command: ["apply_patch", PATCH] }, patch),
  shape("GPT-5", "apply_patch", PATCH, patch),
  shape("Codex", "update_plan", { explanation: "Begin", plan: PLAN }, plan),
  shape("GPT", "functions/run_terminal_command", { command: "make test" }, run()),
  shape("GPT", "multi_tool_use.read_file", { path: "a.txt" }, read()),
  // Anthropic's editor, OpenHands
  shape(
    "Claude",
    "str_replace_editor",
    { command: "view", path: "a.txt", view_range: [2, 3] },
    read({ offset: 2, limit: 2 }),
  ),
  shape(
    "Claude",
    "str_replace_based_edit_tool",
    { command: "view", path: "a.txt", view_range: [2, -1] },
    read({ offset: 2 }),
  ),
  shape("Claude", "str_replace_editor", {
    command: "str_replace",
    path: "a.txt",
    old_str: "beta",
    new_str: "BETA",
  }, edit()),
  shape("Claude", "str_replace_based_edit_tool", {
    command: "str_replace",
    path: "a.txt",
    old_str: "beta",
    new_str: "BETA",
  }, edit()),
  shape(
    "Claude",
    "str_replace_editor",
    { command: "create", path: "a.txt", file_text: "x" },
    refused("create", "write_file"),
  ),
  shape(
    "Claude",
    "str_replace_editor",
    { command: "insert", path: "a.txt", insert_line: 1, new_str: "x" },
    refused("insert", "edit_file"),
  ),
  shape("Claude", "str_replace_editor", { command: "undo_edit", path: "a.txt" }, refused("undo_edit")),
  shape("OpenHands", "execute_bash", { command: "make test", is_input: "false" }, run()),
  // Cursor
  shape("Cursor", "read_file", {
    target_file: "a.txt",
    start_line_one_indexed: 2,
    end_line_one_indexed_inclusive: 3,
    should_read_entire_file: false,
    explanation: "Look",
  }, read({ offset: 2, limit: 2 })),
  shape(
    "Cursor",
    "run_terminal_cmd",
    { command: "make test", is_background: false, explanation: "Test" },
    run({ background: false }),
  ),
  shape(
    "Cursor",
    "Shell",
    { command: "make test", working_directory: "src", block_until_ms: 30_000 },
    run({ cwd: "src" }),
  ),
  shape("Cursor", "StrReplace", { path: "a.txt", old_string: "beta", new_string: "BETA" }, edit()),
  shape("Cursor", "search_replace", { file_path: "a.txt", old_string: "beta", new_string: "BETA" }, edit()),
  shape("Cursor", "list_dir", { relative_workspace_path: "src" }, means("list_directory", { path: "src" })),
  shape(
    "Cursor",
    "file_search",
    { query: "x.ts", explanation: "Find" },
    means("find_files", { query: "x.ts" }),
  ),
  shape(
    "Cursor",
    "grep_search",
    { query: "be.a", include_pattern: "*.ts", case_sensitive: true },
    search({
      query: "be.a",
      is_regex: true,
      glob: "*.ts",
      case: "sensitive",
    }),
  ),
  shape(
    "Cursor",
    "edit_file",
    { target_file: "a.txt", instructions: "Add", code_edit: "// ... existing code ...\nx" },
    refused(
      "code_edit",
      "old_str",
    ),
  ),
  // Cline and Roo Code
  shape("Cline", "execute_command", { command: "make test", requires_approval: false }, run()),
  shape(
    "Cline",
    "write_to_file",
    { path: "b.txt", content: "new\n" },
    means("write_file", { path: "b.txt", content: "new\n" }),
  ),
  shape(
    "Roo Code",
    "write_to_file",
    { path: "b.txt", content: "new\n", line_count: 1 },
    means("write_file", { path: "b.txt", content: "new\n" }),
  ),
  shape(
    "Cline",
    "search_files",
    { path: "src", regex: "be.a", file_pattern: "*.ts" },
    search({
      query: "be.a",
      is_regex: true,
      directory: "src",
      glob: "*.ts",
    }),
  ),
  shape("Cline", "list_files", { path: "src", recursive: "true" }, means("list_files", { path: "src" })),
  shape(
    "Cline",
    "list_files",
    { path: "src", recursive: false },
    means("list_files", { path: "src", depth: 1 }),
  ),
  shape(
    "Cline",
    "replace_in_file",
    { path: "a.txt", diff: "<<<<<<< SEARCH\nbeta\n=======\nBETA\n>>>>>>> REPLACE" },
    refused(
      "diff",
      "old_str",
    ),
  ),
  shape(
    "Cline",
    "ask_followup_question",
    { question: "Which?", options: '["A", "B"]' },
    means("ask_user", { question: "Which?", options: ["A", "B"] }),
  ),
  shape("Roo Code", "update_todo_list", { todos: "[x] Look\n[-] Write" }, refused("todos", "steps")),
  // Gemini CLI and Qwen Code
  shape(
    "Gemini CLI",
    "run_shell_command",
    { command: "make test", description: "Test", directory: "src" },
    run({ cwd: "src" }),
  ),
  shape("Gemini CLI", "replace", {
    file_path: "a.txt",
    old_string: "beta",
    new_string: "BETA",
    expected_replacements: 1,
  }, edit()),
  shape(
    "Gemini CLI",
    "replace",
    { file_path: "a.txt", old_string: "a", new_string: "A", expected_replacements: 3 },
    refused(
      "expected_replacements",
      "replace_all",
    ),
  ),
  shape("Gemini CLI", "replace", {
    file_path: "a.txt",
    old_string: "a",
    new_string: "A",
    allow_multiple: true,
  }, edit({ old_str: "a", new_str: "A", replace_all: true })),
  shape(
    "Gemini CLI",
    "search_file_content",
    { pattern: "beta", include: "*.ts", dir_path: "src" },
    search({
      is_regex: true,
      glob: "*.ts",
      directory: "src",
    }),
  ),
  shape(
    "Gemini CLI",
    "read_many_files",
    { paths: ["a.txt", "b.txt"] },
    means("read_files", { paths: ["a.txt", "b.txt"] }),
  ),
  shape("Gemini CLI", "list_directory", { dir_path: "src" }, means("list_directory", { path: "src" })),
  shape("Gemini CLI", "write_todos", {
    todos: [{ description: "Look", status: "completed" }, { description: "Write", status: "in_progress" }],
  }, plan),
  shape("Qwen Code", "todo_write", {
    todos: PLAN.map(({ step, status }, at) => ({ id: String(at), content: step, status })),
  }, plan),
  // VS Code, Windsurf, Zed, opencode, Amp
  shape(
    "VS Code",
    "read_file",
    { filePath: "a.txt", startLine: 2, endLine: 3 },
    read({ offset: 2, limit: 2 }),
  ),
  shape(
    "VS Code",
    "replace_string_in_file",
    { filePath: "a.txt", oldString: "beta", newString: "BETA" },
    edit(),
  ),
  shape("VS Code", "create_file", { filePath: "a.txt", content: "x" }, refused("create_file", "write_file")),
  shape(
    "VS Code",
    "run_in_terminal",
    { command: "make test", explanation: "Test", isBackground: true },
    run({ background: true }),
  ),
  shape("VS Code", "manage_todo_list", {
    todoList: [{ id: 1, title: "Look", status: "completed" }, {
      id: 2,
      title: "Write",
      status: "in-progress",
    }],
  }, plan),
  shape(
    "VS Code",
    "grep_search",
    { query: "be.a", isRegexp: true, includePattern: "src/**" },
    search({ query: "be.a", is_regex: true, glob: "src/**" }),
  ),
  shape("VS Code", "get_errors", { filePaths: ["a.txt"] }, means("get_diagnostics", { path: "a.txt" })),
  shape(
    "Windsurf",
    "run_command",
    { CommandLine: "make test", Cwd: "src", SafeToAutoRun: true },
    run({ cwd: "src" }),
  ),
  shape(
    "Windsurf",
    "view_file",
    { AbsolutePath: "a.txt", StartLine: 2, EndLine: 3 },
    read({ offset: 2, limit: 2 }),
  ),
  shape("Zed", "terminal", { command: "make test", cd: "src" }, run({ cwd: "src" })),
  shape(
    "Zed",
    "move_path",
    { source_path: "a.txt", destination_path: "c.txt" },
    means("move_file", { from: "a.txt", to: "c.txt" }),
  ),
  shape("Zed", "delete_path", { path: "b.txt" }, means("delete_file", { path: "b.txt" })),
  shape(
    "opencode",
    "edit",
    { filePath: "a.txt", oldString: "a", newString: "A", replaceAll: true },
    edit({ old_str: "a", new_str: "A", replace_all: true }),
  ),
  shape("opencode", "list", { path: "src" }, means("list_directory", { path: "src" })),
  shape("opencode", "glob", { pattern: "*.ts" }, means("find_files", { query: "*.ts" })),
  shape(
    "MCP filesystem",
    "move_file",
    { source: "a.txt", destination: "c.txt" },
    means("move_file", { from: "a.txt", to: "c.txt" }),
  ),
  shape("MCP filesystem", "read_text_file", { path: "a.txt" }, read()),
  shape(
    "MCP filesystem",
    "read_multiple_files",
    { paths: ["a.txt"] },
    means("read_files", { paths: ["a.txt"] }),
  ),
  shape(
    "MCP filesystem",
    "edit_file",
    { path: "a.txt", edits: [{ oldText: "beta", newText: "BETA" }] },
    means("edit_file", { path: "a.txt", edits: [EDITS[1]] }),
  ),
  shape(
    "pi",
    "edit",
    { path: "a.txt", edits: '[{"oldText": "beta", "newText": "BETA"}]' },
    means("edit_file", { path: "a.txt", edits: [EDITS[1]] }),
  ),
  // Models of one's own
  shape("Llama", "read_file", { parameters: { path: "a.txt" } }, read()),
  shape("Hermes", "read_file", { arguments: '{"path": "a.txt"}' }, read()),
  shape("Qwen", "read_file", '"{\\"path\\": \\"a.txt\\"}"', read()),
  shape("Qwen", "read_file", [{ path: "a.txt" }], read()),
  shape("Mistral", "read_file", { path: ["a.txt"] }, read()),
  shape(
    "Mistral",
    "read_file",
    { paths: ["a.txt", "b.txt"] },
    means("read_files", { paths: ["a.txt", "b.txt"] }),
  ),
  shape("Mistral", "read_files", { path: "a.txt" }, means("read_files", { paths: ["a.txt"] })),
  shape("DeepSeek", "edit_file", { path: "a.txt", search: "beta", replace: "BETA" }, edit()),
  shape("DeepSeek", "edit_file", { path: "a.txt", old_text: "beta", new_text: "BETA" }, edit()),
  shape(
    "GLM",
    "edit_file",
    { path: "a.txt", edits: "[{'old_str': 'beta', 'new_str': 'BETA'}]" },
    means("edit_file", { path: "a.txt", edits: [EDITS[1]] }),
  ),
  shape("GLM", "update_plan", {
    steps: [{ step: "Look", status: "Completed" }, { step: "Write", status: "in progress" }],
  }, plan),
  shape("any", "search_workspace", { query: 42 }, search({ query: "42" })),
  shape(
    "any",
    "write_file",
    { path: "b.txt", text: "new\n" },
    means("write_file", { path: "b.txt", content: "new\n" }),
  ),
  shape(
    "any",
    "write_file",
    { path: "b.txt", contents: " new \n" },
    means("write_file", { path: "b.txt", content: " new \n" }),
  ),
  shape("any", "edit_file", { path: "a.txt", old_str: "beta", new_str: 7 }, edit({ new_str: "7" })),
  shape("any", "delete_file", { target_file: "b.txt" }, means("delete_file", { path: "b.txt" })),
  shape(
    "any",
    "rename_file",
    { old_path: "a.txt", new_path: "c.txt" },
    means("move_file", { from: "a.txt", to: "c.txt" }),
  ),
  shape("any", "think", { thoughts: "Hm" }, means("think", { thought: "Hm" })),
  shape("any", "run_terminal_command", { command: "make test", timeout: 900 }, run({ timeout: 600 })),
];

/** None of them does more than what was written, guesses a path or makes nothing of what cannot be read. */
export const DANGEROUS: readonly CallShape[] = [
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
  shape("any", "create_new_file", { path: "a.txt", content: "x" }, refused("create_new_file", "write_file")),
  shape("any", "append_to_file", { path: "a.txt", content: "x" }, refused("append_to_file", "edit_file")),
  shape("any", "python", { code: "print(1)" }, refused("python", "read_file")),
];
