/** Decides on the calls of one session, by the current rules and the user's approvals for the session. */
import { allowKey, decideFiles } from "../../policy/decide_files.ts";
import { againstTool } from "../../policy/decide_tools.ts";
import { type ChangedKeys, type FileDecision, mayRead, sensitivity } from "../../policy/file_access.ts";
import type { ResolvedPath } from "../../policy/path.ts";
import type { Access, FileAccess } from "../../protocol/access.ts";
import type { FileRules, SafeToWrite } from "../../protocol/config.ts";
import { unknownToolRules } from "../agent/permission/unknown_rules.ts";
import { filesOf } from "../tools/define.ts";

/**
 * True for the project's own `.git`, which the engine's sandbox makes read-only. A link from elsewhere may be
 * deleted.
 */
function isOwnGit({ relative, named }: ResolvedPath): boolean {
  return /^\.git(?:\/|$)/i.test(relative) && /(?:^|\/)\.git(?:\/|$)/i.test(named);
}

export class SessionAccess {
  /** The rules at the start of the last tool call. */
  #rules: FileRules;
  readonly #latest: (() => Promise<FileRules>) | undefined;
  readonly #isScratch: (path: string) => boolean;
  readonly #allowed = new Set<string>();
  #hasCheckedRules = false;

  /**
   * @param latest returns the current rules; by default those of the start apply
   * @param isScratch whether a path is in the session's own folder, which needs no approval
   */
  constructor(
    rules: FileRules,
    latest: (() => Promise<FileRules>) | undefined,
    isScratch: (path: string) => boolean,
  ) {
    this.#rules = rules;
    this.#latest = latest;
    this.#isScratch = isScratch;
  }

  async refresh(): Promise<void> {
    this.#rules = await this.#latest?.() ?? this.#rules;
  }

  /**
   * The rules on tools that do not exist, once: one line each. @param tools all tools @param servers MCP servers, whose
   * tools may be unknown still
   */
  unknownRules(
    tools: readonly { readonly name: string }[],
    servers: readonly { readonly name: string }[] = [],
  ): readonly string[] {
    if (this.#hasCheckedRules || tools.length === 0) return [];
    this.#hasCheckedRules = true;
    const rules = this.#rules.tool_rules;
    if (rules === undefined) return [];
    return unknownToolRules(rules, tools.map(({ name }) => name), servers.map(({ name }) => name));
  }

  allow(access: Access): void {
    for (const file of filesOf(access)) this.#allowed.add(allowKey(file));
  }

  /**
   * Asks about everything except files and nothing: the supervisor's gate knows the rules, and answers for
   * the user if they permit it.
   * @param granted keys of access that the user allowed for this call
   * @param tools names of the call's tool, current and old
   */
  decide(access: Access, granted: ReadonlySet<string>, tools: readonly string[] = []): FileDecision {
    const against = againstTool(tools, this.#rules.tool_rules);
    const decision = against?.verdict === "deny" ? against : this.#decide(access, granted);
    if (decision.verdict !== "allow" || against === undefined) return decision;
    // Files that the user has allowed for the session need no other answer.
    const files = filesOf(access);
    const isAnswered = files.length > 0 && files.every((file) => this.#allowed.has(allowKey(file)));
    return isAnswered && this.#rules.asks_writes !== true ? decision : against;
  }

  #decide(access: Access, granted: ReadonlySet<string>): FileDecision {
    const { kind } = access;
    if (kind === "file") {
      if (access.files.some(({ access, path }) => access === "write" && isOwnGit(path))) {
        return { verdict: "deny", rule: ".git", reason: ".git is closed to tools; use git's own commands" };
      }
      const isOwn = ({ access, path }: FileAccess) => access === "write" && this.#isScratch(path.path);
      const others = access.files.filter((file) => !isOwn(file));
      if (others.length === 0) return { verdict: "allow", rule: "scratch folder" };
      return decideFiles(others, this.#rules, this.#allowed.union(granted));
    }
    // A question of the model goes to the user anyway.
    if (kind === "nothing" || (kind === "ask" && access.about === "question")) {
      return { verdict: "allow", rule: kind };
    }
    return { verdict: "ask", rule: kind, reason: "needs your approval" };
  }

  /** The row of the built-in list for a file that a command may not change without approval. */
  trap(name: string, changed?: ChangedKeys): SafeToWrite | undefined {
    const row = sensitivity(name, this.#rules.safe_to_write, changed);
    return row?.reason === undefined ? undefined : row;
  }

  /**
   * Whether commands' changes of this file are recorded, even if git ignores it. Unreadable files are not
   * stored.
   */
  isWatched(name: string): boolean {
    const row = this.trap(name);
    const path = { path: name, relative: name, named: name, exists: true };
    return row !== undefined && row.packages !== true && row.keys === undefined &&
      mayRead(path, this.#rules).verdict !== "deny";
  }

  mayRead(path: ResolvedPath): FileDecision {
    const decision = mayRead(path, this.#rules);
    const allowed = decision.verdict === "ask" && this.#allowed.has(allowKey({ access: "read", path }));
    return allowed ? { verdict: "allow", rule: "allowed for this session" } : decision;
  }
}
