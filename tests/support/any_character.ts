/** Characters for `fc.string({ unit })`. */
import fc from "fast-check";

/** Code points that are no characters. */
const SURROGATES = { first: 0xd800, count: 0x800 };

/** The characters of `unit: "binary"`, without the table of all of them that fast-check makes in a second of CPU. */
export const ANY_CHARACTER = fc.nat({ max: 0x10ffff - SURROGATES.count }).map(
  (index) => String.fromCodePoint(index < SURROGATES.first ? index : index + SURROGATES.count),
  (text) => {
    const [only, ...more] = typeof text === "string" ? text : [];
    const code = only?.codePointAt(0);
    if (code === undefined || more.length > 0 || !only?.isWellFormed()) throw new Error("not one character");
    return code < SURROGATES.first ? code : code - SURROGATES.count;
  },
);
