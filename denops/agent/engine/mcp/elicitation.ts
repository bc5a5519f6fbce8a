/** Forms of servers and of other agents, as questions to the user: one question for each field. Source: the MCP specification, "Elicitation". */
import * as z from "../../deps/zod.ts";
import { isRecord } from "../../shared/records.ts";
import { booleanOf, numberOf } from "../calls/fit_value.ts";
import type { Questions } from "../ports/approvals.ts";
import { cleanLine, cleanText } from "../../policy/clean.ts";

/** Fields of a form. */
const MOST_FIELDS = 20;
const MOST_OPTIONS = 10;
const LONGEST_MESSAGE = 1_000;
const LONGEST_LABEL = 200;
const LONGEST_ANSWER = 20_000;

const line = z.string().optional().catch(undefined);
const Choice = z.object({ const: z.string(), title: line }).catch({ const: "" });

const Field = z.object({
  type: z.string().catch("string"),
  title: line,
  description: line,
  enum: z.array(z.string()).optional().catch(undefined),
  oneOf: z.array(Choice).optional().catch(undefined),
  items: z.unknown().optional(),
}).catch({ type: "string" });
type Field = z.infer<typeof Field>;

export const Form = z.object({
  message: z.string().catch(""),
  requestedSchema: z.object({
    properties: z.record(z.string(), z.unknown()).catch({}),
    required: z.array(z.string()).catch([]),
  }).catch({ properties: {}, required: [] }),
});

/** The values of one field. */
type FieldValue = string | number | boolean | string[];

export type FormAnswer =
  | { readonly action: "accept"; readonly content: Record<string, FieldValue> }
  | { readonly action: "decline" | "cancel" };

/** @param asker who asks @param call the id of the tool's call */
export async function askForm(
  asker: string,
  { message, requestedSchema: { properties, required } }: z.infer<typeof Form>,
  { questions, call }: { readonly questions: Questions; readonly call: string },
  signal: AbortSignal,
): Promise<FormAnswer> {
  const lead = `${asker} asks: ${cleanText(message, LONGEST_MESSAGE)}`;
  const fields = Object.entries(properties);
  if (fields.length > MOST_FIELDS) return { action: "decline" };
  const content: Record<string, FieldValue> = {};
  if (fields.length === 0) {
    const answer = await questions.ask(lead, ["yes", "no"], call, signal);
    return answer !== undefined && booleanWord(answer) === true ? { action: "accept", content } : {
      action: answer === undefined ? "cancel" : "decline",
    };
  }
  for (const [name, schema] of fields) {
    const field = Field.parse(schema);
    const isRequired = required.includes(name);
    const answer = await questions.ask(
      questionOf(lead, name, field, isRequired),
      optionsOf(field),
      call,
      signal,
    );
    const value = answer === undefined ? undefined : valueOf(answer.slice(0, LONGEST_ANSWER), field);
    if (value !== undefined) content[name] = value;
    else if (isRequired) return { action: answer === undefined ? "cancel" : "decline" };
  }
  return { action: "accept", content };
}

function questionOf(lead: string, name: string, { title, description }: Field, isRequired: boolean): string {
  const label = cleanLine(title ?? name, LONGEST_LABEL);
  const more = description === undefined ? "" : `: ${cleanLine(description, LONGEST_LABEL)}`;
  // Some say it themselves.
  const note = isRequired || /\boptional\b/i.test(label + more) ? "" : " (optional)";
  return `${lead}\n${label}${more}${note}`;
}

function optionsOf(field: Field): string[] {
  if (field.type === "boolean") return ["yes", "no"];
  return choicesOf(field).slice(0, MOST_OPTIONS).map(({ label }) => label);
}

/** The allowed values with their labels; empty: any. */
function choicesOf({ enum: values, oneOf, items }: Field) {
  const inner = isRecord(items) ? items : {};
  const list: unknown = values ?? inner.enum;
  const titled: unknown = oneOf ?? inner.anyOf;
  if (Array.isArray(titled)) {
    return titled.map((one) => Choice.parse(one)).map(({ const: value, title = value }) => ({
      value,
      label: cleanLine(title, LONGEST_LABEL),
    }));
  }
  return (Array.isArray(list) ? list : []).filter((value) => typeof value === "string")
    .map((value) => ({ value, label: cleanLine(value, LONGEST_LABEL) }));
}

/** Undefined if the answer does not fit the field. */
function valueOf(answer: string, field: Field): FieldValue | undefined {
  const text = answer.trim();
  const choices = choicesOf(field);
  const chosen = (word: string) =>
    choices.find(({ value, label }) => [value, label].some((one) => one.toLowerCase() === word.toLowerCase()))
      ?.value;
  switch (field.type) {
    case "boolean":
      return booleanWord(text);
    case "number":
    case "integer": {
      const number = numberOf(text);
      return number === undefined || (field.type === "integer" && !Number.isInteger(number))
        ? undefined
        : number;
    }
    case "array": {
      const words = text.split(",").map((word) => chosen(word.trim()));
      return words.every((word) => word !== undefined) ? words : undefined;
    }
    default:
      return choices.length === 0 ? text : chosen(text);
  }
}

function booleanWord(text: string): boolean | undefined {
  if (/^y(?:es)?$/i.test(text)) return true;
  return /^no?$/i.test(text) ? false : booleanOf(text);
}
