/**
 * Collects facts about the project and the user's view for the model, within limits: late facts are omitted.
 */
import { join } from "node:path";
import { mayRead } from "../../policy/file_access.ts";
import { nameInRoots } from "../../policy/roots.ts";
import { isRules, RULES_PATTERNS } from "../../protocol/rules/names.ts";
import type { Shown, Surroundings, SurroundingsWanted } from "../../protocol/surroundings.ts";
import { gitView } from "../system/git/git_view.ts";
import { plainText } from "../system/output.ts";
import { failure, hasFailed, run } from "../system/run.ts";
import { defined } from "../../shared/records.ts";
import { RAW_NAMES } from "./changes.ts";
import { type SearchOptions, SearchPlace } from "./place.ts";
import { eachFile } from "./search.ts";

/** Time limit for all of it. */
export const LONGEST_MS = 1_600;

/** Files that can be completed in a prompt. */
const MOST_FILES = 5_000;
const MOST_COMPLETED = 50_000;
const MOST_RULES = 200;
const MOST_CHANGED = 20;
const MOST_BUFFERS = 20;
/** Characters of a terminal's content, and of its command. */
const MOST_TERMINAL = 2_000;
const LONGEST_COMMAND = 200;
/** Characters of the user's own rules: more than the limit for all rules of a session. */
const MOST_RULES_TEXT = 64 * 1024;

/** In Neovim's configuration folder. */
export const OWN_RULES = ["agent", "AGENTS.md"] as const;

interface SurroundingsOptions extends SearchOptions {
  /** How files are listed; default: {@link listed}. */
  readonly files?: typeof listed;
  /** Neovim's configuration folder; undefined if it has none. */
  readonly configDir: string | undefined;
}

/** Never rejects: unknown facts are absent. */
export async function surroundings(
  { facts }: SurroundingsWanted,
  options: SurroundingsOptions,
  signal: AbortSignal,
): Promise<Surroundings> {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), LONGEST_MS);
  const inTime = AbortSignal.any([signal, controller.signal]);
  const late = aborted(inTime).then(() => undefined);
  const part = async <T>(source: Promise<T>): Promise<T | undefined> =>
    await Promise.race([source.catch(() => undefined), late]);
  const [files, rules, branch, status] = await Promise.all([
    facts.includes("files") ? (options.files ?? listed)(options, inTime).catch(() => undefined) : undefined,
    facts.includes("rules") ? part(ownRules(options.configDir)) : undefined,
    facts.includes("branch") ? part(gitBranch(options)) : undefined,
    facts.includes("status") ? part(gitStatus(options, inTime)) : undefined,
  ]);
  clearTimeout(timer);
  const git = status ?? branch;
  return {
    ...defined({ files, rules, git }),
  };
}

/** The files that git does not ignore, as far as they are found in time. */
export async function fileNames(options: SearchOptions): Promise<readonly string[]> {
  return (await listed(options, AbortSignal.timeout(LONGEST_MS), MOST_COMPLETED))?.paths ?? [];
}

/** The results that arrived in time. */
export async function listed(
  options: SearchOptions,
  signal: AbortSignal,
  most = MOST_FILES,
): Promise<Surroundings["files"]> {
  const found: Listed = { paths: [], more: false, rules: [] };
  const all = listInto(found, options, signal, most).then(() => false);
  const isLate = await Promise.race([all, aborted(signal)]);
  const { paths, more, rules } = found;
  if (isLate && paths.length === 0) return undefined;
  return {
    paths: [...paths],
    more: more || isLate,
    rules: rules.toSorted(),
    ...isLate ? { late: true } : {},
  };
}

type Listed = NonNullable<Surroundings["files"]>;

async function aborted(signal: AbortSignal): Promise<true> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  return true;
}

async function listInto(
  found: Listed,
  options: SearchOptions,
  signal: AbortSignal,
  most: number,
): Promise<void> {
  const { paths, rules } = found;
  for (const root of options.roots) {
    const place = await SearchPlace.find(root, options);
    let isWhole = true;
    await eachFile(place, signal, (path) => {
      isWhole = paths.length < most;
      if (!isWhole) return false;
      paths.push(place.prefix + plainText(path));
      if (isRules(path) && rules.length < MOST_RULES) rules.push(place.prefix + path);
      return true;
    });
    if (isWhole) continue;
    found.more = true;
    await addRules(found, place, signal);
  }
}

