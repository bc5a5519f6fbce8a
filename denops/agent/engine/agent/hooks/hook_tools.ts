/**
 * Our tools and arguments in the words of Claude Code, which the matchers and scripts of hooks use. Pure.
 * Source: code.claude.com/docs/en/hooks, "PreToolUse input".
 */
import { resolve } from "node:path";
import { ToolError } from "../../../shared/errors.ts";
import { defined } from "../../../shared/records.ts";
import { shellWord } from "../../../shared/shell_words.ts";
import { parsePatch, type PatchSection } from "../../tools/files/patch.ts";
import { OPERATIONS } from "../../tools/research.ts";
import { isMcpName } from "../../tools/mcp/mcp_tool.ts";

type Args = Readonly<Record<string, unknown>>;

/** A call as a hook sees it. */
export interface HookCall {
  readonly tool: string;
  readonly input: Args;
}

interface HookTool {
  /** Several: a call that changes several files. @param at returns an absolute path */
  to(args: Args, at: (path: unknown) => string): readonly HookCall[];
  /** Our arguments for a changed input; absent: it cannot be changed. @param args the call's own */
  from?(input: Args, args: Args): Args;
}

/** By our names. Claude Code's limits for time are in milliseconds. */
const HOOK_TOOLS: Readonly<Record<string, HookTool>> = {
  run: {
    to: ({ command, cwd, timeout, background }, at) =>
      one("Bash", {
        command,
        description: "",
        cwd: cwd === undefined ? undefined : at(cwd),
        timeout: typeof timeout === "number" ? timeout * 1_000 : undefined,
        run_in_background: background,
      }),
    from: ({ command, timeout, run_in_background: background }, args) => ({
      ...args,
      ...defined({ command, background, timeout: typeof timeout === "number" ? timeout / 1_000 : undefined }),
    }),
  },
  edit: {
    to(args, at) {
      const { path, old_str, new_str, replace_all, edits, content, patch } = args;
      if (typeof patch === "string") return patchCalls(patch, at);
      const file_path = at(path);
      if (content !== undefined) return one("Write", { file_path, content });
      if (!Array.isArray(edits)) {
        return one("Edit", { file_path, old_string: old_str, new_string: new_str, replace_all });
      }
      const own = old_str === undefined ? [] : [{ old_str, new_str, replace_all }];
      return one("MultiEdit", { file_path, edits: [...own, ...edits].map(theirEdit) });
    },
    from({ file_path, old_string, new_string, replace_all, edits, content }, args) {
      const path = file_path ?? args.path;
      if (args.content !== undefined) return defined({ path, content });
      if (Array.isArray(edits)) return defined({ path, edits: edits.map(ourEdit) });
      return defined({ path, old_str: old_string, new_str: new_string, replace_all });
    },
  },
  write: {
    to: ({ path, content }, at) => one("Write", { file_path: at(path), content }),
    from: ({ file_path: path, content }) => defined({ path, content }),
  },
  // A guard against rm and mv is against these, too.
  delete: { to: ({ path }, at) => shellCall("rm", at(path)) },
  move: { to: ({ from, to }, at) => shellCall("mv", at(from), at(to)) },
  refactor: {
    to: ({ path, symbol, new_name }, at) =>
      one("Edit", { file_path: at(path), old_string: symbol ?? "", new_string: new_name ?? "" }),
  },
  read: {
    to({ path, paths, offset, limit }, at) {
      const all = [...path === undefined ? [] : [path], ...Array.isArray(paths) ? paths : []];
      return all.flatMap((file) => one("Read", { file_path: at(file), offset, limit }));
    },
    from: ({ file_path: path, offset, limit }) => defined({ path, offset, limit }),
  },
  search: {
    to: ({ query, path, glob, case: letters, context }, at) =>
      one("Grep", {
        pattern: query,
        path: at(path ?? "."),
        glob,
        output_mode: "content",
        "-i": letters === "insensitive" ? true : undefined,
        "-C": context,
      }),
    from: ({ pattern: query, path, glob }, args) => ({ ...args, ...defined({ query, path, glob }) }),
  },
  list: {
    to: ({ path, glob }, at) =>
      glob === undefined
        ? one("LS", { path: at(path ?? ".") })
        : one("Glob", { pattern: glob, path: at(path ?? ".") }),
    from: ({ pattern: glob, path }, args) => ({ ...args, ...defined({ glob, path }) }),
  },
  research: {
    to: ({ operations }, at) =>
      (Array.isArray(operations) ? operations : []).flatMap(({ type, ...args }) => {
        const tool = OPERATIONS[type];
        return tool === undefined ? [] : callsOf(tool.name, tool.fit(args), at);
      }),
  },
  fetch: {
    to: ({ url }) => one("WebFetch", { url, prompt: "" }),
    from: ({ url }, args) => ({ ...args, ...defined({ url }) }),
  },
  search_web: {
    to: ({ query }) => one("WebSearch", { query }),
    from: ({ query }, args) => ({ ...args, ...defined({ query }) }),
  },
  subagent: {
    to: ({ title, task, mode }) => one("Task", { description: title, prompt: task, subagent_type: mode }),
    from: ({ description: title, prompt: task, subagent_type: mode }, args) => ({
      ...args,
      ...defined({ title, task, mode }),
    }),
  },
  plan: {
    to: ({ steps }) =>
      one("TodoWrite", {
        todos: (Array.isArray(steps) ? steps : []).map(({ step, status }) => ({
          content: step,
          status,
          activeForm: step,
        })),
      }),
  },
  job: {
    to: ({ id, stop }) =>
      stop === true ? one("KillShell", { shell_id: id }) : one("BashOutput", { bash_id: id }),
  },
  read_skill: { to: ({ name }) => one("Skill", { skill: name }) },
  ask_user: { to: (args) => one("AskUserQuestion", { questions: [args] }) },
};

