/** Finds functions that start themselves again and again, and loops that start without end. Pure. */
import { forEachChild, type Function as FunctionNode, type SyntaxNode, type While } from "unbash";

interface Called {
  readonly names: Set<string>;
  /** Starts more than one process at once: a pipe, a background command, a substitution. */
  spawns: boolean;
}

function callsOf(node: SyntaxNode): Called {
  const called: Called = { names: new Set(), spawns: false };
  const visit = (child: SyntaxNode) => {
    if (child.type === "Command" && child.name !== undefined) {
      called.names.add(child.name.value);
      // A function's name among the words of these is a call too.
      const starts = /^(eval|exec|command|env|nohup|nice|time|timeout|setsid|xargs)$/.test(child.name.value);
      for (const word of child.args) if (starts && word.type === "Word") called.names.add(word.value);
    }
    if (child.type === "Statement" && child.background) called.spawns = true;
    if (child.type === "Pipeline" && child.commands.length > 1) called.spawns = true;
    if (child.type === "CommandExpansion" || child.type === "ProcessSubstitution") called.spawns = true;
    forEachChild(child, visit);
  };
  visit(node);
  return called;
}

export class Forks {
  readonly #functions = new Map<string, Called>();

  define(node: FunctionNode): void {
    this.#functions.set(node.name.value, callsOf(node.body));
  }

  /** The name of a function that reaches itself and multiplies on the way. */
  bomb(): string | undefined {
    for (const name of this.#functions.keys()) {
      const reached = new Set<string>();
      let spawns = false;
      const visit = (at: string) => {
        const called = this.#functions.get(at);
        if (called === undefined) return;
        spawns ||= called.spawns;
        for (const next of called.names) {
          if (reached.has(next)) continue;
          reached.add(next);
          visit(next);
        }
      };
      visit(name);
      if (spawns && reached.has(name)) return name;
    }
    return undefined;
  }
}

/** `while :; do x & done` with nothing that waits. */
export function isEndlessSpawn(node: While): boolean {
  const [statement] = node.clause.commands;
  const clause = statement?.command;
  const endless = clause?.type === "Command" && /^(true|:|false)$/.test(clause.name?.value ?? "");
  if (!endless) return false;
  const { names } = callsOf(node.body);
  const spawns = node.body.commands.some((one) => one.background);
  return spawns && !names.has("sleep") && !names.has("wait") && !names.has("read");
}
