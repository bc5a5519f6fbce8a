/** The lines between the supervisor and the bridge, beside those of MCP. */
import * as z from "../../../deps/zod.ts";

/** To the bridge, the first line of its input. */
export const BridgeStart = z.object({
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  /** An access token. */
  token: z.string().optional(),
});
export type BridgeStart = z.infer<typeof BridgeStart>;

/** To the bridge, the answer to each `Unauthorized`. No token: the user has to log in. */
export const BridgeToken = z.object({ bridge_token: z.string().nullable() });

/** Begins a line of the bridge's error output that is for the supervisor. */
export const TO_SUPERVISOR = "agent-bridge ";

/** From the bridge: the server wants another token. Texts come from the server. */
export const Unauthorized = z.object({
  /** The address of its metadata. */
  metadata: z.string().optional(),
  scope: z.string().optional(),
});
export type Unauthorized = z.infer<typeof Unauthorized>;
