/**
 * Adapts a model's arguments to a tool: other names, numbers as text, lists as JSON text. Used for native calls and
 * calls in text. It never invents a path and never changes a text. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { fitValue } from "../../calls/fit_value.ts";
import { isRecord, propertiesOf, requiredOf, typesOf } from "../../calls/json_schema.ts";
import { wholeLiteral } from "../../../shared/text/literal.ts";
import { plain } from "../../calls/tool_names.ts";
import { argumentOf, isHarmless } from "./aliases.ts";
import { isPatch, SPECIAL, VALUES } from "./special.ts";

type Arguments = Readonly<Record<string, unknown>>;

export interface FittedArguments {
  readonly args: Arguments;
  /** Unknown names as written: "edits.line" in a list. */
  readonly ignored: readonly string[];
  /** Our name → the written name, if they differ. */
  readonly renamed: ReadonlyMap<string, string>;
}

export interface ArgumentsSchema {
  readonly name: string;
  /** JSON schema of type object. */
  readonly parameters: Arguments;
}

/** Objects that some models wrap around all arguments. */
const AROUND = new Set(["arguments", "args", "parameters", "params", "input", "kwargs", "properties"]);
/** A list with one text is not unwrapped here, because a list may be the content. */
const CONTENT = new Set(["content", "old_str", "new_str", "patch"]);
/** Numbers are not paths. */
const PATHS = new Set(["path", "from", "to", "cwd"]);

/** The object of arguments; undefined if there is none. */
export function argumentsIn(value: unknown, schema: ArgumentsSchema): Arguments | undefined {
  const properties = propertiesOf(schema);
  if (typeof value === "string") {
    if (Object.hasOwn(properties, "patch") && isPatch(value)) return { patch: value };
    const read = /^\s*\{/.test(value) ? wholeLiteral(value)?.value : undefined;
    return isRecord(read) ? read : undefined;
  }
  if (Array.isArray(value)) return value.length === 1 && isRecord(value[0]) ? value[0] : undefined;
  if (!isRecord(value)) return undefined;
  const [only, ...others] = Object.keys(value);
  if (only === undefined || others.length > 0 || Object.hasOwn(properties, only) || !AROUND.has(only)) {
    return value;
  }
  const inner = value[only];
  const isInner = isRecord(inner) || (typeof inner === "string" && /^\s*\{/.test(inner));
  return (isInner ? argumentsIn(inner, schema) : undefined) ?? value;
}

/** @param input possibly incomplete arguments */
export function fitArguments(input: Arguments, schema: ArgumentsSchema): FittedArguments {
  const { args, ignored, renamed } = withOwnNames(input, schema.name, propertiesOf(schema));
  const fitted = Object.entries(args).map(([key, value]) => {
    const [fit, more] = fitOne(schema, key, value);
    ignored.push(...more);
    return [key, fit] as const;
  });
  const required = requiredOf(schema);
  // An empty value of an optional argument is left out.
  const present = fitted.filter(([key, value]) =>
    required.includes(key) || !isNothing(value, propertiesOf(schema)[key])
  );
  return { args: Object.fromEntries(present), ignored, renamed };
}

function fitOne(schema: ArgumentsSchema, key: string, value: unknown): readonly [unknown, readonly string[]] {
  const of = `${schema.name}.${key}`;
  const own = propertiesOf(schema)[key];
  const [only, ...others] = Array.isArray(value) ? value : [];
  const isOne = typeof only === "string" && others.length === 0 && !CONTENT.has(key);
  const single = isOne && !typesOf(own).has("array") && !VALUES.has(of) ? only : value;
  const isPlain = typeof single === "number" || typeof single === "boolean";
  const isWord = isPlain && !PATHS.has(key) && typesOf(own).size === 1 && typesOf(own).has("string");
  const fitted = isWord ? String(single) : fitValue(single, own);
  const final = VALUES.get(of)?.(fitted) ?? fitted;
  const items = isRecord(own) && isRecord(own.items) ? own.items : {};
  // If the schema allows any name, no name is wrong.
  const isOpen = isRecord(items.additionalProperties);
  if (!Array.isArray(final) || !isRecord(items.properties) || isOpen) return [final, []];
  // Objects in a list may have other names too.
  const lists = final.map((item) =>
    isRecord(item) ? withOwnNames(item, of, propertiesOf({ parameters: items })) : item
  );
  const ignored = lists.flatMap((item) => isNamed(item) ? item.ignored.map((name) => `${key}.${name}`) : []);
  return [lists.map((item) => isNamed(item) ? fitValue(item.args, items) : item), [...new Set(ignored)]];
}

interface Named {
  readonly args: Arguments;
  readonly ignored: string[];
  readonly renamed: Map<string, string>;
}

function isNamed(item: unknown): item is Named {
  return isRecord(item) && item.renamed instanceof Map;
}

/** @param of the tool, or its list that contains the object */
function withOwnNames(input: Arguments, of: string, properties: Arguments): Named {
  const own = new Map(Object.keys(properties).map((key) => [plain(key), key]));
  const args: Record<string, unknown> = {};
  const ignored: string[] = [];
  const renamed = new Map<string, string>();
  const take = (written: string, key: string, value: unknown) => {
    if (args[key] === undefined) {
      args[key] = value;
      if (written !== key) renamed.set(key, written);
    } else if (!isDeepStrictEqual(args[key], value)) {
      ignored.push(written);
    }
  };
  const places = Object.keys(input).map((written): readonly [string, string | undefined] => [
    written,
    Object.hasOwn(properties, written) ? written : own.get(plain(written)) ?? argumentOf(of, written),
  ]);
  // Our names first, other forms last, because these may depend on the rest.
  for (const isWanted of [isSame, isOther, isSpecial]) {
    for (const [written, key = ""] of places.filter(isWanted)) {
      const value = input[written];
      if (!key.startsWith("@")) take(written, key, value);
      else {
        const special = isEmpty(value) ? {} : SPECIAL.get(key)?.(value, args);
        if (special === undefined) ignored.push(written);
        else for (const [name, fit] of Object.entries(special)) take(written, name, fit);
      }
    }
  }
  for (const [written, key] of places) {
    const isKnown = key !== undefined && (key.startsWith("@") || Object.hasOwn(properties, key));
    if (!isKnown && !isEmpty(input[written]) && !isHarmless(written, input[written])) ignored.push(written);
  }
  return { args, ignored, renamed };

  function isSame([written, key]: readonly [string, string | undefined]): boolean {
    return written === key;
  }
  function isOther([written, key]: readonly [string, string | undefined]): boolean {
    return key !== undefined && written !== key && Object.hasOwn(properties, key);
  }
  function isSpecial([, key]: readonly [string, string | undefined]): boolean {
    return key?.startsWith("@") === true;
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === "" ||
    (typeof value === "object" && Object.keys(value).length === 0);
}

/** An empty value of an optional argument. */
function isNothing(value: unknown, schema: unknown): boolean {
  if (value === null || value === undefined) return true;
  return typeof value === "string" && /^(?:null|none|undefined)?$/i.test(value.trim()) &&
    (!typesOf(schema).has("string") || (value === "" && isRecord(schema) && Array.isArray(schema.enum)));
}
