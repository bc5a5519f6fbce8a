/** Shared by the wires: JSON frames with a schema, request bodies and headers. */
import * as z from "../../../deps/zod.ts";
import type { ToolSpec } from "../../log/model_request.ts";
import type { Endpoint } from "./wire.ts";

/** @throws {Error} with one line if the frame is not JSON or does not match the schema */
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

/** Some servers send the number as a string. */
export const Index = z.union([z.int(), z.string().regex(/^\d+$/).transform(Number)]).nullish();

/**
 * A call's arguments as JSON text; some servers send an object. An empty object counts as no text, because
 * pieces of text may follow.
 */
export const ArgumentsText = z.union([
  z.string(),
  z.record(z.string(), z.unknown()).transform((object) =>
    Object.keys(object).length === 0 ? "" : JSON.stringify(object)
  ),
]).nullish();

/**
 * Encodes a request's body. Lone surrogates, for example from a truncated line, are replaced: providers
 * refuse them, and then every later request.
 */
export function requestBody(value: unknown): string {
  return JSON.stringify(value, (_key, part) => typeof part === "string" ? part.toWellFormed() : part);
}

/** For providers with bearer tokens. */
export function jsonHeaders({ apiKey, headers }: Endpoint): Record<string, string> {
  const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return { "content-type": "application/json", ...authorization, ...headers };
}

/**
 * A tool name that every provider accepts. Models invent others ("functions.read_file"), which get an error
 * as result; sent unchanged, they would make the provider refuse every later request.
 */
export function toolName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64) || "unknown";
}

/** A tool as a function with JSON arguments. */
export function functionOf({ name, description, parameters }: ToolSpec): ToolSpec {
  return { name, description, parameters };
}
