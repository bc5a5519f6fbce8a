/** Where a session works, and what the user looks at: what the model is told of both. */
import { z } from "../deps/zod.ts";

/** Paths as the model knows them: relative to the project, those of another root with its name before them. */
const path = z.string();

const buffer = z.object({ path, modified: z.boolean() });
/** What the user had on screen when a message was sent. */
export const Shown = z.object({
  /** Where the cursor is, or was before it went to the chat; lines count from 1. */
  current: z.object({ path, line: z.int(), modified: z.boolean() }).optional(),
  /** Those that show files, the one used last first. */
  buffers: z.array(buffer),
  /** Diagnostics of all open buffers; absent where the user does not want them told. */
  errors: z.int().optional(),
  warnings: z.int().optional(),
  /** Of a terminal that can be seen: what it runs, and its last lines. */
  terminal: z.object({ command: z.string(), text: z.string() }).optional(),
  /** Whether a language server runs for the project, or is configured. */
  servers: z.boolean().optional(),
});
export type Shown = z.infer<typeof Shown>;

/**
 * `files` and `rules` describe a project once. `branch` and `status` are git's view of this moment: the name alone, read
 * from a file, and all of it, which takes git some time.
 */
const FACTS = ["files", "rules", "branch", "status"] as const;

export const SurroundingsWanted = z.object({ facts: z.array(z.enum(FACTS)) });
export type SurroundingsWanted = z.infer<typeof SurroundingsWanted>;

/** What cannot be known in time is absent. Files that may not be read, or not unasked, are not named. */
export const Surroundings = z.object({
  /** Of all roots, those that git ignores left out: any of them where there are more. `rules` are all found so. */
  files: z.object({
    paths: z.array(path),
    more: z.boolean(),
    rules: z.array(path),
    /** The list was cut where the time was up: it can be asked for again. */
    late: z.literal(true).optional(),
  }).optional(),
  /** The user's own rules for all projects. */
  rules: z.string().optional(),
  git: z.object({
    /** Absent: none is checked out. */
    branch: z.string().optional(),
    /** Absent: only the branch was wanted. */
    status: z.object({
      upstream: z.object({ name: z.string(), ahead: z.int(), behind: z.int() }).optional(),
      /** "M src/a.ts", as git's short status; `more` are not named. */
      changed: z.array(z.string()),
      more: z.int(),
    }).optional(),
  }).optional(),
});
export type Surroundings = z.infer<typeof Surroundings>;
