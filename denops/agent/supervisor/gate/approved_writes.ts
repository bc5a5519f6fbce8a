/** The files whose writes the gate has allowed in the running turn of each chat. */
import type { Access } from "../../protocol/access.ts";

export class ApprovedWrites {
  readonly #paths = new Map<number, Set<string>>();

  add(chat: number, access: Access): void {
    if (access.kind !== "file") return;
    const paths = this.#paths.get(chat) ?? new Set();
    for (const file of access.files) if (file.access === "write") paths.add(file.path.path);
    this.#paths.set(chat, paths);
  }

  /** @param path real path */
  has(chat: number, path: string): boolean {
    return this.#paths.get(chat)?.has(path) ?? false;
  }

  /** The chat's turn is over. */
  settle(chat: number): void {
    this.#paths.delete(chat);
  }
}
