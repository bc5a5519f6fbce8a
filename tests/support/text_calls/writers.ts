/** What the formats of calls are made of. */
import { elements, type Json, type JsonObject, python, raw, spaced } from "./values.ts";

export interface WrittenCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

export interface CallFormat {
  readonly who: string;
  /** A name that providers give such a model. */
  readonly model: string;
  readonly write: (calls: readonly WrittenCall[]) => string;
  /** The same with the white space that models put in between. */
  readonly loose?: (calls: readonly WrittenCall[]) => string;
  readonly hasOneCall?: true;
  /** Thoughts before the call. */
  readonly think?: (thought: string) => string;
  /** Words before the call, where they have marks of their own. */
  readonly say?: (words: string) => string;
  /** A mark of the end that servers leave in the text. */
  readonly stop: string;
}

export type Call = WrittenCall;
export type Write = CallFormat["write"];

export const each = (join: string, write: (call: Call, index: number) => string): Write => (calls) =>
  calls.map(write).join(join);

export const parameters = (call: Call, write: (key: string, value: Json) => string, join = "\n") =>
  Object.entries(call.arguments).map(([key, value]) => write(key, value)).join(join);

/** Lines, without those that are empty. */
export const lines = (...parts: readonly string[]) => parts.filter((part) => part !== "").join("\n");

export const named = ({ name, arguments: args }: Call) => ({ name, arguments: args });
export const withParameters = ({ name, arguments: args }: Call) => ({ name, parameters: args });
export const pretty = (value: Json) => JSON.stringify(value, null, 2);
export const list = (calls: readonly Call[]) => spaced(calls.map(named));

export const tagged = (value: (value: Json) => string, pad: string) => (call: Call) =>
  lines(
    `<function=${call.name}>`,
    parameters(call, (key, item) => `<parameter=${key}>${pad}${value(item)}${pad}</parameter>`),
    "</function>",
  );

export const invoke = (prefix: string, attribute: (value: Json) => string = () => "") => (call: Call) =>
  lines(
    `<${prefix}invoke name="${call.name}">`,
    parameters(
      call,
      (key, value) =>
        `<${prefix}parameter name="${key}"${attribute(value)}>${raw(value)}</${prefix}parameter>`,
    ),
    `</${prefix}invoke>`,
  );

export const isText = (value: Json) => ` string="${typeof value === "string"}"`;

export const keysAndValues = (join: string, prefix = "") => (call: Call) =>
  parameters(
    call,
    (key, value) =>
      `<${prefix}arg_key>${key}</${prefix}arg_key>${join}<${prefix}arg_value>${
        raw(value)
      }</${prefix}arg_value>`,
    join,
  );

export const pythonic = (call: Call) =>
  `${call.name}(${parameters(call, (key, value) => `${key}=${python(value)}`, ", ")})`;

export const MINIMAX = "]<]minimax[>[";

export const minimaxM3 = (call: Call) =>
  `${MINIMAX}<invoke name="${call.name}">${elements(call.arguments, MINIMAX)}${MINIMAX}</invoke>`;

export const kimiType = (value: Json) => Array.isArray(value) ? "array" : typeof value;

export const kimiK3 = (call: Call, index: number) =>
  `<|open|>call tool="${call.name}" index="${index + 1}"<|sep|>` +
  parameters(
    call,
    (key, value) =>
      `<|open|>argument key="${key}" type="${kimiType(value)}"<|sep|>${raw(value)}<|close|>argument<|sep|>`,
    "",
  ) + "<|close|>call<|sep|>";

export const miniCpm = (call: Call) =>
  `<function name="${call.name}">` +
  parameters(call, (key, value) => {
    const text = raw(value);
    return `<param name="${key}">${/[<&\n]/.test(text) ? `<![CDATA[${text}]]>` : text}</param>`;
  }, "") + "</function>";

export const cohere = (calls: readonly Call[]) =>
  `[\n${
    calls.map(({ name, arguments: args }, index) =>
      `    {"tool_call_id": "${index}", "tool_name": "${name}", "parameters": ${spaced(args)}}`
    ).join(",\n")
  }\n]`;

export const inside = (before: string, after: string, write: Write): Write => (calls) =>
  `${before}${write(calls)}${after}`;

export const channel = (name: string, text: string) => `<|channel|>${name}<|message|>${text}<|end|>`;
