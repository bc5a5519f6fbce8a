/** Checks messages against the SDK's JSON schema of ACP version 1, also for unknown fields. */
import schema from "npm:@agentclientprotocol/sdk@2.4.0/schema/v1/schema.json" with { type: "json" };
import { isRecord } from "../../denops/agent/shared/records.ts";

type Schema = Readonly<Record<string, unknown>>;

const DEFINITIONS: Readonly<Record<string, Schema>> = schema.$defs;

/** What a value is not, and the fields of an object that the schema knows. */
interface Finding {
  readonly problem?: string;
  readonly fields: ReadonlySet<string>;
}

/** Name of the schema of a method's request or notification ("params"), or of its answer ("result"). */
function definitionOf(method: string, part: "params" | "result"): Schema | undefined {
  const ends = part === "result" ? ["Response"] : ["Request", "Notification"];
  return Object.entries(DEFINITIONS).find(([name, definition]) =>
    definition["x-method"] === method && ends.some((end) => name.endsWith(end))
  )?.[1];
}

/** The reason why a message is off the schema; undefined if it is on it. @param method of the request that it answers */
export function problemOf(message: unknown, method: string | undefined): string | undefined {
  if (!isRecord(message) || message.jsonrpc !== "2.0") return "it is no JSON-RPC message";
  if (typeof message.method === "string") {
    return found(message.params, definitionOf(message.method, "params"), message.method);
  }
  if ("error" in message) return found(message.error, DEFINITIONS.Error, "error");
  return found(message.result, definitionOf(method ?? "", "result"), `answer to ${method}`);
}

function found(value: unknown, definition: Schema | undefined, what: string): string | undefined {
  return definition === undefined ? `unknown method: ${what}` : problem(value, definition, what);
}

/** Also fields that no part of the schema names. */
function problem(value: unknown, definition: Schema, at: string): string | undefined {
  const { problem, fields } = check(value, definition, at);
  if (problem !== undefined || !isRecord(value) || fields.has("*")) return problem;
  const unknown = Object.keys(value).find((name) => !fields.has(name));
  return unknown === undefined ? undefined : `${at}.${unknown} is unknown`;
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: isRecord,
  array: Array.isArray,
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  number: (value) => typeof value === "number",
  integer: Number.isSafeInteger,
  null: (value) => value === null,
};

function check(value: unknown, one: Schema, at: string): Finding {
  const fields = new Set<string>();
  const failed = (problem: string): Finding => ({ problem, fields });
  // Any value.
  if (["type", "$ref", "anyOf", "oneOf", "allOf", "const", "enum"].every((key) => !(key in one))) {
    fields.add("*");
  }
  if (typeof one.$ref === "string") {
    const found = check(value, DEFINITIONS[one.$ref.replace("#/$defs/", "")] ?? {}, at);
    if (found.problem !== undefined) return found;
    for (const name of found.fields) fields.add(name);
  }
  const types = [one.type ?? []].flat().map(String);
  if (types.length > 0 && !types.some((type) => TYPES[type]?.(value))) return failed(`${at} is no ${types}`);
  if ("const" in one && value !== one.const) return failed(`${at} is not ${one.const}`);
  if (Array.isArray(one.enum) && !one.enum.includes(value)) return failed(`${at} is not of ${one.enum}`);
  if (typeof one.minimum === "number" && Number(value) < one.minimum) return failed(`${at} is too small`);
  if (isRecord(value)) {
    const own = parts(value, one, at);
    if (own.problem !== undefined) return own;
    for (const name of own.fields) fields.add(name);
  }
  if (Array.isArray(value) && isRecord(one.items)) {
    for (const [index, item] of value.entries()) {
      const wrong = problem(item, one.items, `${at}[${index}]`);
      if (wrong !== undefined) return failed(wrong);
    }
  }
  if (isRecord(one.not) && check(value, one.not, at).problem === undefined) {
    return failed(`${at} must not be so`);
  }
  for (const [key, isAll] of [["allOf", true], ["anyOf", false], ["oneOf", false]] as const) {
    const branches = one[key];
    if (!Array.isArray(branches)) continue;
    const results = branches.map((branch) => check(value, branch, at));
    const wrong = results.filter(({ problem }) => problem !== undefined);
    if (isAll ? wrong.length > 0 : wrong.length === results.length) {
      return failed(wrong.map(({ problem }) => problem).join(", or "));
    }
    for (const result of results) {
      if (result.problem === undefined) { for (const name of result.fields) fields.add(name); }
    }
  }
  return { fields };
}

/** The fields of an object. "*" stands for any name. */
function parts(value: Readonly<Record<string, unknown>>, one: Schema, at: string): Finding {
  const properties: Readonly<Record<string, unknown>> = isRecord(one.properties) ? one.properties : {};
  const fields = new Set(Object.keys(properties));
  if (one.additionalProperties !== undefined && one.additionalProperties !== false) fields.add("*");
  const required = Array.isArray(one.required) ? one.required.map(String) : [];
  const missing = required.find((name) => !(name in value));
  if (missing !== undefined) return { problem: `${at}.${missing} is missing`, fields };
  for (const [name, property] of Object.entries(properties)) {
    if (!(name in value) || !isRecord(property)) continue;
    const wrong = problem(value[name], property, `${at}.${name}`);
    if (wrong !== undefined) return { problem: wrong, fields };
  }
  return { fields };
}
