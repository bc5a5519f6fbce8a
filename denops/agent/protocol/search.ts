/** Searches that the engine may request: the supervisor runs ripgrep and git with fixed arguments. */
import * as z from "../deps/zod.ts";

/** Absolute, "" for the project; resolved by the engine and again by the supervisor. */
const path = z.string();

export const SearchRequest = z.discriminatedUnion("op", [
  z.object({
    op: z.literal("grep"),
    query: z.string().min(1),
    isRegex: z.boolean(),
    path,
    glob: z.string().optional(),
    case: z.enum(["smart", "sensitive", "insensitive"]),
    /** Lines around each match. */
    context: z.int().min(0).max(10),
    /** Maximum number of matching lines; the rest is counted up to a limit. */
    most: z.int().min(1).max(1_000),
  }),
  z.object({
    op: z.literal("files"),
    path,
    glob: z.string().optional(),
    depth: z.int().min(1).optional(),
    most: z.int().min(1).max(200_000),
  }),
  z.object({
    op: z.literal("changes"),
    path,
    /** The staged changes with the latest commit messages; "" for none. */
    staged: z.boolean().optional(),
    /** Compare with this commit or branch instead of the last commit. */
    base: z.string().regex(/^\w[\w./~^@-]{0,200}$/).optional(),
    /** In git's format: "2 days ago", a date, a commit. */
    since: z.string().optional(),
    /** Text that a commit added or removed. */
    query: z.string().optional(),
  }),
]);
export type SearchRequest = z.infer<typeof SearchRequest>;

export const FoundLine = z.object({
  path: z.string(),
  line: z.int(),
  text: z.string(),
  isMatch: z.boolean(),
});
export type FoundLine = z.infer<typeof FoundLine>;

/** Files that were not searched because a rule would ask. */
const leftOut = z.object({ count: z.int(), rules: z.array(z.string()) }).optional();

export const SearchResponse = z.discriminatedUnion("op", [
  /** `total` counts matching lines; `more` if the count is incomplete. */
  z.object({ op: z.literal("grep"), lines: z.array(FoundLine), total: z.int(), more: z.boolean(), leftOut }),
  z.object({ op: z.literal("files"), paths: z.array(z.string()), more: z.boolean(), leftOut }),
  z.object({ op: z.literal("changes"), text: z.string(), leftOut }),
]);
export type SearchResponse = z.infer<typeof SearchResponse>;
