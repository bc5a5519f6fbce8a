/** What an edit does to a text: the corpus of edit_match_test.ts. */
import type { applyEdits } from "../../denops/agent/engine/tools/files/edit_match.ts";

type Edit = Parameters<typeof applyEdits>[1][number];

interface EditCase {
  readonly what: string;
  readonly text: string;
  readonly edits: readonly Edit[];
  /** The text afterwards, or what the error says. */
  readonly after: string | RegExp;
}

/** One edit: old text, new text, and the text that comes out or the error. */
function one(what: string, text: string, old_str: string, new_str: string, after: string | RegExp): EditCase {
  return { what, text, edits: [{ old_str, new_str }], after };
}

function all(what: string, text: string, old_str: string, new_str: string, after: string | RegExp): EditCase {
  return { what, text, edits: [{ old_str, new_str, replace_all: true }], after };
}

function several(
  what: string,
  text: string,
  edits: readonly (readonly [old: string, replacement: string])[],
  after: string | RegExp,
): EditCase {
  return { what, text, edits: edits.map(([old_str, new_str]) => ({ old_str, new_str })), after };
}

const exact: readonly EditCase[] = [
  one("a word", "let a = 1;\n", "a", "b", "let b = 1;\n"),
  one("a line", "a\nb\nc\n", "b\n", "x\n", "a\nx\nc\n"),
  one("lines become one", "a\nb\nc\n", "a\nb\n", "x\n", "x\nc\n"),
  one("one line becomes several", "a\nb\n", "a\n", "x\ny\nz\n", "x\ny\nz\nb\n"),
  one("a line is deleted", "a\nb\nc\n", "b\n", "", "a\nc\n"),
  one("a part across lines", "foo(\n  1,\n);\n", "(\n  1,\n)", "()", "foo();\n"),
  one("the whole file", "a\nb\n", "a\nb\n", "c\n", "c\n"),
  one("the whole file is emptied", "a\nb\n", "a\nb\n", "", ""),
  one("the start", "abc", "a", "x", "xbc"),
  one("the end", "abc", "c", "x", "abx"),
  one("no final newline stays none", "a\nb", "b", "x", "a\nx"),
  one("a final newline is added on purpose", "a\nb", "b", "b\n", "a\nb\n"),
  one("blank lines", "a\n\n\nb\n", "\n\n\n", "\n", "a\nb\n"),
  one("white space alone, where it is once", "a  b", "  ", " ", "a b"),
  one("tabs", "\tif (a) {\n\t\tb();\n\t}\n", "\t\tb();\n", "\t\tc();\n", "\tif (a) {\n\t\tc();\n\t}\n"),
  one("trailing white space is matched as it is", "a  \nb\n", "a  \n", "a\n", "a\nb\n"),
  one("a line with only white space", "a\n   \nb\n", "a\n   \nb", "a\n\nb", "a\n\nb\n"),
  one("unicode", "grüße 😀\n", "grüße 😀", "hé 🎉", "hé 🎉\n"),
  one("a part of a character's pair is not meant", "😀😁", "😀", "x", "x😁"),
  one("combining marks stay as they are", "e\u0301a\n", "e\u0301", "é", "éa\n"),
  one("composed is not decomposed", "é = 1;\n", "e\u0301 = 1;", "x", /not found/),
  one("no-break spaces are not spaces", "a\u00a0b\n", "a b", "x", /not found/),
  one("line separators end no line", "a\u2028b\n", "a\u2028b", "c", "c\n"),
  one("case counts", "Foo\n", "foo", "bar", /not found/),
  one("marks of regular expressions are text", "a.*b [x] (y) ^$ \\d\n", ".*b [x] (y) ^$ \\d", "z", "az\n"),
  one(
    "marks of replacements are text: $&",
    "price\n",
    "price",
    "$& $1 $` $' $$ $<x>",
    "$& $1 $` $' $$ $<x>\n",
  ),
  one("backslashes are text", "a\\nb\n", "a\\nb", "c\\td", "c\\td\n"),
  one("the new text may hold the old", "a\n", "a", "aaa", "aaa\n"),
  one("NUL in the new text", "a\n", "a", "\u0000", "\u0000\n"),
  one("a mark in the text is text", "\ufeffa\n", "\ufeffa", "b", "b\n"),
  one("an empty file is filled", "", "", "a\n", "a\n"),
  one(
    "in one long line",
    `${"x".repeat(9_000)}needle${"y".repeat(9_000)}`,
    "needle",
    "-",
    `${"x".repeat(9_000)}-${"y".repeat(9_000)}`,
  ),
];

