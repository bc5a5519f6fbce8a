/**
 * The remaining quota of a Copilot account. Source: `/copilot_internal/user` as in Zed, CopilotChat.nvim and
 * codecompanion.nvim; accounts without a subscription have separate counts ("free_limited_copilot").
 */
import * as z from "../../../deps/zod.ts";

const Quota = z.object({
  quota_reset_date: z.string().optional().catch(undefined),
  quota_snapshots: z.object({
    premium_interactions: z.object({
      entitlement: z.number(),
      remaining: z.number(),
      unlimited: z.boolean().default(false),
    }).optional(),
  }).nullish().catch(undefined),
  monthly_quotas: z.object({ chat: z.number() }).nullish().catch(undefined),
  limited_user_quotas: z.object({ chat: z.number() }).nullish().catch(undefined),
  limited_user_reset_date: z.string().optional().catch(undefined),
});

/** One line for the page of `:Agent usage`; undefined if the answer has no quota. */
export function quotaLine(body: unknown): string | undefined {
  const quota = Quota.safeParse(body).data;
  const premium = quota?.quota_snapshots?.premium_interactions;
  if (premium?.unlimited) return "Copilot: premium requests are not limited.";
  if (premium !== undefined) {
    const { remaining, entitlement } = premium;
    const left = Math.max(0, remaining);
    return `Copilot: ${amount(left)} of ${amount(entitlement)} premium requests left${
      resets(quota?.quota_reset_date)
    }.`;
  }
  const { limited_user_quotas: left, monthly_quotas: all, limited_user_reset_date: date } = quota ?? {};
  if (!left || !all) return undefined;
  return `Copilot: ${amount(left.chat)} of ${amount(all.chat)} messages left${resets(date)}.`;
}

/** A request to a small model counts as a fraction. */
function amount(count: number): string {
  return String(Math.round(count * 10) / 10);
}

/** @param date "2026-12-01" */
function resets(date: string | undefined): string {
  const day = /^\d{4}-\d\d-\d\d/.exec(date ?? "")?.[0];
  const time = Date.parse(day ?? "");
  if (Number.isNaN(time)) return "";
  const options = { day: "numeric", month: "long", timeZone: "UTC" } as const;
  return `, resets ${new Intl.DateTimeFormat("en-GB", options).format(time)}`;
}
