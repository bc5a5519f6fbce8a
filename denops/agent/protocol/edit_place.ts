/** Lines that the user wants edited in place. */
import * as z from "../deps/zod.ts";

export const EditPlace = z.object({
  /** Absolute. */
  path: z.string().min(1),
  /** The first line, from 1. */
  line: z.int().min(1),
  /**
   * The lines in the editor, separated by "
   * ".
   */
  text: z.string().max(200_000),
  /** The user's instruction. */
  wish: z.string().min(1).max(20_000),
});
export type EditPlace = z.infer<typeof EditPlace>;
