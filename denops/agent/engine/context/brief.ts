/** Short tool specs for small models: each description is one sentence, without bounds. Pure. */
import type { ToolSpec } from "../log/model_request.ts";

/** Bounds that no model exceeds anyway. */
const BOUNDS: ReadonlySet<string> = new Set([
  ...["minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength"],
  ...["default", "additionalProperties"],
]);

export function briefly({ name, description, parameters }: ToolSpec): ToolSpec {
  return { name, description: firstSentence(description), parameters: schema(parameters) };
}

function schema(full: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(full).filter(([key]) => !BOUNDS.has(key)).map(([key, value]) => [key, part(key, value)]),
  );
}

function part(key: string, value: unknown): unknown {
  if (key === "description") return typeof value === "string" ? firstSentence(value) : value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  // Names of arguments are not schema keywords.
  if (key !== "properties") return schema({ ...value });
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, part("items", one)]));
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s+[A-Z])/s.exec(text)?.[0] ?? text;
}