/** Adds the files of rules of a place that has too many files to list. */
async function addRules({ rules }: Listed, place: SearchPlace, signal: AbortSignal): Promise<void> {
  const known = new Set(rules);
  await eachFile(place, signal, (path) => {
    const name = place.prefix + path;
    if (isRules(path) && !known.has(name)) rules.push(name);
    return rules.length < MOST_RULES;
  }, { names: RULES_PATTERNS });
}

async function ownRules(configDir: string | undefined): Promise<string | undefined> {
  if (configDir === undefined) return undefined;
  const text = await Deno.readTextFile(join(configDir, ...OWN_RULES)).catch(() => "");
  return text.trim() === "" ? undefined : text.slice(0, MOST_RULES_TEXT);
}

/** Reads HEAD only. @throws {Error} if that is not enough */
async function gitBranch(options: SearchOptions): Promise<Surroundings["git"]> {
  const { root, roots } = await SearchPlace.find("", options);
  const { head } = await gitView(root, roots);
  const [, branch] = /^ref: refs\/heads\/(.+)\n?$/.exec(head) ?? [];
  // Repositories with a reftable keep their branches elsewhere.
  if (branch === ".invalid") throw new Error("HEAD names no branch");
  return branch === undefined ? {} : { branch: plainText(branch) };
}

/** Only the short format names files relative to git's current folder. */
const STATUS = [
  "-c",
  "status.relativePaths=true",
  "status",
  "--short",
  "--branch",
  "--no-renames",
  "--ignore-submodules=dirty",
  "--",
  ".",
];

/** Source: git-status(1), "Short Format" and "Branch header". */
async function gitStatus(options: SearchOptions, signal: AbortSignal): Promise<Surroundings["git"]> {
  const place = await SearchPlace.find("", options);
  let head = "";
  const changed: string[] = [];
  const { code, stderr } = await run("git", [...RAW_NAMES, ...STATUS], place, signal, (line) => {
    if (line.startsWith("## ")) head = plainText(line.slice(3));
    const [, status = "", path] = /^(?!##)(..) (.+)$/.exec(line) ?? [];
    // Skip a quoted name with escapes.
    const name = path?.replace(/^"([^\\]*)"$/, "$1").replace(/\/$/, "");
    if (name !== undefined && !name.startsWith('"') && place.judge(name).verdict === "allow") {
      changed.push(plainText(`${status.trim()} ${name}`));
    }
    return true;
  });
  if (hasFailed(code, stderr)) throw failure(stderr);
  const { branch, upstream } = headOf(head);
  return {
    ...defined({ branch }),
    status: {
      ...defined({ upstream }),
      changed: changed.slice(0, MOST_CHANGED),
      more: Math.max(0, changed.length - MOST_CHANGED),
    },
  };
}

interface Head {
  readonly branch?: string;
  readonly upstream?: { readonly name: string; readonly ahead: number; readonly behind: number };
}

/** "main...origin/main [ahead 1, behind 2]", "No commits yet on main", "HEAD (no branch)" */
function headOf(head: string): Head {
  if (head === "HEAD (no branch)") return {};
  const [, branch = "", name, counts = ""] =
    /^(?:No commits yet on )?(.+?)(?:\.\.\.(\S+)(?: \[(.*)\])?)?$/.exec(head) ?? [];
  const count = (word: string) => Number(new RegExp(`${word} (\\d+)`).exec(counts)?.[1] ?? 0);
  return {
    branch,
    ...(name === undefined ? {} : { upstream: { name, ahead: count("ahead"), behind: count("behind") } }),
  };
}

/** The part of the project in Neovim's windows, by names, without files that need approval to read. */
export function shownIn(
  { current, buffers, errors, warnings, terminal, servers }: Shown,
  { roots, rules }: Pick<SearchOptions, "roots" | "rules">,
): Shown {
  const withLabel = <File extends { readonly path: string }>(file: File): readonly File[] => {
    const path = nameInRoots(file.path, roots);
    if (path === undefined || mayRead({ relative: path, named: path }, rules).verdict !== "allow") return [];
    return [{ ...file, path: lineOf(path) }];
  };
  const [looked] = current === undefined ? [] : withLabel(current);
  return {
    ...defined({ current: looked }),
    buffers: buffers.flatMap(withLabel).slice(0, MOST_BUFFERS),
    errors,
    warnings,
    ...defined({ servers }),
    ...(terminal === undefined ? {} : {
      terminal: {
        command: lineOf(terminal.command).slice(0, LONGEST_COMMAND),
        text: plainText(terminal.text).slice(-MOST_TERMINAL),
      },
    }),
  };
}

/** A name with line breaks could imitate further facts. */
function lineOf(name: string): string {
  return plainText(name).replace(/\s*[\n\u2028\u2029]\s*/g, " ");
}
