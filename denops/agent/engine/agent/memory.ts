/** What a conversation remembers beside its messages, as it is kept for a resume. */
import { z } from "zod";

const Memory = z.object({
  /** Where the next command starts, relative to the root. */
  folder: z.string().default(""),
  plan: z.array(z.object({ step: z.string(), status: z.enum(["pending", "in_progress", "completed"]) }))
    .default([]),
  /** Tools that the user has switched by hand. */
  tools: z.record(z.string(), z.boolean()).default({}),
  /** Hashes of what the model has read, by path: see Views. */
  read: z.record(z.string(), z.string()).catch({}),
  /** Money that the session has cost, and how often its cap was raised. */
  spent: z.object({ amount: z.number(), raised: z.int() }).default({ amount: 0, raised: 0 }),
  /** A title was asked for: once is enough. */
  titled: z.boolean().default(false),
});
export type Memory = z.infer<typeof Memory>;

/** One that an earlier version has written lacks what this one knows; what cannot be read is forgotten. */
export function readMemory(stored: unknown): Memory {
  const parsed = Memory.safeParse(stored);
  return parsed.success ? parsed.data : Memory.parse({});
}
