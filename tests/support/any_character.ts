/** Characters for `fc.string({ unit })`. */
import fc from "fast-check";

/** No half of a pair is a character. */
const PAIRS = { first: 0xd800, count: 0x800 };

/** The characters of `unit: "binary"`, which first makes a table of all of them: that takes a second of CPU. */
export const ANY_CHARACTER = fc.nat({ max: 0x10ffff - PAIRS.count }).map(
  (index) => String.fromCodePoint(index < PAIRS.first ? index : index + PAIRS.count),
  (text) => {
    const [only, ...more] = typeof text === "string" ? text : [];
    const code = only?.codePointAt(0);
    if (code === undefined || more.length > 0 || !only?.isWellFormed()) throw new Error("not one character");
    return code < PAIRS.first ? code : code - PAIRS.count;
  },
);
