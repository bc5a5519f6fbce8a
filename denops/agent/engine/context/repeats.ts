/** Earlier attachments that the model still sees. Pure. */
import type { MessageEntry } from "../log/entries.ts";
import type { Part } from "../log/events.ts";
import type { Image } from "../log/messages.ts";
import { isRefused } from "./refused.ts";

/** Replaces unchanged attachments that are already in these messages with a line. */
export function withoutRepeats(parts: readonly Part[], seen: readonly MessageEntry[]): readonly Part[] {
  const before = keysOf(seen);
  return parts.map((part) => {
    if (part.type !== "given" || !before.has(keyOf(part))) return part;
    const text = `${part.label}: unchanged since it was provided earlier in this session.`;
    return { type: "given", label: `${part.label} (as before)`, text };
  });
}

/** Whether an attachment is in these messages, unchanged. */
export function isKnown(part: Part, seen: readonly MessageEntry[]): boolean {
  return part.type === "given" && keysOf(seen).has(keyOf(part));
}

function keysOf(seen: readonly MessageEntry[]): ReadonlySet<string> {
  return new Set(partsOf(seen).flatMap((part) => part.type === "given" ? [keyOf(part)] : []));
}

/** Messages with images of any origin. */
export function imageCarriers(
  seen: readonly MessageEntry[],
): readonly { readonly text: string; readonly images: readonly Image[] }[] {
  const results = seen.flatMap((entry) => "images" in entry ? entry.images ?? [] : []);
  const attachedImages = partsOf(seen).flatMap((part) =>
    part.type === "given" && part.image !== undefined ? [part.image] : []
  );
  return [{ text: "", images: [...results, ...attachedImages] }];
}

function partsOf(seen: readonly MessageEntry[]): readonly Part[] {
  return seen.flatMap((entry, at) =>
    entry.type === "user_message" && !isRefused(seen, at) ? entry.parts : []
  );
}

function keyOf({ label, text, image }: Extract<Part, { type: "given" }>): string {
  return JSON.stringify([label, text, image?.data]);
}
