/** Searches for engines: ripgrep and git with fixed arguments, read-only, without network. */
import type { FoundLine, SearchRequest, SearchResponse } from "../../protocol/search.ts";
import { plainText } from "../system/output.ts";
import { changes } from "./changes.ts";
import { type SearchOptions, SearchPlace } from "./place.ts";
import { failure, hasFailed, run } from "../system/run.ts";

/** Matching lines that are counted beyond the requested ones. */
const MOST_COUNTED = 10_000;

type Grep = Extract<SearchRequest, { op: "grep" }>;
type Files = Extract<SearchRequest, { op: "files" }>;

/** @throws {Error} one line */
export async function search(
  request: SearchRequest,
  options: SearchOptions,
  signal: AbortSignal,
): Promise<SearchResponse> {
  const place = await SearchPlace.find(request.path, options);
  const response = await answer(request, place, signal);
  const leftOut = await countLeftOut(request, place, signal);
  return leftOut === undefined ? response : { ...response, leftOut };
}

async function answer(
  request: SearchRequest,
  place: SearchPlace,
  signal: AbortSignal,
): Promise<SearchResponse> {
  switch (request.op) {
    case "grep":
      return await grep(request, place, signal);
    case "files":
      return await files(request, place, signal);
    case "changes":
      return await changes(request, place, signal);
  }
}

const RIPGREP = ["--no-config", "--color=never", "--no-messages", "--hidden"];

/** Matches all files: for ripgrep, such a glob would include ignored files. */
const EVERYTHING = /^(?:\*\*\/)*\*{1,2}$/;

function wanted(glob: string | undefined): readonly string[] {
  return glob === undefined || EVERYTHING.test(glob) ? [] : [`--glob=${glob}`];
}

/**
 * Excludes unreadable files. Later globs win, so these come last. They do not match names with newlines, and
 * neither do result lines: such names are dropped.
 */
function denied(globs: readonly string[]): readonly string[] {
  return [...globs.map((glob) => `--iglob=!/${glob}`), "--iglob=!.git/", "--iglob=!*\n*"];
}

async function grep(request: Grep, place: SearchPlace, signal: AbortSignal): Promise<SearchResponse> {
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
    ...wanted(request.glob),
    ...denied(place.plain),
    `--regexp=${request.query}`,
    "--",
    place.within,
  ];
  const lines: FoundLine[] = [];
  let total = 0;
  let more = false;
  const { code, stderr } = await run("rg", args, place, signal, (line) => {
    const [, path, number, mark, text] = /^(?:\.\/)?([^\0]+)\0(\d+)([:-])(.*)$/s.exec(line) ?? [];
    if (path === undefined || number === undefined || text === undefined) return true;
    if (place.judge(path).verdict !== "allow") return true;
    const isMatch = mark === ":";
    if (isMatch) total += 1;
    if (total <= request.most) {
      lines.push({ path: place.prefix + path, line: Number(number), text: plainText(text), isMatch });
    }
    more = total >= MOST_COUNTED;
    return !more;
  });
  // 1: no match; more: we stopped it.
  if (hasFailed(code, stderr) && !more) throw failure(stderr);
  return { op: "grep", lines, total, more };
}

/** Selects the files of a place. */
interface Listing {
  readonly glob?: string | undefined;
  readonly depth?: number | undefined;
  /** Patterns of names. Unlike a glob, they never include ignored files. */
  readonly names?: readonly string[];
}

/** Arguments that list files below the place. */
function listing(
  { glob, depth, names }: Listing,
  hidden: readonly string[],
  place: SearchPlace,
): readonly string[] {
  return [
    ...RIPGREP,
    "--files",
    ...(depth === undefined ? [] : [`--max-depth=${depth}`]),
    ...names === undefined ? [] : [...names.map((name) => `--type-add=wanted:${name}`), "--type=wanted"],
    ...wanted(glob),
    ...denied(hidden),
    "--",
    place.within,
  ];
}

async function files(request: Files, place: SearchPlace, signal: AbortSignal): Promise<SearchResponse> {
  const paths: string[] = [];
  let more = false;
  await eachFile(place, signal, (path) => {
    more = paths.length >= request.most;
    if (!more) paths.push(place.prefix + plainText(path));
    return !more;
  }, request);
  return { op: "files", paths: paths.sort(), more };
}

/**
 * Files of the place that can be read without approval and that git does not ignore; relative to the root, in
 * any order.
 * @param onFile returns false to stop @throws {Error} one line
 */
export async function eachFile(
  place: SearchPlace,
  signal: AbortSignal,
  onFile: (path: string) => boolean,
  which: Listing = {},
): Promise<void> {
  let stopped = false;
  const { code, stderr } = await run("rg", listing(which, place.plain, place), place, signal, (line) => {
    const path = line.replace(/^\.\//, "");
    stopped = place.judge(path).verdict === "allow" && !onFile(path);
    return !stopped;
  });
  if (hasFailed(code, stderr) && !stopped) throw failure(stderr);
}

/**
 * Counts the skipped files that need approval. Counts all of them, because the number of matching ones would
 * reveal their content.
 */
async function countLeftOut(
  request: SearchRequest,
  place: SearchPlace,
  signal: AbortSignal,
): Promise<SearchResponse["leftOut"]> {
  if (place.rules.read_rules.ask.length === 0) return undefined;
  const rules = new Set<string>();
  let count = 0;
  const args = listing(request.op === "changes" ? {} : request, [], place);
  const { code, stderr } = await run("rg", args, place, signal, (line) => {
    const decision = place.judge(line.replace(/^\.\//, ""));
    if (decision.verdict === "ask") {
      count += 1;
      rules.add(decision.rule);
    }
    return true;
  });
  if (hasFailed(code, stderr)) throw failure(stderr);
  return { count, rules: [...rules] };
}
