/** Ids of tool calls as a provider takes them: where several models answer in a session, they are of any form. Pure. */
import { createHash } from "node:crypto";
import type { Message } from "../../log/messages.ts";

export interface IdRule {
  readonly legal: RegExp;
  /** Characters of one that is made. */
  readonly length: number;
}

/** With another id of letters and digits for each that is not legal, the same in every request. */
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
