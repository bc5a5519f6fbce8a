/** Ranks the files and chunks of the index for a question. */
import type { IndexFile, ScoredChunk } from "./index_file.ts";
import { matchOf, type QuestionWords } from "./words.ts";

/** Weights of path, names, comments and text; the row of a file has no text. `scripts/index/quality.ts` measures them. */
const CHUNK_WEIGHTS = [4, 2, 3, 1];
const FILE_WEIGHTS = [4, 1, 3];
const SYNONYM_WEIGHT = 0.3;
/** Of a file's second chunk; the third one counts half of it. */
const SECOND_CHUNK = 0.3;
/** Of the best other files in the folder, and of the file's own test: both are about the same thing. */
const FOLDER_WEIGHT = 0.2;
const OWN_TEST_WEIGHT = 0.15;
const NEIGHBOURS = 3;
/** Of the best file that imports it, divided by the root of how many do: what everything imports says little. */
const IMPORT_WEIGHT = 0.2;
/** Files whose imports are looked at, and importers that are counted. */
const IMPORTING = 30;
const MOST_IMPORTERS = 400;
/** The kinds of files that seldom answer a question about code. */
const TEST_WEIGHT = 0.5;
const PROSE_WEIGHT = 0.65;
const HISTORY_WEIGHT = 0.4;

/** Rows that are compared. */
const MOST_ROWS = 200;

/**
 * Rows that are scored, because scoring takes microseconds for each: the rarest words come first. Words that are in many
 * files of a large project say little.
 */
const ROWS = { words: 8_000, synonyms: 3_000 };
const ROWS_OF_LARGE = { words: 4_000, synonyms: 1_500 };

/** Files of a large project. */
const LARGE = 5_000;

const TEST =
  /(?:^|\/)(?:tests?|specs?|__tests__|testdata|fixtures)\/|[._-](?:test|spec)s?\.\w+$|(?:^|\/)test_[^/]*\.py$/i;
/** The test of a file beside it. */
const TEST_ENDING = /[._-](?:test|spec)s?(\.\w+)$/;
const HISTORY = /(?:^|\/)(?:changelog|changes|news|licen[cs]e|copying|authors)(?:\.\w{1,4})?$/i;
const PROSE = /\.(?:md|markdown|rst|txt|adoc|[1-9]|json|jsonl|ya?ml|toml|lock|sum|csv|tsv|svg|xml|html)$/i;
const ABOUT_TESTS = /\b(?:tests?|tested|testing|specs?)\b/i;
const ABOUT_PROSE = /\b(?:readme|changelog|documented|documentation|docs|licen[cs]e|help|manual|config)\b/i;

export interface RankedFile {
  readonly path: string;
  readonly stamp: string;
  readonly score: number;
  /** Best first. */
  readonly chunks: readonly ScoredChunk[];
}

/** @param accepts whether a file may be a result, by its path */
export async function rankFiles(
  index: IndexFile,
  question: string,
  words: QuestionWords,
  accepts: (path: string) => boolean = () => true,
): Promise<readonly RankedFile[]> {
  const scored = await scoredFiles(index, words, accepts);
  const neighbours = neighbourScores(scored);
  const ranked = scored.map((file) => {
    const score = file.score + neighbours(file);
    return { ...file, score: score * kindWeight(file.path, question) };
  }).sort(byScore);
  return withImports(index, ranked, accepts);
}

function byScore(a: RankedFile, b: RankedFile): number {
  return b.score - a.score || (a.path < b.path ? -1 : 1);
}

/** Adds to the scores of what the best files import, which may have none of the question's words. */
function withImports(
  index: IndexFile,
  ranked: readonly RankedFile[],
  accepts: (path: string) => boolean,
): readonly RankedFile[] {
  const files = new Map(ranked.map((file) => [file.path, file]));
  const best = new Map<string, number>();
  for (const { path, score } of ranked.slice(0, IMPORTING)) {
    for (const { importers, ...place } of index.linked(path, MOST_IMPORTERS)) {
      if (TEST.test(place.path) || !accepts(place.path)) continue;
      best.set(place.path, Math.max(best.get(place.path) ?? 0, score / Math.sqrt(importers)));
      if (!files.has(place.path)) {
        files.set(place.path, {
          path: place.path,
          stamp: place.stamp,
          score: 0,
          chunks: [{ ...place, score: 0 }],
        });
      }
    }
  }
  return [...files.values()].map((file) => ({
    ...file,
    score: file.score + IMPORT_WEIGHT * (best.get(file.path) ?? 0),
  })).sort(byScore);
}

