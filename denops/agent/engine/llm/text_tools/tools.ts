/** The tools that a text may call, and calls of them from what was read. */
import type { ToolSpec } from "../../core/messages.ts";
import { Cursor } from "./cursor.ts";
import { type Literal, readLiteral } from "./literal.ts";

/** A call as it stood in a text. */
export interface TextCall {
  readonly name: string;
  /** JSON text of an object; what the model wrote if that could not be read: it is no JSON then. */
  readonly arguments: string;
}

/** What may stand before a name: OpenAI's and Gemini's name spaces, and the one of parallel calls. */
const PREFIX = /^(?:functions?|tools?|default_api|multi_tool_use|call)[.:/]/i;
/** Kimi's number behind it. */
const SUFFIX = /:\d+$/;

export class KnownTools {
  readonly names: readonly string[];
  readonly #specs: ReadonlyMap<string, ToolSpec>;
  /** Names without case and marks → names; "" where two are alike. */
  readonly #alike = new Map<string, string>();

  constructor(specs: readonly ToolSpec[]) {
    this.names = specs.map(({ name }) => name);
    this.#specs = new Map(specs.map((spec) => [spec.name, spec]));
    for (const name of this.names) {
      const key = plain(name);
      this.#alike.set(key, this.#alike.has(key) ? "" : name);
    }
  }

  /** The tool that is meant: `functions.Read-File:0` is `read_file`, if no other tool is as near. */
  named(written: string): ToolSpec | undefined {
    const exact = this.#specs.get(written);
    if (exact !== undefined) return exact;
    const bare = bareName(written);
    return this.#specs.get(bare) ?? this.#specs.get(this.#alike.get(plain(bare)) ?? "");
  }

  /** Undefined if the name is no name at all. */
  call(written: string, args: Readonly<Record<string, unknown>>): TextCall | undefined {
    const spec = this.named(written);
    const name = spec?.name ?? bareName(written);
    if (!NAME.test(name)) return undefined;
    return { name, arguments: JSON.stringify(spec === undefined ? args : fitted(args, spec)) };
  }

  /** A call that was begun and cannot be read: it is answered, and never run. */
  unread(written: string, text: string): TextCall | undefined {
    const name = this.named(written)?.name ?? bareName(written);
    return NAME.test(name) ? { name, arguments: `${UNREAD} ${text.slice(0, LONGEST_SHOWN)}` } : undefined;
  }
}

/** No JSON begins so. */
const UNREAD = "[cut off or broken]";

/** Of a call's arguments. */
export function isUnread(text: string): boolean {
  return text.startsWith(UNREAD);
}

const NAME = /^[\w.-]{1,64}$/;
/** Characters of a call that cannot be read. */
const LONGEST_SHOWN = 200;

function bareName(written: string): string {
  return written.trim().replace(PREFIX, "").replace(SUFFIX, "");
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_\s]/g, "");
}

/** The schemas of the arguments, by name. */
export function propertiesOf({ parameters }: ToolSpec): Readonly<Record<string, unknown>> {
  return isRecord(parameters.properties) ? parameters.properties : {};
}

export function requiredOf({ parameters }: ToolSpec): readonly string[] {
  const { required } = parameters;
  return Array.isArray(required) ? required.filter((key) => typeof key === "string") : [];
}

/** What is text where the schema has no text: "10" for a number, "[…]" for a list. */
function fitted(args: Readonly<Record<string, unknown>>, spec: ToolSpec): Readonly<Record<string, unknown>> {
  const properties = propertiesOf(spec);
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, fit(value, properties[key])]));
}

/**
 * An argument that was written as text, without quotes: its schema decides whether it is text. One line break at its
 * beginning and one at its end belong to the marks around it, as the templates of Qwen3-Coder and GLM have it.
 */
export function argument(raw: string): string {
  return raw.replace(/^\r?\n/, "").replace(/\r?\n$/, "");
}

function fit(value: unknown, schema: unknown): unknown {
  if (!isRecord(schema)) return value;
  if (Array.isArray(value)) return value.map((item) => fit(item, schema.items));
  if (isRecord(value)) {
    const { properties } = schema;
    return isRecord(properties)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fit(item, properties[key])]))
      : value;
  }
  return typeof value === "string" ? fitText(value, schema) : value;
}

function fitText(text: string, schema: unknown): unknown {
  const types = typesOf(schema);
  if (types.size === 0 || types.has("string")) return text;
  const word = text.trim();
  if (types.has("boolean") && /^(?:true|false)$/i.test(word)) return word.toLowerCase() === "true";
  if ((types.has("number") || types.has("integer")) && /^-?\d+(?:\.\d+)?$/.test(word)) return Number(word);
  if (types.has("null") && /^(?:null|none)$/i.test(word)) return null;
  if (!types.has("object") && !types.has("array")) return text;
  const read = wholeLiteral(word);
  return read === undefined ? text : read.value;
}

/** JSON schema: `type`, or those of `anyOf` and `oneOf`. Empty: anything. */
function typesOf(schema: unknown): ReadonlySet<string> {
  if (!isRecord(schema)) return new Set();
  const { type, anyOf, oneOf } = schema;
  const own = Array.isArray(type) ? type : [type];
  const others = [anyOf, oneOf].flatMap((list) => Array.isArray(list) ? list : []);
  return new Set([
    ...own.filter((one) => typeof one === "string"),
    ...others.flatMap((one) => [...typesOf(one)]),
  ]);
}

/** The value that is all of a text; undefined if there is more, or if its end is missing. */
export function wholeLiteral(text: string): Literal | undefined {
  const cursor = new Cursor(text);
  const read = readLiteral(cursor);
  cursor.space();
  return read === undefined || read.open.size > 0 || cursor.at < text.length ? undefined : read;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
