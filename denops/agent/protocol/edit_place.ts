/** Lines that the user wants changed in place. */
import { z } from "../deps/zod.ts";

export const EditPlace = z.object({
  /** Absolute. */
  path: z.string().min(1),
  /** Of its first line, from 1. */
  line: z.int().min(1),
  /** The lines as they stand in the editor, with "\n" between them. */
  text: z.string().max(200_000),
  /** What is to become of them. */
  wish: z.string().min(1).max(20_000),
});
export type EditPlace = z.infer<typeof EditPlace>;