const endings: readonly EditCase[] = [
  one("CRLF, old text with \\n", "a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\n", "x\r\ny\r\nc\r\n"),
  one("CRLF, old text with \\r\\n", "a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"),
  one("CRLF, new lines in the place of a word", "a\r\nb\r\n", "a", "x\ny", "x\r\ny\r\nb\r\n"),
  one("CRLF, new lines in the last line", "a\r\nb", "b", "x\ny", "a\r\nx\r\ny"),
  one("CRLF, a word of one line", "a b\r\nc\r\n", "a", "x", "x b\r\nc\r\n"),
  one("CRLF, a line is deleted", "a\r\nb\r\nc\r\n", "b\n", "", "a\r\nc\r\n"),
  one("CRLF, the new text has some of its own", "a\r\nb\r\n", "a\nb\n", "x\r\ny\n", "x\r\ny\r\n"),
  one("CRLF and trailing white space", "a  \r\nb\r\n", "a\nb\n", "x\ny\n", "x\r\ny\r\n"),
  one("CRLF and indentation", "  a\r\n    b\r\n", "a\n  b\n", "x\n  y\n", "  x\r\n    y\r\n"),
  one("LF, old text with \\r\\n", "a\nb\nc\n", "a\r\nb\r\n", "x\r\ny\r\n", "x\ny\nc\n"),
  one("LF, the new text may hold CR", "a\nb\n", "a", "x\r\ny", "x\r\ny\nb\n"),
  one("CR alone", "a\rb\rc\r", "a\nb\n", "x\ny\n", "x\ry\rc\r"),
  one("CR alone, new lines in the place of a word", "a\rb\r", "a", "x\ny", "x\ry\rb\r"),
  one("mixed endings stay but for the place", "a\r\nb\nc\r\nd\r\n", "b\n", "x\ny\n", "a\r\nx\ny\nc\r\nd\r\n"),
  one(
    "mixed endings, new lines end as the place does",
    "a\r\nb\r\nc\nd\n",
    "b",
    "x\ny",
    "a\r\nx\r\ny\r\nc\nd\n",
  ),
  one("mixed endings, an LF line in a CRLF file", "a\r\nb\r\nc\nd\r\n", "c", "x\ny", "a\r\nb\r\nx\ny\nd\r\n"),
];

const whiteSpace: readonly EditCase[] = [
  one("the file has trailing white space", "a  \nb\t\nc\n", "a\nb\n", "x\ny\n", "x\ny\nc\n"),
  one("the old text has trailing white space", "a\nb\nc\n", "a \nb  \n", "x\ny\n", "x\ny\nc\n"),
  one("a blank line that is not empty", "a\n  \nb\n", "a\n\nb\n", "x\n\ny\n", "x\n\ny\n"),
  one("without a newline at the end the rest of the line goes too", "a  \nb\n", "a\nb", "x", "x\n"),
  one(
    "a part of a line does not match with other white space",
    "foo(a);  \nbar();\n",
    "a);\nbar();",
    "x",
    /not found/,
  ),
  one("a newline more than the file has is no change of its end", "a\nb", "b\n", "x\n", "a\nx"),
  one("lines at a file's end without newline", "a\nb  \nc", "b\nc\n", "x\ny\n", "a\nx\ny"),
  one("and if the new text has no newline either", "a\nb", "b\n", "x", "a\nx"),
  one(
    "deeper in the file",
    "  if (a) {\n    b();\n  }\n",
    "if (a) {\n  b();\n}\n",
    "if (c) {\n  d();\n}\n",
    "  if (c) {\n    d();\n  }\n",
  ),
  one(
    "less deep in the file",
    "if (a) {\n  b();\n}\n",
    "    if (a) {\n      b();\n    }\n",
    "    if (c) {\n      d();\n      e();\n    }\n",
    "if (c) {\n  d();\n  e();\n}\n",
  ),
  one("deeper by tabs", "\t\ta\n\t\t\tb\n", "a\n\tb\n", "x\n\ty\n", "\t\tx\n\t\t\ty\n"),
  one("less deep by tabs", "a\n\tb\n", "\ta\n\t\tb\n", "\tx\n\t\ty\n", "x\n\ty\n"),
  one("deeper, blank lines stay blank", "  a\n\n  b\n", "a\n\nb\n", "x\n\ny\n", "  x\n\n  y\n"),
  one(
    "deeper, and the new text's blank lines too",
    "    a\n    b\n",
    "  a\n  b\n",
    "  x\n\n  y\n",
    "    x\n\n    y\n",
  ),
  one("one line is found in a deeper one as it is", "    a\n", "  a\n", "  x\n  y\n", "    x\n  y\n"),
  one("less deep, lines that lack the white space keep theirs", "a\nb\n", "  a\n  b\n", "  x\ny\n", "x\ny\n"),
  one("deeper and trailing white space at once", "  a \n    b\n", "a\n  b\n", "x\n  y\n", "  x\n    y\n"),
  one(
    "a line by itself, deeper: the exact text is found in it",
    "    return a;\n",
    "return a;",
    "return b;",
    "    return b;\n",
  ),
  one("spaces are not tabs", "\ta\n\tb\n", "  a\n  b\n", "  x\n", /not found/),
  one("each line must be shifted alike", "  a\n   b\n", "a\nb\n", "x\n", /not found/),
  one("inner white space counts", "a  = 1\n", "a = 1\n", "x", /not found/),
  one("lines in between are not skipped", "a\nb\nc\n", "a\nc\n", "x\n", /not found/),
  one("blank lines alone are not searched for so", "a\n \nb\n", "\n\n\n\n", "\n", /not found/),
];

