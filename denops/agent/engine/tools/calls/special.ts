/** Other forms of our arguments: the "@" names of aliases.ts. Pure. */
import { booleanOf, numberOf } from "../../calls/fit_value.ts";
import { wholeLiteral } from "../../../shared/text/literal.ts";

type Arguments = Readonly<Record<string, unknown>>;

/** @returns our arguments; undefined: unknown */
type Special = (value: unknown, args: Arguments) => Arguments | undefined;

/** Longest time limit of a command, in seconds. */
const LONGEST = 600;
/** A larger number is not in seconds. */
const MOST_SECONDS = 3_600;

const SPECIALS: Readonly<Record<string, Special>> = {
  "@end"(value, { offset }) {
    const [first, last] = [numberOf(offset) ?? 1, numberOf(value)];
    if (last === -1) return {};
    return last === undefined || last < first ? undefined : { limit: last - first + 1 };
  },
  "@range"(value, args) {
    const range = typeof value === "string" ? wholeLiteral(value)?.value : value;
    const [first, last, ...others] = Array.isArray(range) ? range.map(numberOf) : [];
    if (first === undefined || last === undefined || others.length > 0) return undefined;
    const offset = Math.max(first, 1);
    const limit = SPECIALS["@end"]?.(last, { ...args, offset });
    return limit === undefined ? undefined : { offset, ...limit };
  },
  "@recursive"(value) {
    const is = booleanOf(value);
    return is === undefined ? undefined : is ? {} : { depth: 1 };
  },
  "@regex"(value, { is_regex = true }) {
    const is = booleanOf(value);
    if (is !== undefined) return { is_regex: is };
    return typeof value === "string" ? { query: value, is_regex } : undefined;
  },
  "@sensitive": (value) => caseOf(booleanOf(value)),
  "@insensitive"(value) {
    const is = booleanOf(value);
    return is === false ? {} : caseOf(is === undefined ? undefined : false);
  },
  "@patch": (value) => typeof value === "string" && isPatch(value) ? { patch: value } : undefined,
  "@once": (value) => numberOf(value) === 1 ? {} : undefined,
  "@milliseconds"(value) {
    const time = numberOf(value);
    return time === undefined ? undefined : { timeout: seconds(time / 1_000) };
  },
  "@shell": (value) => typeof value === "string" && /^(?:\/\S*\/)?(?:ba)?sh$/.test(value) ? {} : undefined,
};

export const SPECIAL = new Map(Object.entries(SPECIALS));

/** Other values of our arguments: "TOOL.ARGUMENT" → our value. */
export const VALUES = new Map<string, (value: unknown) => unknown>(Object.entries({
  // Some count lines from 0.
  "read.offset": (value: unknown) => value === 0 ? 1 : value,
  "run.timeout": (value: unknown) =>
    typeof value !== "number" ? value : seconds(value > MOST_SECONDS ? value / 1_000 : value),
  "run.command": (value: unknown) => {
    if (!Array.isArray(value) || !value.every((word) => typeof word === "string")) return value;
    const [shell = "", option = "", line, ...others] = value;
    const isLine = /^(?:\/\S*\/)?(?:ba)?sh$/.test(shell) && /^-l?c$/.test(option) && others.length === 0;
    return isLine && line !== undefined ? line : value.map(quoted).join(" ");
  },
  "search.kind": (value: unknown) =>
    typeof value === "string" && /semantic|concept|natural/i.test(value) ? "meaning" : value,
  "ask_user.options": (value: unknown) => {
    if (!Array.isArray(value)) return value;
    return value.map((one) => typeof one === "object" && one !== null && "label" in one ? one.label : one);
  },
}));

/** Whether a text is a patch in OpenAI's format. */
export function isPatch(text: string): boolean {
  return /^\s*\*\*\* Begin Patch\r?\n[\s\S]*\n\*\*\* End Patch\s*$/.test(text);
}

function seconds(time: number): number {
  // The tool refuses smaller values.
  return time < 1 ? time : Math.min(Math.ceil(time), LONGEST);
}

function caseOf(isSensitive: boolean | undefined): Arguments | undefined {
  return isSensitive === undefined ? undefined : { case: isSensitive ? "sensitive" : "insensitive" };
}

/** Quoted for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
