/** Words of code and of questions about it. Pure. */
import { SYNONYMS } from "./synonyms.ts";

/** Splits camelCase; the index splits at everything else that is neither a letter nor a digit. */
export function splitNames(text: string): string {
  return text.replace(/([a-z\d])([A-Z])/g, "$1 $2").replace(/([A-Z])([A-Z][a-z])/g, "$1 $2");
}

/** Words that every file has, or that only questions have. */
const STOP_WORDS = new Set(
  ("a about after all also an and any are as at be because been before being but by called calls can class code could did do does doing " +
    "done each ever file files find from function functions get gets got has have having he how i if in into is it its kept like made make " +
    "makes many may me might more most must my need needs no not of on one only or other our out over part place program " +
    "put should so some such than that the their them then there these they this those through to too under up us use " +
    "used uses using very was we were what when where whether which while who whose why will with without would you your")
    .split(" "),
);

/** Words of a question that count. */
const MOST_WORDS = 40;

export interface QuestionWords {
  readonly words: readonly string[];
  /** Other words for them. */
  readonly synonyms: readonly string[];
}

export function questionWords(question: string): QuestionWords {
  const all = wordsIn(question);
  const wanted = all.filter((word) => !STOP_WORDS.has(word) && (word.length > 1 || /\d/.test(word)));
  // A question of stop words alone searches for them.
  const words = [...new Set(wanted.length === 0 ? all : wanted)].slice(0, MOST_WORDS);
  const synonyms = new Set(words.flatMap((word) => SYNONYMS_OF.get(baseForm(word)) ?? []));
  return { words, synonyms: [...synonyms].filter((word) => !words.includes(word)) };
}

/** The words of a text in lower case, with names split. */
export function wordsIn(text: string): readonly string[] {
  return splitNames(text).toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** Similar to what the index does to words: its ends are removed. */
export function stem(word: string): string {
  if (word.length < 4) return word;
  return word.replace(/(?:ies|es|s|ied|ed|ing|er|ion|e|y)$/, "").replace(/([^aeiou])\1$/, "$1");
}

/** The query for FTS5: any of the words. A quoted word has no operators. */
export function matchOf(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(" OR ");
}

const SYNONYMS_OF = new Map<string, readonly string[]>();
for (const group of SYNONYMS.map((list) => list.split(" "))) {
  for (const word of group) {
    const others = group.filter((other) => other !== word);
    SYNONYMS_OF.set(word, [...SYNONYMS_OF.get(word) ?? [], ...others]);
  }
}

/** The word in the table of synonyms that this is a form of; otherwise the word itself. */
function baseForm(word: string): string {
  if (SYNONYMS_OF.has(word)) return word;
  for (const ending of ["es", "s", "d", "ed", "ing"]) {
    const start = word.slice(0, -ending.length);
    if (!word.endsWith(ending) || start.length < 3) continue;
    const forms = [start, `${start}e`, start.replace(/(.)\1$/, "$1")];
    const known = forms.find((form) => SYNONYMS_OF.has(form));
    if (known !== undefined) return known;
  }
  return word;
}
