/** Answers a question from the index, with the files as they are now. */
import type { MeaningHit, MeaningQuery } from "../ports/code_index.ts";
import { bestLines } from "./best_lines.ts";
import { indexFile } from "./builder.ts";
import type { IndexFile } from "./index_file.ts";
import { type RankedFile, rankFiles } from "./rank.ts";
import { isSameFile, stampOfFile, textOf } from "./text_of.ts";
import { fuse } from "./vectors.ts";
import { questionWords, stem } from "./words.ts";

/** Chunks of a file that an answer has. */
const CHUNKS_OF_FILE = 2;

interface IndexAnswer {
  readonly hits: readonly MeaningHit[];
  /** Files were gone, hidden or changed. */
  readonly isOutdated: boolean;
}

/** @param vector of the question, if there is one */
export async function answer(
  index: IndexFile,
  query: MeaningQuery,
  vector?: Int8Array,
): Promise<IndexAnswer> {
  const words = questionWords(query.question);
  const stems = new Set([...words.words, ...words.synonyms].map(stem));
  const rank = async () => {
    const ranked = await rankFiles(index, query.question, words, query.accepts);
    return vector === undefined ? ranked : await fuse(index, ranked, vector, query.accepts);
  };
  let ranked = await rank();
  const paths = await pathsOf(ranked, query);
  const isOutdated = [...paths].some(([file, path]) => path === undefined || !isFresh(file, path));
  if (isOutdated) {
    for (const [file, path] of paths) {
      if (path !== undefined && !isFresh(file, path)) indexAgain(index, file, path);
    }
    ranked = await rank();
  }
  const hits: MeaningHit[] = [];
  const names = new Set<string>();
  for (const [file, path] of await pathsOf(ranked, query)) {
    if (names.size === query.most) break;
    const found = path === undefined ? [] : hitsIn(file, path, stems);
    if (found.length > 0) names.add(file.path);
    hits.push(...found);
  }
  return { hits, isOutdated };
}

/** The real paths of the best files; undefined: it is gone or hidden. */
async function pathsOf(
  ranked: readonly RankedFile[],
  { most, pathOf }: MeaningQuery,
): Promise<ReadonlyMap<RankedFile, string | undefined>> {
  const paths = new Map<RankedFile, string | undefined>();
  let found = 0;
  for (const file of ranked) {
    if (found === 2 * most) break;
    const path = await pathOf(file.path);
    if (path !== undefined) found += 1;
    paths.set(file, path);
  }
  return paths;
}

function isFresh({ stamp }: RankedFile, path: string): boolean {
  return isSameFile(stamp, stampOfFile(path));
}

function indexAgain(index: IndexFile, file: RankedFile, path: string): void {
  try {
    index.transaction(() => indexFile(index, file.path, path));
  } catch {
    // Another engine is writing, or the disk is full: the answer lacks this file.
  }
}

function hitsIn(file: RankedFile, path: string, stems: ReadonlySet<string>): readonly MeaningHit[] {
  // Between two changes within one tick of the clock, the stamp is not settled: the text is as good as it can be.
  if (file.stamp.replace(/ new$/, "") !== stampOfFile(path)?.replace(/ new$/, "")) return [];
  const lines = textOf(path)?.split("\n");
  if (lines === undefined) return [];
  return file.chunks.slice(0, CHUNKS_OF_FILE).map(({ first, last }) => ({
    ...{ name: file.path, path, first, last },
    lines: bestLines(lines, { first, last }, stems),
  })).filter((hit) => hit.lines.length > 0);
}
