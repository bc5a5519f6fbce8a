/** Facts for the model about the project and the user's screen. */
import * as z from "../deps/zod.ts";
import { MOST_SKILLS, SkillFacts } from "./results/skills.ts";

/** As the model knows them: relative to the project, or with the name of another root. */
const path = z.string();

const buffer = z.object({ path, modified: z.boolean() });
/** The user's screen when a message was sent. */
export const Shown = z.object({
  /** The cursor's place, or its last one before the chat; lines count from 1. */
  current: z.object({
    path,
    line: z.int(),
    modified: z.boolean(),
    /** The user was shown that its text is sent, because the turn has no tools to read it. */
    text: z.boolean().optional(),
    /** Only these lines of it. */
    lines: z.object({ first: z.int().min(1), last: z.int().min(1) }).optional(),
  }).optional(),
  /** Buffers that show files, last used first. */
  buffers: z.array(buffer),
  /** Diagnostics of all open buffers; absent if the user disabled them. */
  errors: z.int().optional(),
  warnings: z.int().optional(),
  /** A visible terminal: its command and last lines. */
  terminal: z.object({ command: z.string(), text: z.string() }).optional(),
  /** Whether a language server runs for the project or is configured. */
  servers: z.boolean().optional(),
});
export type Shown = z.infer<typeof Shown>;

/** Most files with unsaved changes that an {@link EditorView} has. */
const MOST_UNSAVED = 200;

/** The editor's answer about the user's cursor, selection and unsaved buffers. Paths are absolute and real. */
export const EditorView = z.object({
  /** `lines`: their count. */
  unsaved: z.array(z.object({ path, lines: z.int() })).max(MOST_UNSAVED),
  /** In the window with a file that the user is in, or was in last. `column` counts bytes from 1. */
  cursor: z.object({ path, line: z.int(), column: z.int(), text: z.string() }).optional(),
  /** The lines that are selected there, or were selected last. */
  selection: z.object({ path, first: z.int(), last: z.int(), text: z.string() }).optional(),
});
export type EditorView = z.infer<typeof EditorView>;

/**
 * `files` and `rules` describe a project once. `branch` and `status` are git's current state: the branch is read from a
 * file, the status takes longer. `skills` are those that the model is offered.
 */
const FACTS = ["files", "rules", "branch", "status", "skills"] as const;

export const SurroundingsWanted = z.object({ facts: z.array(z.enum(FACTS)) });
export type SurroundingsWanted = z.infer<typeof SurroundingsWanted>;

/** Late facts are absent. Files that may not be read freely are not named. */
export const Surroundings = z.object({
  /** Files of all roots without ignored ones; a selection if there are too many. `rules` are always complete. */
  files: z.object({
    paths: z.array(path),
    more: z.boolean(),
    rules: z.array(path),
    /** The list is incomplete because of the time limit; it can be requested again. */
    late: z.literal(true).optional(),
  }).optional(),
  /** The user's own rules for all projects. */
  rules: z.string().optional(),
  git: z.object({
    /** Absent: no branch is checked out. */
    branch: z.string().optional(),
    /** Absent: only the branch was requested. */
    status: z.object({
      upstream: z.object({ name: z.string(), ahead: z.int(), behind: z.int() }).optional(),
      /** "M src/a.ts", as in git's short status; `more` are not named. */
      changed: z.array(z.string()),
      more: z.int(),
    }).optional(),
  }).optional(),
  skills: z.array(SkillFacts).max(MOST_SKILLS).optional(),
});
export type Surroundings = z.infer<typeof Surroundings>;
