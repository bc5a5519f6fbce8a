import type { ToolSpec } from "../../log/model_request.ts";
import type { Literal } from "../../../shared/text/literal.ts";
import { isRecord, propertiesOf, requiredOf } from "../../calls/json_schema.ts";
import { wholeLiteral } from "../../../shared/text/literal.ts";
import type { KnownTools, TextCall } from "./tools.ts";

export const NAMES = ["name", "tool", "tool_name", "function", "function_name", "recipient_name", "action"];
const ARGUMENTS = [
  "arguments",
  "args",
  "params",
  "parameters",
  "input",
  "tool_input",
  "action_input",
  "parameter",
];
/** Lists of calls, and objects around a call. */
const AROUND = [
  "tool_calls",
  "toolcalls",
  "tool_uses",
  "calls",
  "tool_call",
  "function_call",
  "functionCall",
];
/** Keys beside name and arguments that carry no meaning. */
const ASIDE = new Set(["id", "type", "index", "tool_call_id", "call_id"]);

/** Whether an object with this key may be a call. */
export function isKeyOfCall(key: string, tools: KnownTools): boolean {
  return ASIDE.has(key) || [...NAMES, ...ARGUMENTS, ...AROUND].includes(key) ||
    tools.closest(key) !== undefined;
}

/**
 * The calls in an object or a list; undefined for anything else, including a tool's definition, which models
 * repeat.
 * @param strict accept only calls of known tools and do not guess, because no mark announces a call
 */
export function objectCalls(
  { value, open }: Literal,
  tools: KnownTools,
  strict = false,
): readonly TextCall[] | undefined {
  const calls: TextCall[] = [];
  for (const item of Array.isArray(value) ? value : [value]) {
    const found = isRecord(item) ? objectCall(item, open, tools, strict) : undefined;
    if (found === undefined) return undefined;
    calls.push(...found);
  }
  return calls.length === 0 ? undefined : calls;
}

function objectCall(
  object: Readonly<Record<string, unknown>>,
  open: ReadonlySet<unknown>,
  tools: KnownTools,
  strict: boolean,
): readonly TextCall[] | undefined {
  const around = AROUND.find((key) => typeof object[key] === "object" && object[key] !== null);
  if (around !== undefined) return objectCalls({ value: object[around], open }, tools, strict);
  if (isRecord(object.function) && typeof object.function.name === "string") {
    return objectCall(object.function, open, tools, strict);
  }
  const nameKeys = NAMES.filter((key) => typeof object[key] === "string");
  const key = nameKeys.find((key) => tools.closest(String(object[key])) !== undefined) ??
    (strict ? undefined : nameKeys[0]);
  if (key === undefined) return shortForm(object, open, tools);
  const name = String(object[key]);
  const args = argumentsOf(object, key, open, tools.closest(name));
  if (args === undefined || (strict && args === "odd")) return undefined;
  const why = args === "open" ? "its end is missing" : `${name}: its arguments are no object`;
  const call = typeof args === "string" ? tools.unread(name, why) : tools.call(name, args);
  return call === undefined ? undefined : [call];
}

/** Apertus: `{NAME: {…}}`. */
function shortForm(
  object: Readonly<Record<string, unknown>>,
  open: ReadonlySet<unknown>,
  tools: KnownTools,
): readonly TextCall[] | undefined {
  const entries = Object.entries(object);
  const [name, args] = entries[0] ?? [];
  if (entries.length !== 1 || name === undefined || tools.closest(name) === undefined || !isRecord(args)) {
    return undefined;
  }
  const call = open.has(args) ? tools.unread(name, "its end is missing") : tools.call(name, args);
  return call === undefined ? undefined : [call];
}

/**
 * "open": the text ends inside of the arguments, so some may be missing. "odd": unknown format. Undefined if
 * this is not a call.
 */
function argumentsOf(
  object: Readonly<Record<string, unknown>>,
  nameKey: string,
  open: ReadonlySet<unknown>,
  spec: ToolSpec | undefined,
): Readonly<Record<string, unknown>> | "open" | "odd" | undefined {
  const properties = spec === undefined ? {} : propertiesOf(spec);
  // The tool itself may have an argument of this name.
  const key = ARGUMENTS.find((key) =>
    key !== nameKey && key in object && (!(key in properties) || isRecord(object[key]))
  );
  if (key !== undefined) return givenArguments(object[key], open, properties);
  if (spec === undefined) return undefined;
  const rest = Object.entries(object).filter(([key]) =>
    key !== nameKey && !(ASIDE.has(key) && !(key in properties))
  );
  const isCall = rest.every(([key]) => key in properties) && requiredOf(spec).every((key) => key in object);
  if (!isCall) return undefined;
  return open.has(object) ? "open" : Object.fromEntries(rest);
}

function givenArguments(
  value: unknown,
  open: ReadonlySet<unknown>,
  properties: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> | "open" | "odd" | undefined {
  if (value === null || value === "") return {};
  if (typeof value === "string") {
    const inner = wholeLiteral(value);
    return inner !== undefined && isRecord(inner.value) ? inner.value : "odd";
  }
  if (!isRecord(value)) return "odd";
  const isSchema = isRecord(value.properties) && !("properties" in properties);
  if (isSchema) return undefined;
  return open.has(value) ? "open" : value;
}
