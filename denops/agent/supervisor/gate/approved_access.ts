/** The writes of files, calls of MCP tools, searches and fetched addresses that the gate has allowed in the running turn of each chat. */
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
    if (access.kind !== "file" && !isSpent(access)) return;
    const { writes, calls } = this.#turns.getOrInsertComputed(chat, () => ({ writes: new Set(), calls: [] }));
    if (isSpent(access)) calls.push(callKey(session, access));
    else for (const file of access.files) if (file.access === "write") writes.add(file.path.path);
  }

  /** @param path real path */
  hasWrite(chat: number, path: string): boolean {
    return this.#turns.get(chat)?.writes.has(path) ?? false;
  }

  /** Uses up the approval of this call. False if it has none. */
  spendCall(chat: number, session: string, call: SpentAccess): boolean {
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

/** Each approval allows one call. */
type SpentAccess = AccessOf<"mcp" | "fetch" | "search_web">;

function isSpent(access: Access): access is SpentAccess {
  return access.kind === "mcp" || access.kind === "fetch" || access.kind === "search_web";
}

function callKey(session: string | undefined, access: SpentAccess): string {
  return JSON.stringify([session, access.kind, ...partsOf(access)]);
}

function partsOf(access: SpentAccess): readonly (string | undefined)[] {
  switch (access.kind) {
    case "mcp":
      return [access.server, access.tool, access.input];
    case "fetch":
      return [access.url];
    case "search_web":
      return [access.engine, access.query];
  }
}