const occurrences: readonly EditCase[] = [
  one(
    "twice",
    "a\nb\na\n",
    "a\n",
    "x\n",
    /^old_str occurs 2 times in src\/x\.ts \(lines 1, 3\)\. Add lines around it or set replace_all\.$/,
  ),
  one("lines around it make it one", "a\nb\na\nc\n", "a\nc\n", "x\nc\n", "a\nb\nx\nc\n"),
  one("twice in a line", "aba\n", "a", "x", /occurs 2 times .*\(lines 1, 1\)/),
  one("one within the other", "}\n}\n}\n", "}\n}\n", "}\n", /occurs 2 times .*\(lines 1, 2\)/),
  one("one within the other, in a line", "aaa", "aa", "x", /occurs 2 times/),
  one(
    "more than ten are counted, ten are shown",
    "a\n".repeat(12),
    "a",
    "x",
    /occurs 12 times in src\/x\.ts \(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10\)/,
  ),
  one("twice, but for white space", "a \nb\na  \nc\n", "a\n", "x\n", /occurs 2 times .*\(lines 1, 3\)/),
  one(
    "twice, but for indentation",
    "  a\n  b\n    a\n    b\n",
    "a\nb\n",
    "x\n",
    /occurs 2 times .*\(lines 1, 3\)/,
  ),
  one(
    "an exact place wins over those with other white space",
    "  a\nb\na\nb\n",
    "\na\nb\n",
    "\nx\n",
    "  a\nb\nx\n",
  ),
  one("lines are counted in CRLF too", "a\r\nb\r\na\r\n", "a\n", "x\n", /\(lines 1, 3\)/),
  all("all of them", "a b a\na\n", "a", "x", "x b x\nx\n"),
  all("all of one is one", "a\n", "a", "b", "b\n"),
  all("all without overlap", "aaaaa", "aa", "b", "bba"),
  all("all, and the new text holds the old", "a a", "a", "aa", "aa aa"),
  all("all, deleted", "a, b, c", ", ", "", "abc"),
  all("all in CRLF", "a\r\nb\r\na\r\nb\r\n", "a\nb\n", "x\n", "x\r\nx\r\n"),
  all(
    "all with their own indentation",
    "  a\n    b\n      a\n        b\n",
    "a\n  b\n",
    "x\n",
    "  x\n      x\n",
  ),
  all("all, but there is none", "a\n", "b", "x", /not found/),
  all("all with marks of replacements", "a a", "a", "$&$&", "$&$& $&$&"),
];

