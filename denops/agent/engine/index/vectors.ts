/** Embeddings of chunks: made in the background, and compared with that of a question. */
import { messageOf } from "../../shared/errors.ts";
import type { Embedder } from "../ports/code_index.ts";
import type { ChunkPlace, IndexFile, ScoredChunk } from "./index_file.ts";
import type { RankedFile } from "./rank.ts";
import type { Slices } from "./slices.ts";
import { isSameFile, stampOfFile, textOf } from "./text_of.ts";

/** Chunks of a request. */
const BATCH = 32;

/** Characters of a chunk: models have short windows. */
const LONGEST_TEXT = 2_000;

/** All vectors are compared up to this number, which takes about 100 ms; of more, only those of the best chunks. */
const MOST_SCANNED = 20_000;
const SCAN_PAGE = 1_000;

/** Files by vectors alone, and in reciprocal rank fusion the constant that everybody uses. */
const MOST_NEAR = 100;
const FUSION = 60;

/** Models that want to know which text is the question. */
const PREFIXES: readonly (readonly [RegExp, question: string, text: string])[] = [
  [/nomic-embed/, "search_query: ", "search_document: "],
  [/\be5\b|-e5-/, "query: ", "passage: "],
];

/** @throws {Error} one line, if the model does not answer */
export async function embedChunks(
  index: IndexFile,
  embedder: Embedder,
  { slices, pathOf, signal }: {
    readonly slices: Slices;
    /** The real path of an indexed file. */
    pathOf(name: string): string;
    readonly signal: AbortSignal;
  },
): Promise<void> {
  const { model } = embedder;
  if (index.get("model") !== model) {
    index.transaction(() => {
      index.clearVectors();
      index.set("model", model);
    });
  }
  const [, , prefix = ""] = PREFIXES.find(([name]) => name.test(model)) ?? [];
  let after = 0;
  for (;;) {
    const chunks = index.chunksWithoutVector(after, BATCH);
    after = chunks.at(-1)?.chunk ?? after;
    if (chunks.length === 0) return;
    const texts = chunks.flatMap((place) => {
      const text = textOfChunk(place, pathOf(place.path));
      return text === undefined ? [] : [{ chunk: place.chunk, text: prefix + text }];
    });
    if (texts.length > 0) {
      const vectors = await embedder.embed(texts.map(({ text }) => text), signal);
      slices.restart();
      index.transaction(() => {
        texts.forEach(({ chunk }, at) => {
          const vector = vectors[at];
          if (vector !== undefined) index.putVector(chunk, vector);
        });
      });
    }
    await slices.next();
  }
}

/** Undefined if the file has changed. */
function textOfChunk({ path: name, stamp, first, last }: ChunkPlace, path: string): string | undefined {
  if (!isSameFile(stamp, stampOfFile(path))) return undefined;
  const lines = textOf(path)?.split("\n").slice(first - 1, last);
  return lines && `${name}\n${lines.join("\n")}`.slice(0, LONGEST_TEXT);
}

/** The question's vector; or why there is none. @throws if the signal is aborted */
export async function questionVector(
  question: string,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<{ readonly vector?: Int8Array | undefined; readonly problem?: string }> {
  const [, prefix = ""] = PREFIXES.find(([name]) => name.test(embedder.model)) ?? [];
  try {
    return { vector: (await embedder.embed([(prefix + question).slice(0, LONGEST_TEXT)], signal))[0] };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: `Ranked by words alone. ${messageOf(error)}` };
  }
}

/** Ranks files by words and by vectors together. @param accepts whether a file may be a result */
export async function fuse(
  index: IndexFile,
  ranked: readonly RankedFile[],
  vector: Int8Array,
  accepts: (path: string) => boolean = () => true,
): Promise<readonly RankedFile[]> {
  const near = await nearest(index, ranked, vector);
  const files = new Map(ranked.map((file) => [file.path, file]));
  const best = new Map<string, ScoredChunk>();
  for (const chunk of near) if (!best.has(chunk.path) && accepts(chunk.path)) best.set(chunk.path, chunk);
  const ofWords = new Map(ranked.map(({ path }, at) => [path, 1 / (FUSION + at)]));
  const ofVectors = new Map([...best.keys()].map((path, at) => [path, 1 / (FUSION + at)]));
  const all = new Set([...files.keys(), ...best.keys()]);
  return [...all].map((path) => {
    const score = (ofWords.get(path) ?? 0) + (ofVectors.get(path) ?? 0);
    const chunk = best.get(path);
    const chunks = [
      ...chunk === undefined ? [] : [chunk],
      ...(files.get(path)?.chunks ?? []).filter((other) => other.chunk !== chunk?.chunk),
    ];
    return { path, stamp: chunks[0]?.stamp ?? "", score, chunks };
  }).sort((a, b) => b.score - a.score || (a.path < b.path ? -1 : 1));
}

/** The nearest chunks, best first. */
async function nearest(
  index: IndexFile,
  ranked: readonly RankedFile[],
  vector: Int8Array,
): Promise<readonly ScoredChunk[]> {
  const scores: { readonly chunk: number; readonly score: number }[] = [];
  if (index.vectorCount() > MOST_SCANNED) {
    for (const { chunks } of ranked) {
      for (const { chunk } of chunks) {
        const other = index.vector(chunk);
        if (other !== undefined) scores.push({ chunk, score: product(vector, other) });
      }
    }
  } else {
    for (let page = index.vectors(0, SCAN_PAGE); page.length > 0;) {
      for (const { chunk, vector: other } of page) scores.push({ chunk, score: product(vector, other) });
      await new Promise((resolve) => setTimeout(resolve));
      page = index.vectors(page.at(-1)?.chunk ?? 0, SCAN_PAGE);
    }
  }
  return scores.sort((a, b) => b.score - a.score).slice(0, MOST_NEAR).flatMap(({ chunk, score }) => {
    const place = index.place(chunk);
    return place === undefined ? [] : [{ ...place, score }];
  });
}

function product(one: Int8Array, other: Int8Array): number {
  let sum = 0;
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}
