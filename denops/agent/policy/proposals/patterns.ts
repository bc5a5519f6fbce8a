/** The patterns of the rules that the gate proposes for command lines. Pure. */
import type { CommandVerdict } from "../command.ts";
import { hasSubcommands } from "../command/programs.ts";
import { riskyWords, RUNNER, runnerWords } from "../command/risky.ts";
import { covers, ownCommands, quotePattern } from "../command/rules.ts";
import { interpreterOf, isShell } from "../command/shells.ts";
import type { SimpleCommand } from "../command/walk.ts";

/** Longer patterns are not proposed. */
const LONGEST = 160;

/** Proposed rules keep two words before their `*` for programs with subcommands, and three for these. */
const KEEPS_THREE =
  /^((npm|pnpm|yarn|bun) run|deno task|docker (compose|container|image)|git (stash|remote|worktree)|gh (pr|issue|run|repo)|go mod|uv pip|((uv|poetry) run|bundle exec|(npm|pnpm) exec)) /;

/** With other words these programs could do anything, so only the exact words are proposed. */
const EXACT =
  /^(rm|rmdir|unlink|shred|mv|cp|ln|install|dd|tee|truncate|chmod|chown|chgrp|kill|pkill|killall|ssh|scp|sftp|rsync|curl|wget|nc|sed|awk|gawk|perl|tar|find|fd|vim|nvim|psql|mysql|sqlite3|aws|gcloud|az|crontab|cd|set|git-(push|config|rebase|clean|reset|checkout|restore)|(npm|pnpm|yarn|bun|pip3?|uv|cargo|gem|bundle|go|composer|poetry|deno|brew|apt(-get)?)-(install|i|in|ci|add|get|update|upgrade|remove|rm|uninstall|publish|require|dlx|x|create|init|pip|tool)|deno-(run|eval|serve|repl)|docker-(run|exec)|sudo|env|timeout|busybox)$/;

/** "lua" for "/usr/bin/lua5.4". */
function programOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/\.exe$/i, "");
  return interpreterOf(name) === undefined ? name.toLowerCase().replace(/[\d.]+$/, "") : name;
}

/** The words before the `*` of a pattern for this command; undefined if only its exact words are safe. */
function leadingWords({ words, severity }: SimpleCommand): number | undefined {
  const [name = "", first = ""] = words;
  const pair = `${name}-${first}`;
  const runner = runnerWords(words);
  const program = programOf(words[runner] ?? "");
  const two = hasSubcommands(name) || RUNNER.test(`${name} `);
  const usual = KEEPS_THREE.test(`${name} ${first} `) ? 3 : two ? 2 : 1;
  // An interpreter's rule names the script.
  const count = interpreterOf(program) === undefined ? usual : Math.max(usual, runner + 2);
  const exact = severity === "high" || EXACT.test(name) || EXACT.test(pair) || EXACT.test(program) ||
    EXACT.test(`${program}-${words[runner + 1]}`) ||
    isShell(program) ||
    words.slice(1, count).some((word) => word.startsWith("-"));
  return exact ? undefined : count;
}

function fits(pattern: string, command: SimpleCommand): boolean {
  return pattern.length <= LONGEST && !pattern.includes("\n") && covers(pattern, command);
}

function patternOf(command: SimpleCommand): string | undefined {
  const count = leadingWords(command);
  const wide = count === undefined ? [] : [withStar(command.words.slice(0, count))];
  return [...wide, quotePattern(command.words)].find((pattern) => fits(pattern, command));
}

function withStar(words: readonly string[]): string {
  return `${quotePattern(words)} *`;
}

/** One pattern for each different simple command; undefined if one of them should not have any. */
export function suggestPatterns(verdict: CommandVerdict): readonly string[] | undefined {
  return patternsOf(verdict, patternOf);
}

/** The same with patterns of exactly the commands' words. */
export function exactPatterns(verdict: CommandVerdict): readonly string[] | undefined {
  return patternsOf(verdict, (command) => {
    const pattern = quotePattern(command.words);
    return fits(pattern, command) ? pattern : undefined;
  });
}

function patternsOf(
  verdict: CommandVerdict,
  patternOf: (command: SimpleCommand) => string | undefined,
): readonly string[] | undefined {
  if (!verdict.plain || verdict.severity === "critical") return undefined;
  const patterns = ownCommands(verdict).map(patternOf);
  const all = patterns.length > 0 && patterns.every((pattern) => pattern !== undefined);
  return all ? [...new Set(patterns)] : undefined;
}

/** These run a script or a program of the project or of a registry, with any arguments. */
const RUNS = /^(npm|pnpm|yarn|bun|deno|uv|poetry|pipenv|cargo|go|gradle|mvn)-(run|task|exec|x|dlx|start)$/;

/**
 * The narrowest pattern with a `*` that covers all of these commands: as many leading words as they share. Undefined if
 * only exact words are safe, as for interpreters, runners of packages and risky options, or if they share too little.
 * Yields after each command, because there may be thousands.
 */
export function* sharedPattern(commands: readonly SimpleCommand[]): Generator<void, string | undefined> {
  const [first = []] = commands.map(({ words }) => words);
  const differs = first.findIndex((word, at) => commands.some(({ words }) => words[at] !== word));
  const shared = first.slice(0, differs === -1 ? undefined : differs);
  if (riskyWords(shared).includes(true)) return undefined;
  const pattern = withStar(shared);
  for (const command of commands) {
    yield;
    const count = isRunner(command.words) ? undefined : leadingWords(command);
    if (count === undefined || count > shared.length || !fits(pattern, command)) return undefined;
  }
  return pattern;
}

/** The same for one command. */
export function starPattern(command: SimpleCommand): string | undefined {
  const steps = sharedPattern([command]);
  for (let step = steps.next();; step = steps.next()) if (step.done === true) return step.value;
}

function isRunner(words: readonly string[]): boolean {
  const [path = "", first = ""] = words;
  const program = programOf(path);
  return runnerWords(words) > 0 || interpreterOf(program) !== undefined || RUNS.test(`${program}-${first}`);
}