/** Files by their own words. */
async function scoredFiles(
  index: IndexFile,
  words: QuestionWords,
  accepts: (path: string) => boolean,
): Promise<readonly RankedFile[]> {
  const limits = Number(index.get("total") ?? 0) > LARGE ? ROWS_OF_LARGE : ROWS;
  const match = wordMatch(index, words.words, limits.words);
  const others = rareMatch(index, words.synonyms, limits.synonyms);
  const found: (readonly ScoredChunk[])[] = [];
  for (const query of [match, others]) {
    // Each takes milliseconds in which the engine does nothing else.
    await pause();
    found.push(index.chunks(query, CHUNK_WEIGHTS, MOST_ROWS));
    await pause();
    found.push(index.fileRows(query, FILE_WEIGHTS, MOST_ROWS));
  }
  const [chunksOfWords = [], rowsOfWords = [], chunksOfOthers = [], rowsOfOthers = []] = found;
  const chunks = sum(chunksOfWords, chunksOfOthers);
  const rows = sum(rowsOfWords, rowsOfOthers);
  const files = Map.groupBy(chunks.values().filter(({ path }) => accepts(path)), ({ path }) => path);
  const ofFile = new Map(rows.values().map(({ path, score }) => [path, score]));
  for (const row of rows.values()) {
    if (!files.has(row.path) && accepts(row.path)) files.set(row.path, [{ ...row, score: 0 }]);
  }
  return [...files].map(([path, found]) => {
    const sorted = found.toSorted((a, b) => b.score - a.score);
    const [best = 0, second = 0, third = 0] = sorted.map(({ score }) => score);
    const score = best + SECOND_CHUNK * (second + third / 2) + (ofFile.get(path) ?? 0);
    return { path, stamp: sorted[0]?.stamp ?? "", score, chunks: sorted };
  });
}

/** The part of a score that comes from other files of the folder, and from the own test. */
function neighbourScores(files: readonly RankedFile[]): (file: RankedFile) => number {
  const tests = files.filter(({ path }) => TEST_ENDING.test(path));
  const ofTest = new Map(tests.map(({ path, score }) => [path.replace(TEST_ENDING, "$1"), score]));
  const best = new Map<string, readonly RankedFile[]>();
  for (const [folder, list] of Map.groupBy(files, ({ path }) => folderOf(path))) {
    best.set(folder, list.toSorted((a, b) => b.score - a.score).slice(0, NEIGHBOURS + 1));
  }
  return (file) => {
    const others = (best.get(folderOf(file.path)) ?? []).filter((other) => other !== file).slice(
      0,
      NEIGHBOURS,
    );
    const folderScore = others.reduce((total, { score }) => total + score, 0) / NEIGHBOURS;
    return FOLDER_WEIGHT * folderScore + OWN_TEST_WEIGHT * (ofTest.get(file.path) ?? 0);
  };
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

/** A query for the rarest words, which are in fewer rows than this together; "" if each is in more. */
function rareMatch(index: IndexFile, words: readonly string[], most: number): string {
  const rows = words.map((word) => ({ word, count: index.frequency(matchOf([word]), most) }));
  let left = most;
  const rare = rows.toSorted((a, b) => a.count - b.count).filter(({ count }) => (left -= count) > 0);
  return matchOf(rare.map(({ word }) => word));
}

/** If each word is in too many rows, the rows that have all of them. */
function wordMatch(index: IndexFile, words: readonly string[], most: number): string {
  const rare = rareMatch(index, words, most);
  if (rare !== "") return rare;
  const all = words.map((word) => matchOf([word])).join(" AND ");
  return all !== "" && index.frequency(all, most) < most ? all : "";
}

function sum(
  found: readonly ScoredChunk[],
  synonyms: readonly ScoredChunk[],
): ReadonlyMap<number, ScoredChunk> {
  const all = new Map(found.map((row) => [row.chunk, row]));
  for (const row of synonyms) {
    const score = (all.get(row.chunk)?.score ?? 0) + SYNONYM_WEIGHT * row.score;
    all.set(row.chunk, { ...row, score });
  }
  return all;
}

function kindWeight(path: string, question: string): number {
  if (TEST.test(path)) return ABOUT_TESTS.test(question) ? 1 : TEST_WEIGHT;
  const isAboutProse = ABOUT_PROSE.test(question);
  if (HISTORY.test(path)) return isAboutProse ? 1 : HISTORY_WEIGHT;
  return PROSE.test(path) && !isAboutProse ? PROSE_WEIGHT : 1;
}
