/** Converts a model's value to its schema if that is unambiguous. Pure. */
import { isRecord, typesOf } from "./json_schema.ts";
import { wholeLiteral } from "../../shared/text/literal.ts";
import { plain } from "./tool_names.ts";

/** For enumerations: our word → other words. */
const WORDS = {
  pending: "todo open not_started planned",
  in_progress: "active doing started current ongoing",
  completed: "done complete finished closed",
};

/** Other word → ours. */
const WORD_OF = new Map(
  Object.entries(WORDS).flatMap(([own, list]) => list.split(" ").map((other) => [plain(other), own])),
);

/** Converts unambiguous values: "10" to a number, "[…]" to a list, a single value to a list of one. */
export function fitValue(value: unknown, schema: unknown): unknown {
  const types = typesOf(schema);
  if (!isRecord(schema) || types.size === 0) return value;
  if (typeof value === "string") return fitText(value, schema, types);
  if (Array.isArray(value)) {
    return types.has("array") ? value.map((item) => fitValue(item, schema.items)) : value;
  }
  if (isRecord(value)) {
    if (!types.has("object")) return types.has("array") ? [fitValue(value, schema.items)] : value;
    const { properties } = schema;
    return isRecord(properties)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fitValue(item, properties[key])]))
      : value;
  }
  if (value === null || value === undefined) return value;
  if (types.has(typeof value) || (typeof value === "number" && types.has("integer"))) return value;
  return types.has("boolean") ? booleanOf(value) ?? value : value;
}

function fitText(
  text: string,
  schema: Readonly<Record<string, unknown>>,
  types: ReadonlySet<string>,
): unknown {
  if (types.has("string")) return Array.isArray(schema.enum) ? wordIn(schema.enum, text) : text;
  const word = text.trim();
  const flag = types.has("boolean") ? booleanOf(word) : undefined;
  if (flag !== undefined) return flag;
  const number = types.has("number") || types.has("integer") ? numberOf(word) : undefined;
  if (number !== undefined) return number;
  if (types.has("null") && /^(?:null|none)$/i.test(word)) return null;
  if (!types.has("object") && !types.has("array")) return text;
  const read = /^[[{]/.test(word) ? wholeLiteral(word) : undefined;
  if (read !== undefined) return typeof read.value === "string" ? text : fitValue(read.value, schema);
  // A broken list is unreadable.
  const isBroken = /^(?:\{|\[\s*["'{]|\[.*\]$)/s.test(word);
  return types.has("array") && typesOf(schema.items).has("string") && word !== "" && !isBroken
    ? [text]
    : text;
}

/** The matching word of a list. */
function wordIn(list: readonly unknown[], text: string): unknown {
  if (list.includes(text)) return text;
  const other = WORD_OF.get(plain(text));
  return list.find((one) => typeof one === "string" && plain(one) === plain(text)) ??
    (list.includes(other) ? other : text);
}

export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^\s*-?\d+(?:\.\d+)?\s*$/.test(value) ? Number(value) : undefined;
}

export function booleanOf(value: unknown): boolean | undefined {
  if (typeof value === "boolean") return value;
  const word = String(value).trim().toLowerCase();
  if (word === "true" || word === "1") return true;
  return word === "false" || word === "0" ? false : undefined;
}
