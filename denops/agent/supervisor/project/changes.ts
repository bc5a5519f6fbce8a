/** Git's changes, without unreadable files. */
import type { SearchRequest, SearchResponse } from "../../protocol/search.ts";
import { plainText } from "../system/output.ts";
import type { SearchPlace } from "./place.ts";
import { failure, run } from "../system/run.ts";

const MOST_CHARACTERS = 30_000;
/** Changed files that are excluded by name; more would not fit into a command line. */
const MOST_NAMED = 1_000;
const MOST_NAME_CHARACTERS = 5_000_000;

type Changes = Extract<SearchRequest, { op: "changes" }>;

/** Prints names unquoted. */
export const RAW_NAMES = ["-c", "core.quotePath=false"];
/** For submodules, compares only the commit: git would otherwise start another git in them. */
const OF_SUBMODULES = "--ignore-submodules=dirty";
const PLAIN_DIFF = ["--no-ext-diff", "--no-textconv", "--no-renames", OF_SUBMODULES];
const FORMAT = "--pretty=format:%h %ad %an: %s";

export async function changes(
  request: Changes,
  place: SearchPlace,
  signal: AbortSignal,
): Promise<SearchResponse> {
  const git = new Git(place, signal);
  const { query, since, base, staged = false } = request;
  if (staged) {
    const diff = await git.text(["diff", "--cached", ...PLAIN_DIFF], [["diff", "--cached", ...NAMES]]);
    const log = await git.text(["log", "-n", "10", "--pretty=format:%s"], []).catch(() => "");
    const latest = log === "" ? [] : [`The latest commits:\n${log}`];
    return { op: "changes", text: diff === "" ? "" : [...latest, `What is staged:\n${diff}`].join("\n\n") };
  }
  if (base !== undefined) {
    const diff = await git.text(["diff", base, ...PLAIN_DIFF], [["diff", base, ...NAMES]]);
    return { op: "changes", text: diff === "" ? `Nothing has changed since ${base}.` : diff };
  }
  if (query !== undefined) {
    const log = [
      "-n",
      "20",
      "--date=short",
      `-S${query}`,
      ...(since === undefined ? [] : [`--since=${since}`]),
    ];
    const text = await git.text(["log", FORMAT, ...log, "--patch", ...PLAIN_DIFF], [
      ["log", "--pretty=format:", ...log, ...NAMES],
    ]);
    return { op: "changes", text: text === "" ? "No commit added or removed this text." : text };
  }
  if (since !== undefined) {
    const log = ["-n", "50", "--date=short", `--since=${since}`];
    const text = await git.text(["log", FORMAT, ...log, "--stat", ...PLAIN_DIFF], [
      ["log", "--pretty=format:", ...log, ...NAMES],
    ]);
    return { op: "changes", text: text === "" ? `No commit since ${since}.` : text };
  }
  const names = [
    ["ls-files", "-z", "--others", "--exclude-standard"],
    ["ls-files", "-z", "--others", "--exclude-standard", "--directory"],
    ["diff", "HEAD", ...NAMES],
  ];
  const status = await git.text(
    ["status", "--porcelain=v1", "--untracked-files=normal", "--no-renames", OF_SUBMODULES],
    names,
  );
  if (status === "") return { op: "changes", text: "Nothing has changed since the last commit." };
  const diff = await git.text(["diff", "HEAD", ...PLAIN_DIFF], names).catch(() => "");
  return { op: "changes", text: `${status}\n\n${diff}`.trimEnd() };
}

/** Prints the names of the files that the same command would print. */
const NAMES = ["--name-only", "-z", "--relative", ...PLAIN_DIFF];

class Git {
  readonly #place: SearchPlace;
  readonly #signal: AbortSignal;

  constructor(place: SearchPlace, signal: AbortSignal) {
    this.#place = place;
    this.#signal = signal;
  }

  /**
   * Git's output for readable files.
   * @param names commands that print the names of all files in the output
   * @throws {Error} one line
   */
  async text(args: readonly string[], names: readonly (readonly string[])[]): Promise<string> {
    const hidden = await this.#hidden(names);
    const lines: string[] = [];
    let size = 0;
    await this.#run([...args, ...this.#pathspec(), ...hidden], (line) => {
      lines.push(line);
      size += line.length + 1;
      return size < MOST_CHARACTERS;
    });
    return plainText(lines.join("\n")) + (size < MOST_CHARACTERS ? "" : "\n[more was left out]");
  }

  /** Literal: a name that begins with ":" could select the rest of the repository, outside of the project. */
  #pathspec(): readonly string[] {
    const { within, plain } = this.#place;
    return ["--", `:(literal)${within}`, ...plain.map((glob) => `:(exclude,glob,icase)${glob}`)];
  }

  /** Git interprets some globs differently, so files that they hide are found by name. */
  async #hidden(names: readonly (readonly string[])[]): Promise<readonly string[]> {
    if (!this.#place.hasOdd) return [];
    const hidden = new Set<string>();
    for (const args of names) {
      // A repository without a commit has no HEAD to compare with.
      const printed = await this.#names(args).catch((error) => {
        if (args[0] === "diff") return "";
        throw error;
      });
      for (const name of printed.split("\0").map((part) => part.replace(/^\n+/, "").replace(/\/$/, ""))) {
        if (name !== "" && this.#place.judge(name).verdict !== "allow") {
          hidden.add(`:(exclude,literal)${name}`);
        }
      }
    }
    if (hidden.size > MOST_NAMED) {
      const reason = `more than ${MOST_NAMED} changed files may not be read; narrow it with path`;
      throw new Error(reason);
    }
    return [...hidden];
  }

  async #names(args: readonly string[]): Promise<string> {
    const lines: string[] = [];
    let size = 0;
    await this.#run([...args, ...this.#pathspec()], (line) => {
      lines.push(line);
      size += line.length;
      if (size > MOST_NAME_CHARACTERS) {
        throw new Error("too many files have changed");
      }
      return true;
    });
    return lines.join("\n");
  }

  async #run(args: readonly string[], onLine: (line: string) => boolean): Promise<void> {
    let stopped = false;
    const { code, stderr } = await run(
      "git",
      [...RAW_NAMES, ...args],
      this.#place,
      this.#signal,
      (line) => {
        stopped = !onLine(line);
        return !stopped;
      },
    );
    if (code > 0 && !stopped) throw failure(stderr);
  }
}
