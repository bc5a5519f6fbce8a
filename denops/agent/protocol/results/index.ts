/** The index for searches by meaning: the request `index` and its result. */
import * as z from "../../deps/zod.ts";

export const IndexChange = z.enum(["build", "rebuild", "delete"]);
export type IndexChange = z.infer<typeof IndexChange>;

export const IndexState = z.object({
  state: z.enum(["none", "building", "ready"]),
  /** Indexed files and their chunks. */
  files: z.int(),
  chunks: z.int(),
  /** Files of the project; 0 until they are listed. */
  total: z.int(),
  bytes: z.int(),
  /** The model for embeddings, if there is one, and the chunks that have one. */
  model: z.string().optional(),
  vectors: z.int(),
  /** Milliseconds since 1970 when it last equalled the files. */
  updated: z.number().optional(),
  /** Why it could not be built, in one line. */
  problem: z.string().optional(),
});
export type IndexState = z.infer<typeof IndexState>;