/** @param root real path of the project */
export function hookCalls(name: string, args: Args, root: string): readonly HookCall[] {
  return callsOf(name, args, (path) => resolve(root, typeof path === "string" ? path : "."));
}

function callsOf(name: string, args: Args, at: (path: unknown) => string): readonly HookCall[] {
  if (isMcpName(name)) return one(`mcp__${name}`, args);
  return HOOK_TOOLS[name]?.to(args, at) ?? one(name, args);
}

/** Our arguments for the input that a hook has changed; undefined: this call cannot be changed. */
export function changedArguments(name: string, input: Args, args: Args): Args | undefined {
  if (isMcpName(name)) return input;
  const known = HOOK_TOOLS[name];
  return known === undefined ? input : known.from?.(input, args);
}

/** Characters of an answer that hooks get. */
const LONGEST_MESSAGE = 100_000;

export function lastOf(text: string): string {
  return text.slice(-LONGEST_MESSAGE);
}

/** The result of a tool, in Claude Code's fields. */
export function hookResponse({ tool, input }: HookCall, text: string): unknown {
  switch (tool) {
    case "Bash":
      return { stdout: text, stderr: "", interrupted: false, isImage: false };
    case "Edit":
    case "MultiEdit":
    case "Write":
      return { filePath: input.file_path, success: true };
    case "Read":
      return { type: "text", file: { filePath: input.file_path, content: text } };
    default:
      return tool.startsWith("mcp__") ? [{ type: "text", text }] : { content: text };
  }
}

/** One call for each file. None if the patch is invalid: then nothing of it is written. */
function patchCalls(patch: string, at: (path: unknown) => string): readonly HookCall[] {
  try {
    return parsePatch(patch).flatMap((section) => sectionCalls(section, at));
  } catch (error) {
    if (error instanceof ToolError) return [];
    throw error;
  }
}

function sectionCalls(section: PatchSection, at: (path: unknown) => string): readonly HookCall[] {
  const file_path = at(section.path);
  if (section.type === "delete") return shellCall("rm", file_path);
  if (section.type === "add") return one("Write", { file_path, content: section.text });
  const lines = section.hunks.flatMap((hunk) => hunk.lines);
  const textWithout = (left: string) =>
    lines.filter(({ mark }) => mark !== left).map(({ text }) => `${text}\n`).join("");
  const content = textWithout("-");
  const edit = one("Edit", { file_path, old_string: textWithout("+"), new_string: content });
  if (section.to === undefined) return edit;
  const to = at(section.to);
  return [...edit, ...shellCall("mv", file_path, to), ...one("Write", { file_path: to, content })];
}

function shellCall(program: string, ...paths: readonly string[]): readonly HookCall[] {
  return one("Bash", { command: [program, "--", ...paths.map(shellWord)].join(" "), description: "" });
}

function theirEdit({ old_str, new_str, replace_all }: Args): Args {
  return defined({ old_string: old_str, new_string: new_str, replace_all });
}

function ourEdit(edit: Args): Args {
  return defined({ old_str: edit.old_string, new_str: edit.new_string, replace_all: edit.replace_all });
}

function one(tool: string, input: Args): readonly HookCall[] {
  return [{ tool, input: defined(input) }];
}
