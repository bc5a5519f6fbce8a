/** Finds lines that stand for omitted code: "// ... existing code ...". Pure. */

const COMMENT = String.raw`(?://|#|--|;|%|/\*|<!--|\{/\*)?`;
const STANDS_FOR = String
  .raw`(?:(?:the )?(?:rest|remainder)\b|(?:other|existing|remaining|unchanged|previous|same)\b)`;
const PLACEHOLDER = new RegExp(
  // Dots and a description, or a comment that describes and ends in dots.
  String
    .raw`^\s*${COMMENT}\s*(?:(?:\.\.\.|…)\s*\(?${STANDS_FOR}.*|${STANDS_FOR}[^=({]{0,60}(?:\.\.\.|…)[\s*/>})-]*)$`,
  "i",
);

/** The first such line that is not in the file itself. */
export function placeholderIn(text: string, before: string): string | undefined {
  const line = text.split(/\r?\n/).find((line) => PLACEHOLDER.test(line) && !before.includes(line.trim()));
  return line?.trim().slice(0, 80);
}
