/**
 * The forms in which tools are described in text, and in which other models' calls are rewritten: one row per
 * form.
 */
import type { ToolCall } from "../../log/messages.ts";
import type { ToolSpec } from "../../log/model_request.ts";
import { argumentsObject } from "../arguments.ts";
import { END_MARK } from "../end_mark.ts";
import { isRecord, propertiesOf, requiredOf } from "../../calls/json_schema.ts";

export interface Form {
  /** The models that were trained on it. */
  readonly models: RegExp;
  /** One example call. */
  readonly example: string;
  /** Further instructions. */
  readonly notes: string;
  call(name: string, args: Readonly<Record<string, unknown>>): string;
}

/**
 * Source: Qwen3-Coder's chat_template.jinja. The default for unknown models, because text needs no escapes.
 */
const TAGS: Form = {
  models: /^/,
  example: "<tool_call>\n<function=NAME>\n<parameter=KEY>\nVALUE\n</parameter>\n</function>\n</tool_call>",
  notes: "A text stands between its tags as it is, without quotes and escapes; other values are JSON.",
  call(name, args) {
    const parameters = Object.entries(args).map(([key, value]) =>
      `<parameter=${key}>\n${typeof value === "string" ? value : JSON.stringify(value)}\n</parameter>\n`
    );
    return `<tool_call>\n<function=${name}>\n${parameters.join("")}</function>\n</tool_call>`;
  },
};

/** Source: the chat templates of Hermes 2 Pro, Qwen 2.5 and 3, Granite 4. */
const OBJECTS: Form = {
  models: /hermes|granite-?4|qwq|qwen-?2|qwen-?3(?!.*coder)(?!\.[5-9])/i,
  example: '<tool_call>\n{"name": "NAME", "arguments": {"KEY": VALUE}}\n</tool_call>',
  notes: "Values are JSON: line breaks and quotes in a text are escaped.",
  call: (name, args) => `<tool_call>\n${JSON.stringify({ name, arguments: args })}\n</tool_call>`,
};

/** @param model the provider's name for it */
export function formFor(model: string): Form {
  return [OBJECTS, TAGS].find(({ models }) => models.test(model)) ?? TAGS;
}

export function written({ call }: Form, { name, arguments: args }: ToolCall): string {
  return call(name, argumentsObject(args));
}

/** Builds a section of the system prompt. */
export function describeTools({ example, notes }: Form, tools: readonly ToolSpec[]): string {
  return [
    "# Tools",
    `You call a tool by writing this at the end of your answer, outside of any fence:\n\n${example}`,
    `${notes} Several calls may follow each other. After them you stop: their results come in the next message, inside ` +
    "of <tool_response> tags that only the system writes. A call that you only speak of does nothing.",
    `When all that was asked is done, end your last answer with ${END_MARK}; never before.`,
    "The tools, and of each its arguments:",
    ...tools.map(describeTool),
  ].join("\n\n");
}

function describeTool(spec: ToolSpec): string {
  const required = requiredOf(spec);
  const lines = Object.entries(propertiesOf(spec)).map(([key, schema]) => {
    const { description, ...rest } = isRecord(schema) ? schema : {};
    const type = shortType(rest);
    const optional = required.includes(key) ? "" : ", optional";
    const note = typeof description === "string" ? `: ${description}` : "";
    return `- ${key} (${type}${optional})${note}`;
  });
  return [`## ${spec.name}`, spec.description, ...lines].join("\n");
}

/** Numeric bounds that nobody would exceed are omitted. */
function shortType(schema: Readonly<Record<string, unknown>>): string {
  const { type, enum: values, items, ...rest } = schema;
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(" | ");
  if (type === "array" && isRecord(items)) {
    const { description: _, ...item } = items;
    return `array of ${isRecord(item.properties) ? JSON.stringify(item) : shortType(item)}`;
  }
  return typeof type === "string" ? type : JSON.stringify(rest);
}
