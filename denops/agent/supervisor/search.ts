/** Searches of engines: ripgrep and git with fixed arguments, read-only, without network. */
import { RequestError } from "@agentclientprotocol/sdk";
import { basename, relative } from "node:path";
import { mayRead } from "../policy/file_access.ts";
import { resolveInRoots } from "../policy/roots.ts";
import type { FoundLine, SearchRequest, SearchResponse } from "../protocol/search.ts";
import { plainText } from "./command_output.ts";
import { lookups } from "./lookups.ts";
import { findProgram, sandbox } from "./sandbox.ts";
import { commandEnvironment } from "./shell.ts";

/** Matching lines that are counted beyond those that are wanted. */
const MOST_COUNTED = 10_000;
const LONGEST_MS = 30_000;
const MOST_CHARACTERS = 30_000;

export interface SearchOptions {
  readonly roots: readonly string[];
  readonly denyRead: readonly string[];
  /** False runs the programs without bubblewrap. */
  readonly sandboxed: boolean;
}

type Grep = Extract<SearchRequest, { op: "grep" }>;
type Files = Extract<SearchRequest, { op: "files" }>;
type Changes = Extract<SearchRequest, { op: "changes" }>;

/** @throws {RequestError} one line */
export async function search(
  request: SearchRequest,
  options: SearchOptions,
  signal: AbortSignal,
): Promise<SearchResponse> {
  const found = await placeOf(request.path, options.roots);
  const { path, root, prefix } = found;
  const decision = mayRead(found, options.denyRead);
  if (decision.verdict !== "allow") throw RequestError.invalidParams(undefined, decision.reason);
  const within = relative(root, path) || ".";
  const place: Place = { ...options, root, prefix };
  switch (request.op) {
    case "grep":
      return await grep(request, within, place, signal);
    case "files":
      return await files(request, within, place, signal);
    case "changes":
      return await changes(request, within, place, signal);
  }
}

interface Place extends SearchOptions {
  readonly root: string;
  /** What stands before the paths of a root that is not the primary one: "lib/". */
  readonly prefix: string;
}

/** The engine names an absolute path, or "" for the primary root. */
async function placeOf(path: string, roots: readonly string[]) {
  const found = await resolveInRoots(path === "" ? "." : path, roots, lookups);
  return { ...found, prefix: found.root === roots[0] ? "" : `${basename(found.root)}/` };
}

const RIPGREP = ["--no-config", "--color=never", "--no-messages", "--hidden", "--glob=!.git/"];

/**
 * What the model may not read is not found. Later globs win, so these come last. They end at a newline in a name, and
 * so do lines of results: such names are left out.
 */
function denied(denyRead: readonly string[]): readonly string[] {
  return [...denyRead, "*\n*"].map((glob) => `--iglob=!${glob}`);
}

async function grep(
  request: Grep,
  within: string,
  options: Place,
  signal: AbortSignal,
): Promise<SearchResponse> {
  const args = [
    ...RIPGREP,
    "--no-heading",
    "--with-filename",
    "--null",
    "--line-number",
    "--max-columns=400",
    "--max-columns-preview",
    `--context=${request.context}`,
    request.isRegex ? "--engine=auto" : "--fixed-strings",
    { smart: "--smart-case", sensitive: "--case-sensitive", insensitive: "--ignore-case" }[request.case],
    ...(request.glob === undefined ? [] : [`--glob=${request.glob}`]),
    ...denied(options.denyRead),
    `--regexp=${request.query}`,
    "--",
    within,
  ];
  const lines: FoundLine[] = [];
  let total = 0;
  let more = false;
  const { code, stderr } = await run("rg", args, options, signal, (line) => {
    const [, path, number, mark, text] = /^(?:\.\/)?([^\0]+)\0(\d+)([:-])(.*)$/s.exec(line) ?? [];
    if (path === undefined || number === undefined || text === undefined) return true;
    const isMatch = mark === ":";
    if (isMatch) total += 1;
    if (total <= request.most) {
      lines.push({ path: options.prefix + path, line: Number(number), text: plainText(text), isMatch });
    }
    more = total >= MOST_COUNTED;
    return !more;
  });
  // 1: nothing was found; more: stopped by us.
  if (hasFailed(code, stderr) && !more) throw failure(stderr);
  return { op: "grep", lines, total, more };
}

