/**
 * Other names for our tools and arguments, which models have learned from other agents. Names are compared without
 * case, `-`, `_`, `.` and blanks. An offered tool of the same name takes precedence.
 */
import { OLD_TOOLS, oldTool } from "../../calls/old_names.ts";
import { plain } from "../../calls/tool_names.ts";

/**
 * Our tool, or the old name of a part of it (calls/old_names.ts) → other names. No name stands for a tool that does
 * more than the name says.
 */
const TOOLS: Readonly<Record<string, string>> = {
  read: "cat view view_file open_file read_text_file get_file_contents file_read fs_read view_image",
  read_files: "read_many_files read_multiple_files",
  list: "ls list_dir list_folder dir view_directory",
  list_files: "tree directory_tree list_files_recursive",
  find_files: "glob glob_files glob_search file_search find_file find_path find_by_name",
  search:
    "grep grep_search grep_tool rg ripgrep search_files search_file_content search_code search_text find_in_files " +
    "ripgrep_search",
  write: "write_to_file file_write fs_write",
  edit:
    "multi_edit str_replace search_replace replace replace_in_file replace_string_in_file search_and_replace " +
    "multi_replace_string_in_file file_edit apply_patch patch apply_diff update_file",
  delete: "delete_path remove_file",
  move: "move_path rename_file",
  run:
    "bash shell sh terminal exec execute run_command run_terminal_cmd run_in_terminal run_shell_command run_shell " +
    "run_bash run_bash_command shell_command local_shell exec_command execute_command execute_bash bash_command " +
    "container.exec",
  job: "bash_output get_terminal_output read_terminal command_status get_command_output",
  fetch:
    "web_fetch fetch_url fetch_web_page fetch_webpage read_url read_url_content open_url get_url browse url_fetch " +
    "fetch_content read_web_page visit_url visit_page",
  search_web:
    "web_search google_search search_internet internet_search search_the_web brave_web_search tavily_search",
  stop_command: "kill_shell kill_bash kill_terminal kill_command",
  plan: "todo_write write_todos update_todo_list manage_todo_list update_todos",
  ask_user: "ask_followup_question ask_user_question ask_question",
  subagent: "task agent dispatch_agent new_task spawn_agent",
  read_skill: "skill use_skill load_skill activate_skill",
  get_diagnostics: "get_errors read_lints diagnostics get_problems",
  find_definition: "go_to_definition goto_definition",
  find_references: "list_code_usages find_usages",
  get_hover_info: "hover",
  get_document_symbols: "document_symbols list_symbols",
};

/** Names of tools with a different effect than ours: advice for the model. */
const INSTEAD: Readonly<Record<string, string>> = {
  "create create_file create_new_file new_file":
    "To create a file use write; it replaces all of a file that exists.",
  "append append_to_file insert insert_text insert_content insert_line insert_edit_into_file":
    "To add text use edit: give old_str, and as new_str the same with the new text.",
  "undo undo_edit": "Nothing undoes an edit: use edit once more.",
};

/** Their text is a regular expression by default. */
const GREPS = "grep grep_search grep_tool rg ripgrep ripgrep_search search_file_content";

/** They search by meaning. */
const MEANING =
  "semantic_search codebase_search search_codebase semantic_code_search search_by_meaning codebase_retrieval " +
  "semantic_search_codebase";

/** Anthropic's and OpenHands' editors are one tool with commands. */
const EDITORS = "str_replace_editor str_replace_based_edit_tool text_editor file_editor";
export const EDITOR_COMMANDS = new Map([["view", "read"], ["str_replace", "edit"]]);

const FILE =
  "file file_path filename file_name target_file absolute_path relative_path relative_workspace_path";
const FOLDER =
  "dir directory folder dir_path directory_path folder_path target_directory relative_workspace_path";
const OLD = "old_string old_text old search search_string find";
const NEW = "new_string new_text new replace replacement replace_string replace_with";
const PLACE = { path: FILE, line: "line_number" };

/**
 * Tool, or its list of objects → our argument → other names. A name with "@" has another form of the value
 * (special.ts).
 */
const ARGUMENTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  read: {
    path: FILE,
    paths: "files file_paths filenames",
    offset: "start_line line_start line_offset from_line start_line_one_indexed start",
    limit: "line_count num_lines max_lines line_limit",
    "@end": "end_line line_end to_line end_line_one_indexed_inclusive end",
    "@range": "view_range line_range lines range",
  },
  list: {
    path: FOLDER,
    glob: "pattern include glob_pattern file_pattern query name filename search search_term",
    depth: "max_depth",
    "@recursive": "recursive",
  },
  search: {
    query: "text search search_term search_query search_string keyword q term question information_request",
    path: `file file_path ${FOLDER}`,
    glob: "include include_pattern file_pattern glob_pattern globs file_glob",
    is_regex: "is_regexp use_regex",
    context: "-C context_lines",
    "@regex": "pattern regex regexp",
    "@sensitive": "case_sensitive match_case",
    "@insensitive": "-i case_insensitive ignore_case",
  },
  write: { path: FILE, content: "contents text file_text file_content data body" },
  edit: {
    path: FILE,
    old_str: OLD,
    new_str: NEW,
    replace_all: "allow_multiple",
    edits: "replacements changes",
    patch: "input patch_text",
    "@patch": "diff",
    "@once": "expected_replacements",
  },
  "edit.edits": { old_str: OLD, new_str: NEW, replace_all: "allow_multiple" },
  delete: { path: FILE },
  move: {
    from: "source src old_path source_path from_path",
    to: "destination dest dst new_path destination_path to_path target_path",
  },
  run: {
    command: "cmd command_line shell_command script",
    cwd: "workdir working_directory working_dir directory dir dir_path cd",
    background: "run_in_background is_background",
    timeout: "timeout_seconds timeout_secs timeout_sec",
    "@milliseconds": "timeout_ms timeout_milliseconds",
    "@shell": "shell",
  },
  fetch: { url: "uri link address href web_url", page: "part page_number" },
  search_web: { query: "q search_query search_term text", count: "max_results num_results numResults limit" },
  read_skill: { name: "skill skill_name command" },
  job: { id: "bash_id shell_id task_id terminal_id command_id job_id process_id session_id" },
  plan: { steps: "todos plan todo_list tasks items todo" },
  "plan.steps": { step: "content title task text description name", status: "state" },
  ask_user: { question: "prompt text message query", options: "choices suggestions follow_up" },
  subagent: {
    task: "prompt message instructions",
    title: "description",
    mode: "subagent_type agent agent_type",
    background: "run_in_background",
  },
  think: { thought: "thoughts thinking text" },
  symbols: { ...PLACE, path: `${FILE} file_paths paths`, symbol: "query name symbol_name" },
  refactor: { ...PLACE, symbol: "name symbol_name old_name", new_name: "to" },
};

/** Explanations and requests for more, which can be dropped safely. */
const HARMLESS =
  "description explanation reason reasoning rationale justification tool_action tool_summary task_progress " +
  "requires_approval safe_to_auto_run wait_ms_before_async block_until_ms yield_time_ms max_output_tokens line_count login " +
  "tty id priority active_form should_read_entire_file with_escalated_permissions sandbox_permissions prefix_rule";
/** Harmless if false. */
const HARMLESS_IF_FALSE = "dry_run append is_input restart";

function words(list: string): readonly string[] {
  return list.split(" ").map(plain);
}

/** Other name → ours. */
function inverted(table: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(table).flatMap(([own, list]) => words(list).map((other) => [other, own])));
}

const TOOL_OF = inverted(TOOLS);
const OLD_NAME_OF = new Map(Object.keys(OLD_TOOLS).map((name) => [plain(name), name]));
const INSTEAD_OF = new Map(
  Object.entries(INSTEAD).flatMap(([list, advice]) => words(list).map((name) => [name, advice])),
);
const ARGUMENT_OF = new Map(Object.entries(ARGUMENTS).map(([of, table]) => [of, inverted(table)]));
const IS_HARMLESS = new Set(words(HARMLESS));
const IS_HARMLESS_IF_FALSE = new Set(words(HARMLESS_IF_FALSE));
const IS_GREP = new Set(words(GREPS));
const IS_MEANING = new Set(words(MEANING));
const IS_EDITOR = new Set(words(EDITORS));

/** Whether a search text is a regular expression. */
export function isGrep(name: string): boolean {
  return IS_GREP.has(plain(name));
}

export function isEditor(name: string): boolean {
  return IS_EDITOR.has(plain(name));
}

interface MeantTool {
  readonly name: string;
  readonly args?: Readonly<Record<string, unknown>> | undefined;
  readonly defaults?: Readonly<Record<string, unknown>> | undefined;
}

/** Our tool and its arguments for another name; undefined: we have none. */
export function toolOf(name: string): MeantTool | undefined {
  if (IS_MEANING.has(plain(name))) return { name: "search", args: { kind: "meaning" } };
  const own = TOOL_OF.get(plain(name)) ?? OLD_NAME_OF.get(plain(name));
  if (own === undefined) return undefined;
  const { tool, args, defaults } = oldTool(own) ?? { tool: own };
  return { name: tool, args, defaults };
}

/** Advice if no tool fits the request. */
export function adviceFor(name: string): string | undefined {
  return INSTEAD_OF.get(plain(name));
}

/** @param of a tool, or "TOOL.ARGUMENT" for the objects in a list @returns our argument, or a form of one after "@" */
export function argumentOf(of: string, key: string): string | undefined {
  // "-C" and "-c" differ.
  return ARGUMENT_OF.get(of)?.get(plain(key));
}

export function isHarmless(key: string, value: unknown): boolean {
  const isFalse = value === false || (typeof value === "string" && /^false$/i.test(value.trim()));
  return IS_HARMLESS.has(plain(key)) || (isFalse && IS_HARMLESS_IF_FALSE.has(plain(key)));
}
