/** The rules that "always allow" would write: as narrow as still makes sense, and always covering the line. Pure. */
import type { CommandVerdict } from "../command.ts";
import { hasSubcommands } from "./programs.ts";
import { RUNNER } from "./risky.ts";
import { covers, quotePattern } from "./rules.ts";
import { interpreterOf } from "./shells.ts";
import type { SimpleCommand } from "./walk.ts";

const LONGEST = 160;

/** Of what has subcommands a rule keeps two words before its `*`, and of these three. */
const KEEPS_THREE =
  /^((npm|pnpm|yarn|bun) run|deno task|docker (compose|container|image)|git (stash|remote|worktree)|gh (pr|issue|run|repo)|go mod|uv pip|((uv|poetry) run|bundle exec|(npm|pnpm) exec)) /;

/** Allowed with other words than these they might do anything: only the very same words are proposed. */
const EXACT =
  /^(rm|rmdir|unlink|shred|mv|cp|ln|install|dd|tee|truncate|chmod|chown|chgrp|kill|pkill|killall|ssh|scp|sftp|rsync|curl|wget|nc|sed|awk|gawk|perl|tar|find|fd|vim|nvim|psql|mysql|sqlite3|aws|gcloud|az|crontab|cd|set|git-(push|config|rebase|clean|reset|checkout|restore)|(npm|pnpm|yarn|bun|pip3?|uv|cargo|gem|bundle|go|composer|poetry|deno|brew|apt(-get)?)-(install|i|in|ci|add|get|update|upgrade|remove|rm|uninstall|publish|require|dlx|x|create|init|pip|tool)|docker-(run|exec)|sudo|env|timeout)$/;

function patternOf(command: SimpleCommand): string | undefined {
  const { words, severity } = command;
  const [name = "", first = ""] = words;
  const pair = `${name}-${first}`;
  const two = hasSubcommands(name) || interpreterOf(name) !== undefined || RUNNER.test(`${name} `);
  const count = KEEPS_THREE.test(`${name} ${first} `) ? 3 : two ? 2 : 1;
  const exact = severity === "high" || EXACT.test(name) || EXACT.test(pair) ||
    words.slice(1, count).some((word) => word.startsWith("-"));
  const wide = exact ? [] : [`${quotePattern(words.slice(0, count))} *`];
  return [...wide, quotePattern(words)].find((pattern) =>
    pattern.length <= LONGEST && !pattern.includes("\n") && covers(pattern, command)
  );
}

/** The simple commands that rules have to cover. */
export function ownCommands({ commands }: CommandVerdict): readonly SimpleCommand[] {
  return commands.filter(({ inner, words }) => !inner && words.length > 0);
}

/** One pattern for each different simple command; undefined if any of them should not have one. */
export function suggestPatterns(verdict: CommandVerdict): readonly string[] | undefined {
  if (!verdict.plain || verdict.severity === "critical") return undefined;
  const patterns = ownCommands(verdict).map(patternOf);
  const found = patterns.flatMap((pattern) => pattern === undefined ? [] : [pattern]);
  return found.length > 0 && found.length === patterns.length ? [...new Set(found)] : undefined;
}
