/** Attachments of a message. Facts that only Neovim knows are included. */
import * as z from "../deps/zod.ts";

/** The word in the message that stands for it, without "@"; absent for automatic attachments. */
const mention = z.string().min(1).max(200).optional();
/** For the screen, one line: "3 diagnostics". */
const label = z.string().min(1).max(500);
const line = z.int().min(1);
/** The text is the end of a command's output in the user's terminal. */
const output = z.boolean().optional();

/** A line of a file. */
const Place = z.object({ path: z.string().optional(), line: line.optional(), text: z.string() });

export const Attachment = z.discriminatedUnion("type", [
  /** A file, or lines of it, which the engine reads when the turn begins. */
  z.object({
    type: z.literal("file"),
    mention,
    /** Absolute. */
    path: z.string(),
    first: line.optional(),
    last: line.optional(),
    /** The user has selected these lines. */
    selected: z.boolean().optional(),
    /** The lines themselves, if the file is outside of the project. */
    text: z.string().max(1_000_000).optional(),
  }),
  /** Messages about lines of files; paths are absolute. */
  z.object({ type: z.literal("places"), mention, label, places: z.array(Place).max(10_000) }),
  z.object({
    type: z.literal("text"),
    mention,
    label,
    text: z.string().max(1_000_000),
    selected: z.boolean().optional(),
    output,
  }),
  /** The bytes of an image in base64. */
  z.object({ type: z.literal("image"), mention, label, data: z.string() }),
]);
export type Attachment = z.infer<typeof Attachment>;

const _meta = z.record(z.string(), z.unknown()).exactOptional();

/** The blocks of an ACP prompt. Source: agentclientprotocol.com/protocol/content. */
export const PromptBlock = z.discriminatedUnion("type", [
  z.object({ type: z.literal("text"), text: z.string(), _meta }),
  z.object({ type: z.literal("image"), data: z.string(), mimeType: z.string(), _meta }),
  z.object({ type: z.literal("resource_link"), uri: z.string(), name: z.string(), _meta }),
  z.object({ type: z.literal("resource"), resource: z.object({ uri: z.string(), text: z.string() }), _meta }),
]);

/** `_meta["agent.nvim"]` of a prompt block other than text. */
export const AttachmentMeta = z.object({
  mention,
  label: label.optional(),
  selected: z.boolean().optional(),
  output,
  /** The text is a prompt template that the message calls. */
  prompt: z.boolean().optional(),
  /** The text is a skill that the message calls. */
  skill: z.boolean().optional(),
});
export type AttachmentMeta = z.infer<typeof AttachmentMeta>;
