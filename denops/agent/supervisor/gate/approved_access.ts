/** The writes of files and the calls of MCP tools that the gate has allowed in the running turn of each chat. */
import type { Access, AccessOf } from "../../protocol/access.ts";

interface TurnApprovals {
  /** Real paths. */
  readonly writes: Set<string>;
  /** Calls that were not sent yet, by {@link callKey}; two equal approvals allow two calls. */
  readonly calls: string[];
}

export class ApprovedAccess {
  readonly #turns = new Map<number, TurnApprovals>();

  /** @param session of the request; undefined if the supervisor itself asked */
  add(chat: number, session: string | undefined, access: Access): void {
    if (access.kind !== "file" && access.kind !== "mcp") return;
    const { writes, calls } = this.#turns.getOrInsertComputed(chat, () => ({ writes: new Set(), calls: [] }));
    if (access.kind === "mcp") calls.push(callKey(session, access));
    else for (const file of access.files) if (file.access === "write") writes.add(file.path.path);
  }

  /** @param path real path */
  hasWrite(chat: number, path: string): boolean {
    return this.#turns.get(chat)?.writes.has(path) ?? false;
  }

  /** Uses up the approval of this call. False if it has none. */
  spendCall(chat: number, session: string, call: AccessOf<"mcp">): boolean {
    const calls = this.#turns.get(chat)?.calls ?? [];
    const at = calls.indexOf(callKey(session, call));
    if (at !== -1) calls.splice(at, 1);
    return at !== -1;
  }

  /** The chat's turn is over. */
  settle(chat: number): void {
    this.#turns.delete(chat);
  }
}

function callKey(session: string | undefined, { server, tool, input }: AccessOf<"mcp">): string {
  return JSON.stringify([session, server, tool, input]);
}
