/** Proposals of rules for the user, and the user's choice about one. */
import * as z from "../../deps/zod.ts";

export const ProposalChoice = z.object({
  rules: z.array(z.string()).min(1).max(100).readonly(),
  verdict: z.enum(["allow", "deny"]),
  /** "nowhere": do not propose them again. */
  to: z.enum(["project", "all projects", "nowhere"]),
});
export type ProposalChoice = z.infer<typeof ProposalChoice>;