const sequences: readonly EditCase[] = [
  several("two places", "a\nb\nc\n", [["a", "x"], ["c", "z"]], "x\nb\nz\n"),
  several("in any order", "a\nb\nc\n", [["c", "z"], ["a", "x"]], "x\nb\nz\n"),
  several("that touch", "ab\n", [["a", "x"], ["b", "y"]], "xy\n"),
  several("one on what the other made", "a\n", [["a", "b"], ["b", "c"]], "c\n"),
  several("one undoes the other", "a\n", [["a", "b"], ["b", "a"]], "a\n"),
  several("the first makes the second unique", "a\na\n", [["a\na", "a\nb"], ["a\n", "x\n"]], "x\nb\n"),
  several(
    "the first takes the second's place away",
    "a b\n",
    [["a b", "c"], ["b", "x"]],
    /^edit 2 of 2: old_str was not found/,
  ),
  several("all or none: the second is not there", "a\nb\n", [["a", "x"], ["q", "y"]], /^edit 2 of 2: /),
  several(
    "the first is there twice",
    "a\na\nb\n",
    [["a", "x"], ["b", "y"]],
    /^edit 1 of 2: old_str occurs 2 times/,
  ),
  several(
    "the second changes nothing",
    "a\n",
    [["a", "x"], ["x", "x"]],
    /^edit 2 of 2: old_str and new_str are the same\.$/,
  ),
  several("in CRLF, each by another way", "a\r\n  b\r\nc\r\n", [["a\nb\n", "no\n"]], /not found/),
  several("in CRLF", "a\r\nb\r\nc\r\n", [["a\nb", "x\ny"], ["y\nc\n", "z\n"]], "x\r\nz\r\n"),
  several("none at all", "a\n", [], "a\n"),
];

const refused: readonly EditCase[] = [
  one(
    "nothing to look for",
    "a\n",
    "",
    "x",
    /^old_str is empty\. Copy the lines to replace from src\/x\.ts, or use write\.$/,
  ),
  one("nothing to change", "a\n", "a", "a", /^old_str and new_str are the same\.$/),
  one("nothing to change in an empty file", "", "a", "a", /are the same/),
  one(
    "an empty file has nothing",
    "",
    "a",
    "b",
    /^old_str was not found in src\/x\.ts, nor anything like it\. Read the file again/,
  ),
  one("nothing like it", "alpha beta\n", "if (x) {\n", "y", /nor anything like it\./),
  one(
    "the numbers of read are not in the file",
    "const a = 1;\n",
    "1\tconst a = 1;",
    "x",
    /nearest lines are:\n1: const a = 1;\n/,
  ),
  one(
    "the nearest lines, with numbers",
    "import a from 'a';\n\nfunction greet(name) {\n  return `Hello ${name}`;\n}\n",
    "function greet(user) {\n  return `Hello ${user}`;\n}\n",
    "x",
    /^old_str was not found in src\/x\.ts\. The nearest lines are:\n3: function greet\(name\) \{\n4: {3}return `Hello \$\{name\}`;\n5: \}\nRead the file again and copy the text exactly\.$/,
  ),
  one(
    "the nearest of several like it",
    "let a = 1;\nlet b = 2;\nlet c = 3;\n",
    "let b = 22;\n",
    "x",
    /nearest lines are:\n2: let b = 2;\nRead/,
  ),
  one(
    "blank lines keep their places",
    "a one\n\nb two\nc\n",
    "a one\n\nb three\n",
    "x",
    /lines are:\n1: a one\n2: \n3: b two\nRead/,
  ),
  one(
    "eight lines at most are shown",
    Array.from({ length: 30 }, (_, at) => `line ${at} here\n`).join(""),
    Array.from({ length: 20 }, (_, at) => `line ${at} hers\n`).join(""),
    "x",
    /lines are:\n1: line 0 here\n(?:\d: .*\n){7}Read/,
  ),
  one(
    "a long line is cut",
    `let needle = ${"x".repeat(5_000)};\n`,
    "let needle = 1;\n",
    "y",
    /lines are:\n1: let needle = x{187}\nRead/,
  ),
  one(
    "a file of many lines is not searched for what is near",
    "let a = 1;\n".repeat(20_001),
    "let a = 2;\n",
    "x",
    /^old_str was not found in src\/x\.ts\. Read the file again/,
  ),
];

export const EDIT_CASES: readonly EditCase[] = [
  ...exact,
  ...endings,
  ...whiteSpace,
  ...occurrences,
  ...sequences,
  ...refused,
];
