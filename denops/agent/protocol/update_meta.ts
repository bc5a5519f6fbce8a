/** Our own fields of ACP's session updates. */
import * as z from "../deps/zod.ts";

/** `_meta["agent.nvim"]` of a piece of text or of a thought: id of the call above it. */
export const ParentMeta = z.object({ parent: z.string().optional() });

/** `_meta["agent.nvim"]` of the last piece of a thought. */
export const ThoughtMeta = z.object({ milliseconds: z.number(), ...ParentMeta.shape });

/**
 * `_meta["agent.nvim"]` of an empty piece of a thought: the message's text so far was a thought, or its thought is sent
 * again as text.
 */
export const RetoldMeta = z.object({ was: z.enum(["text", "thought"]), ...ParentMeta.shape });
export type RetoldMeta = z.infer<typeof RetoldMeta>;

/** Characters of a call's id that the screen knows; it names calls by them. */
export const LONGEST_CALL_ID = 200;

/** `_meta["agent.nvim"]` of a tool call or its update. */
export const ToolMeta = z.object({
  tool: z.string().optional(),
  /** Lines of the streaming argument, while the call is pending. */
  lines: z.int().optional(),
  /** The last lines of the argument. */
  draft: z.string().optional(),
  added: z.int().optional(),
  removed: z.int().optional(),
  /** One line about the result, or the first line of the error. */
  summary: z.string().optional(),
  /** The rule that allowed the call. */
  rule: z.string().optional(),
  /** Stopped by the user or by the end of its process, which is not a failure. */
  stopped: z.boolean().optional(),
  ...ParentMeta.shape,
});
export type ToolMeta = z.infer<typeof ToolMeta>;

/** `_meta["agent.nvim"]` of a usage update: values of the last request; the update's own cost is the session's. */
export const UsageMeta = z.object({
  input: z.int(),
  output: z.int(),
  cachedRead: z.int(),
  cachedWrite: z.int(),
  /** US dollars. */
  cost: z.number().optional(),
});
export type UsageMeta = z.infer<typeof UsageMeta>;
