import type { FileDecision } from "../../../policy/file_access.ts";
import type { LeftOut } from "../../ports/commands.ts";

/** Counts files that a listing omits because a rule would ask. */
export class AskedAbout implements LeftOut {
  readonly #rules = new Set<string>();
  readonly #paths = new Set<string>();

  note(path: string, decision: FileDecision): void {
    if (decision.verdict !== "ask") return;
    this.#paths.add(path);
    this.#rules.add(decision.rule);
  }

  get count(): number {
    return this.#paths.size;
  }

  get rules(): readonly string[] {
    return [...this.#rules];
  }
}