async function files(
  request: Files,
  within: string,
  options: Place,
  signal: AbortSignal,
): Promise<SearchResponse> {
  const args = [
    ...RIPGREP,
    "--files",
    ...(request.depth === undefined ? [] : [`--max-depth=${request.depth}`]),
    ...(request.glob === undefined ? [] : [`--glob=${request.glob}`]),
    ...denied(options.denyRead),
    "--",
    within,
  ];
  const paths: string[] = [];
  let more = false;
  const { code, stderr } = await run("rg", args, options, signal, (line) => {
    more = paths.length >= request.most;
    if (!more) paths.push(options.prefix + plainText(line.replace(/^\.\//, "")));
    return !more;
  });
  if (hasFailed(code, stderr) && !more) throw failure(stderr);
  return { op: "files", paths: paths.sort(), more };
}

/** Nothing of a repository's configuration makes these run a program. */
const GIT = [
  "--no-pager",
  "--no-optional-locks",
  "-c",
  "safe.directory=*",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "color.ui=false",
];
const PLAIN_DIFF = ["--no-ext-diff", "--no-textconv"];

async function changes(
  request: Changes,
  within: string,
  options: Place,
  signal: AbortSignal,
): Promise<SearchResponse> {
  // Literal: a name that begins with ":" could lead out of the project, into the rest of the repository.
  const pathspec = [
    "--",
    `:(literal)${within}`,
    ...options.denyRead.map((glob) => `:(exclude,glob,icase)${glob}`),
  ];
  const git = async (args: readonly string[]) => {
    const collected: string[] = [];
    let size = 0;
    const { code, stderr } = await run("git", [...GIT, ...args, ...pathspec], options, signal, (line) => {
      collected.push(line);
      size += line.length + 1;
      return size < MOST_CHARACTERS;
    });
    if (code > 0 && size < MOST_CHARACTERS) throw failure(stderr);
    return plainText(collected.join("\n")) + (size < MOST_CHARACTERS ? "" : "\n[more was left out]");
  };
  const format = "--pretty=format:%h %ad %an: %s";
  if (request.query !== undefined) {
    const since = request.since === undefined ? [] : [`--since=${request.since}`];
    const text = await git([
      "log",
      "-n",
      "20",
      "--date=short",
      format,
      `-S${request.query}`,
      ...since,
      "--patch",
      ...PLAIN_DIFF,
    ]);
    return { op: "changes", text: text === "" ? "No commit added or removed this text." : text };
  }
  if (request.since !== undefined) {
    const text = await git([
      "log",
      "-n",
      "50",
      "--date=short",
      format,
      `--since=${request.since}`,
      "--stat",
      ...PLAIN_DIFF,
    ]);
    return { op: "changes", text: text === "" ? `No commit since ${request.since}.` : text };
  }
  const status = await git(["status", "--porcelain=v1", "--untracked-files=normal"]);
  if (status === "") return { op: "changes", text: "Nothing has changed since the last commit." };
  const diff = await git(["diff", "HEAD", ...PLAIN_DIFF]).catch(() => "");
  return { op: "changes", text: `${status}\n\n${diff}`.trimEnd() };
}

/** ripgrep ends with 1 if it found nothing; what could not even be started ends so too, and says why. */
function hasFailed(code: number, stderr: string): boolean {
  return code > 1 || (code === 1 && stderr.trim() !== "");
}

function failure(stderr: string): RequestError {
  const [line = "it failed"] = stderr.trim().split("\n").map((text) =>
    text.replace(/^(rg|fatal|error): /, "")
  );
  return RequestError.invalidParams(undefined, line.replace(/\.+$/, ""));
}

/** @param onLine false: enough, stop */
async function run(
  name: "rg" | "git",
  args: readonly string[],
  options: Place,
  signal: AbortSignal,
  onLine: (line: string) => boolean,
): Promise<{ code: number; stderr: string }> {
  const program = await findProgram(name);
  const product = name === "rg" ? "ripgrep" : "git";
  if (program === undefined) {
    throw RequestError.invalidParams(undefined, `${product} is not installed; the user has to install it`);
  }
  const { command, before } = await sandboxed(program, options);
  const process = new Deno.Command(command, {
    args: [...before, ...args],
    cwd: options.root,
    env: commandEnvironment([]),
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.any([signal, AbortSignal.timeout(LONGEST_MS)]),
  }).spawn();
  const errors = new Response(process.stderr).text();
  let stopped = false;
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of process.stdout) {
    if (stopped) continue;
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (onLine(line)) continue;
      stopped = true;
      process.kill("SIGKILL");
      break;
    }
  }
  if (!stopped && rest !== "") onLine(rest);
  const { code } = await process.status;
  return { code, stderr: await errors };
}

async function sandboxed(
  program: string,
  options: Place,
): Promise<{ command: string; before: readonly string[] }> {
  const found = await sandbox();
  if (!options.sandboxed || found.level !== "bubblewrap") return { command: program, before: [] };
  // Everything is read-only here, so nothing is masked: the program itself may lie in a folder such as /tmp.
  const before = [
    ...["--unshare-all", "--die-with-parent", "--new-session"],
    ...["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--chdir", options.root],
  ];
  return { command: found.bwrap, before: [...before, "--", program] };
}
