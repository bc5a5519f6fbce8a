/**
 * Our tools and arguments in the words of Claude Code, which the matchers and scripts of hooks use. Pure.
 * Source: code.claude.com/docs/en/hooks, "PreToolUse input".
 */
import { resolve } from "node:path";
import { shellWord } from "../../../shared/shell_words.ts";
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
    to: ({ command, timeout, background }) =>
      one("Bash", {
        command,
        description: "",
        timeout: typeof timeout === "number" ? timeout * 1_000 : undefined,
        run_in_background: background,
      }),
    from: ({ command, timeout, run_in_background: background }, args) => ({
      ...args,
      ...kept({ command, background, timeout: typeof timeout === "number" ? timeout / 1_000 : undefined }),
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
      if (args.content !== undefined) return kept({ path, content });
      if (Array.isArray(edits)) return kept({ path, edits: edits.map(ourEdit) });
      return kept({ path, old_str: old_string, new_str: new_string, replace_all });
    },
  },
  write: {
    to: ({ path, content }, at) => one("Write", { file_path: at(path), content }),
    from: ({ file_path: path, content }) => kept({ path, content }),
  },
  // A guard against rm and mv is against these, too.
  delete: { to: ({ path }, at) => one("Bash", { command: `rm -- ${shellWord(at(path))}`, description: "" }) },
  move: {
    to: ({ from, to }, at) =>
      one("Bash", { command: `mv -- ${shellWord(at(from))} ${shellWord(at(to))}`, description: "" }),
  },
  refactor: {
    to: ({ path, symbol, new_name }, at) =>
      one("Edit", { file_path: at(path), old_string: symbol ?? "", new_string: new_name ?? "" }),
  },
  read: {
    to({ path, paths, offset, limit }, at) {
      const all = Array.isArray(paths) ? paths : [path];
      return all.map((file) => ({ tool: "Read", input: kept({ file_path: at(file), offset, limit }) }));
    },
    from: ({ file_path: path, offset, limit }) => kept({ path, offset, limit }),
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
    from: ({ pattern: query, path, glob }, args) => ({ ...args, ...kept({ query, path, glob }) }),
  },
  list: {
    to: ({ path, glob }, at) =>
      glob === undefined
        ? one("LS", { path: at(path ?? ".") })
        : one("Glob", { pattern: glob, path: at(path ?? ".") }),
    from: ({ pattern: glob, path }, args) => ({ ...args, ...kept({ glob, path }) }),
  },
  fetch: {
    to: ({ url }) => one("WebFetch", { url, prompt: "" }),
    from: ({ url }, args) => ({ ...args, ...kept({ url }) }),
  },
  search_web: {
    to: ({ query }) => one("WebSearch", { query }),
    from: ({ query }, args) => ({ ...args, ...kept({ query }) }),
  },
  subagent: {
    to: ({ title, task, mode }) => one("Task", { description: title, prompt: task, subagent_type: mode }),
    from: ({ description: title, prompt: task, subagent_type: mode }, args) => ({
      ...args,
      ...kept({ title, task, mode }),
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
  const at = (path: unknown) => resolve(root, typeof path === "string" ? path : ".");
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

const SECTION = /^\*\*\* (Add|Delete|Update) File: (.+)$/;
const TARGET = /^\*\*\* Move to: (.+)$/;

/** One call for each file. */
function patchCalls(patch: string, at: (path: unknown) => string): readonly HookCall[] {
  let file = "";
  return patch.split("\n").flatMap((line) => {
    const [, kind, path = ""] = SECTION.exec(line.trim()) ?? [];
    const [, target] = TARGET.exec(line.trim()) ?? [];
    if (kind !== undefined) file = at(path.trim());
    if (kind === "Delete") return one("Bash", { command: `rm -- ${shellWord(file)}`, description: "" });
    if (kind === "Add") return one("Write", { file_path: file, content: patch });
    if (kind === "Update") return one("Edit", { file_path: file, old_string: "", new_string: patch });
    if (target === undefined) return [];
    const to = at(target.trim());
    return [
      ...one("Bash", { command: `mv -- ${shellWord(file)} ${shellWord(to)}`, description: "" }),
      ...one("Write", { file_path: to, content: patch }),
    ];
  });
}

function theirEdit({ old_str, new_str, replace_all }: Args): Args {
  return kept({ old_string: old_str, new_string: new_str, replace_all });
}

function ourEdit(edit: Args): Args {
  return kept({ old_str: edit.old_string, new_str: edit.new_string, replace_all: edit.replace_all });
}

function one(tool: string, input: Args): readonly HookCall[] {
  return [{ tool, input: kept(input) }];
}

/** Without undefined fields. */
function kept(fields: Args): Args {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
