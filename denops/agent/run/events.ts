/**
 * The events that `agent run --json` prints, one a line. A field or a type may be added; any other change raises the
 * version. `deno task docs` writes this table into the help.
 */
import * as z from "../deps/zod.ts";

export const EVENTS_VERSION = 1;

/** Strings are displayable: control characters are replaced. */
const event = <Type extends string, Fields extends z.ZodRawShape>(type: Type, doc: string, fields: Fields) =>
  z.object({ type: z.literal(type), ...fields }).describe(doc);

export const RunEvent = z.discriminatedUnion("type", [
  event("start", "The session is open; version is that of this table.", {
    version: z.literal(EVENTS_VERSION),
    session: z.string(),
    root: z.string(),
    provider: z.string().optional(),
    model: z.string().optional(),
    sandbox: z.string(),
  }),
  event("message", "A complete text of the model. parent: the call of the sub-agent that wrote it.", {
    text: z.string(),
    parent: z.string().optional(),
  }),
  event("call", "A tool call runs or has ended.", {
    id: z.string(),
    title: z.string(),
    kind: z.string().optional(),
    status: z.enum(["running", "completed", "failed", "stopped"]),
    summary: z.string().optional(),
    added: z.int().optional(),
    removed: z.int().optional(),
    output: z.string().optional(),
    parent: z.string().optional(),
  }),
  event("plan", "All steps of the model's plan.", {
    steps: z.array(z.object({ step: z.string(), status: z.string() })),
  }),
  event(
    "refused",
    "A call was refused. command: its command line, with its line breaks. rules: would allow it, each in an --allow of its own. rule: the same, if it is only one.",
    {
      title: z.string(),
      reason: z.string(),
      command: z.string().optional(),
      rule: z.string().optional(),
      rules: z.array(z.string()).readonly().optional(),
    },
  ),
  event("notice", "A line about the run; severity is info, warning or error.", {
    severity: z.enum(["info", "warning", "error"]),
    text: z.string(),
  }),
  event("retry", "The provider failed, and the request is sent again.", {
    attempt: z.int(),
    tries: z.int(),
    wait_ms: z.number(),
    reason: z.string(),
  }),
  event("files", "All changes of the turn; paths are relative to the project.", {
    files: z.array(z.object({
      path: z.string(),
      kind: z.enum(["created", "modified", "deleted", "renamed"]),
      from: z.string().optional(),
      added: z.int(),
      removed: z.int(),
    })),
  }),
  event("end", "Always the last line. code: the exit code. cost: US dollars of the session, if known.", {
    code: z.int(),
    reason: z.enum(["done", "failed", "usage", "refused", "cap", "stopped"]),
    answer: z.string(),
    error: z.string().optional(),
    session: z.string().optional(),
    cost: z.number().optional(),
  }),
]);
export type RunEvent = z.infer<typeof RunEvent>;
export type EndEvent = Extract<RunEvent, { type: "end" }>;

/** The events for the help: "summary?" is a field that may be absent. */
export const EVENT_DOCS = RunEvent.options.map(({ shape, description = "" }) => ({
  type: [...shape.type.values].join(),
  doc: description,
  fields: Object.entries<z.ZodType>(shape).filter(([name]) => name !== "type")
    .map(([name, field]) => field.isOptional() ? `${name}?` : name),
}));
