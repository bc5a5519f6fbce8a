/**
 * Rewrites tool call ids to a provider's format, because a session with several models mixes formats. Pure.
 */
import { createHash } from "node:crypto";
import type { Message } from "../../log/messages.ts";

export interface IdRule {
  readonly legal: RegExp;
  /** Characters of a generated id. */
  readonly length: number;
}

/** Replaces each illegal id with letters and digits, the same ones in every request. */
export function withCallIds(messages: readonly Message[], rule: IdRule): readonly Message[] {
  const fitted = <T extends { readonly id: string }>(owner: T): T =>
    rule.legal.test(owner.id) ? owner : { ...owner, id: made(owner.id, rule) };
  return messages.map((message) => {
    switch (message.role) {
      case "user":
        return message;
      case "tool":
        return fitted(message);
      case "assistant":
        return { ...message, calls: message.calls.map(fitted) };
    }
  });
}

function made(id: string, { length }: IdRule): string {
  return createHash("sha256").update(id).digest("hex").slice(0, length);
}
