/** Ranks the files and chunks of the index for a question. */
import type { IndexFile, ScoredChunk } from "./index_file.ts";
import { matchOf, type QuestionWords } from "./words.ts";

/** Weights of path, names, comments and text; the file's row has no text. `scripts/index_quality.ts` measures them. */
const CHUNK_WEIGHTS = [3, 2, 3, 1];
const FILE_WEIGHTS = [4, 1, 3];
const SYNONYM_WEIGHT = 0.2;
/** Of a file's second chunk; the third one counts half of it. */
const SECOND_CHUNK = 0.3;
const TEST_WEIGHT = 0.5;
const PROSE_WEIGHT = 0.65;
const HISTORY_WEIGHT = 0.4;

/** Rows that are compared. */
const MOST_ROWS = 300;

/**
 * A word that is in more rows than this says little, and scoring its rows takes long: it counts only where all words are
 * like that.
 */
const COMMON_ROWS = 15_000;

const TEST =
  /(?:^|\/)(?:tests?|specs?|__tests__|testdata|fixtures)\/|[._-](?:test|spec)s?\.\w+$|(?:^|\/)test_[^/]*\.py$/i;
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
export function rankFiles(
  index: IndexFile,
  question: string,
  words: QuestionWords,
  accepts: (path: string) => boolean = () => true,
): readonly RankedFile[] {
  const rare = rareWords(index, words.words);
  const match = matchOf(rare);
  const others = matchOf(rareWords(index, words.synonyms, []));
  const chunks = sum(
    index.chunks(match, CHUNK_WEIGHTS, MOST_ROWS),
    index.chunks(others, CHUNK_WEIGHTS, MOST_ROWS),
  );
  const rows = sum(
    index.fileRows(match, FILE_WEIGHTS, MOST_ROWS),
    index.fileRows(others, FILE_WEIGHTS, MOST_ROWS),
  );
  const files = new Map<string, ScoredChunk[]>();
  for (const chunk of chunks.values()) {
    if (accepts(chunk.path)) files.set(chunk.path, [...files.get(chunk.path) ?? [], chunk]);
  }
  const ofFile = new Map<string, number>();
  for (const row of rows.values()) {
    if (!accepts(row.path)) continue;
    ofFile.set(row.path, row.score);
    if (!files.has(row.path)) files.set(row.path, [{ ...row, score: 0 }]);
  }
  return [...files].map(([path, found]) => {
    const sorted = found.sort((a, b) => b.score - a.score);
    const [best = 0, second = 0, third = 0] = sorted.map(({ score }) => score);
    const score = best + SECOND_CHUNK * (second + third / 2) + (ofFile.get(path) ?? 0);
    return { path, stamp: found[0]?.stamp ?? "", score: score * kindWeight(path, question), chunks: sorted };
  }).sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

function rareWords(
  index: IndexFile,
  words: readonly string[],
  otherwise: readonly string[] = words,
): readonly string[] {
  const rare = words.filter((word) => index.frequency(word, COMMON_ROWS) < COMMON_ROWS);
  return rare.length === 0 ? otherwise : rare;
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
