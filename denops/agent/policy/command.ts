/** What a command line would do, judged by severity. For now every line counts as one that must be asked about. */

export type Severity = "none" | "medium" | "high" | "critical";

export interface SimpleCommand {
  readonly words: readonly string[];
  readonly text: string;
}

export interface CommandVerdict {
  readonly severity: Severity;
  /** One line: which part and why. */
  readonly reason: string;
  readonly commands: readonly SimpleCommand[];
  readonly parsed: boolean;
  readonly network: boolean;
  readonly writesFiles: boolean;
}

export function judgeCommand(line: string): CommandVerdict {
  const commands = [{ words: line.split(" "), text: line }];
  const reason = "a command is always asked about";
  return { severity: "medium", reason, commands, parsed: true, network: false, writesFiles: true };
}

export function commandMatches(pattern: string, command: SimpleCommand): boolean {
  return pattern === command.text;
}

export function specificity(pattern: string): number {
  return pattern.length;
}

export function suggestRule(line: string): string | undefined {
  return `run(${line})`;
}
