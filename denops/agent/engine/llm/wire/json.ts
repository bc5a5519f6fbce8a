/** What wires have in common: JSON of frames by a schema, bodies and headers of requests. */
import { z } from "../../../deps/zod.ts";
import type { ToolSpec } from "../../log/model_request.ts";
import type { Endpoint } from "./wire.ts";

/** @throws {Error} with one line if the frame is not JSON or not of this shape. */
export function parseFrame<T extends z.ZodType>(schema: T, frame: string): z.infer<T> {
  let value: unknown;
  try {
    value = JSON.parse(frame);
  } catch {
    throw new Error(`not JSON: ${JSON.stringify(frame.slice(0, 60))}`);
  }
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    throw new Error(
      `unexpected ${parsed.error.issues[0]?.path.join(".") ?? "shape"} in ${frame.slice(0, 60)}`,
    );
  }
  return parsed.data;
}

/** Some servers send the number as text. */
export const Index = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]).nullish();

/**
 * A call's arguments as JSON text; some servers send the object. An empty object counts as no text yet, because pieces of
 * text may follow.
 */
export const ArgumentsText = z.union([
  z.string(),
  z.record(z.string(), z.unknown()).transform((object) =>
    Object.keys(object).length === 0 ? "" : JSON.stringify(object)
  ),
]).nullish();

/**
 * A request's body. Half a character, as where a long line was cut, is no Unicode: providers refuse it, and with
 * it every later request.
 */
export function requestBody(value: unknown): string {
  return JSON.stringify(value, (_key, part) => typeof part === "string" ? part.toWellFormed() : part);
}

/** For providers that take their key as a bearer token. */
export function jsonHeaders({ apiKey, headers }: Endpoint): Record<string, string> {
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return { "content-type": "application/json", ...authorization, ...headers };
}

/**
 * The name of a tool as every provider takes it back. Models make up others ("functions.read_file"), which were
 * answered with an error; sent as they are they would make the provider refuse every later request.
 */
export function toolName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

/** A tool as a function with JSON arguments. */
export function functionOf({ name, description, parameters }: ToolSpec): ToolSpec {
  return { name, description, parameters };
}
