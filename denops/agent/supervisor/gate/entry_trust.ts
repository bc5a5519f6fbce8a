/** The user's approvals of what projects name to run: each is for exactly one entry. */
import type * as z from "../../deps/zod.ts";
import { encodeHex } from "../system/hex.ts";
import { SessionBook } from "./session_book.ts";

export class EntryTrust<Approval> {
  readonly #book: SessionBook<Approval>;

  /** @param what names the folder in the state folder */
  constructor(stateDir: string, what: string, approval: z.ZodType<Approval>) {
    this.#book = new SessionBook(stateDir, what, approval);
  }

  /** Undefined: this entry is not approved. @param parts JSON @throws {Error} one line */
  async of(parts: readonly unknown[]): Promise<Approval | undefined> {
    return await this.#book.of(await entryHash(parts));
  }

  /** @throws {Error} if it cannot be stored */
  async approve(parts: readonly unknown[], approval: Approval): Promise<void> {
    await this.#book.note(await entryHash(parts), approval);
  }
}

/** A hash of JSON. The order of an object's keys does not matter. */
export async function entryHash(parts: readonly unknown[]): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(parts.map(sorted)));
  return encodeHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** The order of keys does not matter, that of words does. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value).sort(([one], [other]) => one < other ? -1 : 1)
    .map(([key, part]) => [key, sorted(part)]);
}
