/** Schemas of tools' arguments, as servers send them: bounded, cleaned, and checked for what providers accept. Pure. */
import { isRecord, propertiesOf, requiredOf } from "../calls/json_schema.ts";
import { isDeceptive } from "../../policy/deceptive.ts";
import { cleanText } from "../../policy/clean.ts";

/** Characters of the schema as JSON. */
const LARGEST = 100_000;
const DEEPEST = 32;
/** Characters of a text in it. */
const LONGEST_TEXT = 2_000;

/** Keys that only tools for schemas read. */
const LEFT_OUT: ReadonlySet<string> = new Set(["$schema", "$id", "$comment", "__proto__"]);

const TYPES: ReadonlySet<unknown> = new Set([
  ...["object", "array", "string", "number", "integer", "boolean", "null"],
]);
/** At the top, some providers accept none of these. */
const COMBINATIONS = ["anyOf", "oneOf", "allOf", "not", "enum", "const", "if", "$ref"];
/** Source: the error message of Anthropic's API. */
const PROPERTY = /^[A-Za-z0-9_.-]{1,64}$/;

export interface CleanSchema {
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Providers that check schemas accept it. */
  readonly isAccepted: boolean;
}

/** @throws {Error} the problem, as the end of a sentence */
export function cleanSchema(schema: unknown): CleanSchema {
  if (!isRecord(schema)) throw new Error("has no schema of its arguments");
  const json = sizeOf(schema);
  if (json > LARGEST) throw new Error(`has a schema of ${Math.round(json / 1_000)} kB`);
  const walk = new Walk();
  const clean = walk.schema(schema, 0);
  const parameters = { type: "object", properties: {}, ...isRecord(clean) ? clean : {} };
  return { parameters, isAccepted: walk.isAccepted && isObjectSchema(parameters) };
}

/** A schema that is nested too deeply has no size. */
function sizeOf(schema: unknown): number {
  try {
    return JSON.stringify(schema).length;
  } catch {
    throw new Error("has a schema that cannot be read");
  }
}

function isObjectSchema(parameters: Readonly<Record<string, unknown>>): boolean {
  const names = Object.keys(propertiesOf({ parameters }));
  const { required } = parameters;
  return parameters.type === "object" && isRecord(parameters.properties) &&
    COMBINATIONS.every((key) => !Object.hasOwn(parameters, key)) &&
    names.every((name) => PROPERTY.test(name)) &&
    (required === undefined ||
      (Array.isArray(required) && requiredOf({ parameters }).length === required.length &&
        requiredOf({ parameters }).every((name) => names.includes(name))));
}

class Walk {
  isAccepted = true;

  /** Copies a schema without characters that hide text. @throws {Error} */
  schema(value: unknown, depth: number): unknown {
    if (depth > DEEPEST) throw new Error(`has a schema of more than ${DEEPEST} levels`);
    if (typeof value === "string") return cleanText(value, LONGEST_TEXT);
    if (Array.isArray(value)) return value.map((item) => this.schema(item, depth + 1));
    if (!isRecord(value)) return value;
    const entries = Object.entries(value).filter(([key]) => !LEFT_OUT.has(key));
    if (entries.some(([key]) => isDeceptive(key))) throw new Error("has arguments with invisible characters");
    this.#judge(value);
    return Object.fromEntries(entries.map(([key, item]) => [key, this.schema(item, depth + 1)]));
  }

  /** Names of properties are judged as keywords too, which only makes the check stricter. */
  #judge({ type, items, $ref }: Readonly<Record<string, unknown>>): void {
    const types = Array.isArray(type) ? type : [type];
    const isType = typeof type === "string" || Array.isArray(type);
    if (isType && !types.every((one) => TYPES.has(one))) this.isAccepted = false;
    if (types.includes("array") && items === undefined) this.isAccepted = false;
    if (typeof $ref === "string" && !$ref.startsWith("#/")) this.isAccepted = false;
  }
}
