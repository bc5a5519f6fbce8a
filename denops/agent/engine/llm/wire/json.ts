/** Reads a frame's JSON by a schema. */
import type { z } from "zod";

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
