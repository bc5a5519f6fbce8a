/** The rules that "always allow" would write: as narrow as still makes sense, and always covering the line. Pure. */
import type { CommandVerdict } from "../command.ts";
import { covers, quotePattern } from "./rules.ts";
import type { SimpleCommand } from "./walk.ts";

const LONGEST = 160;

/** Of these the first words say what they do: how many of them a rule keeps before its `*`. */
const KEEPS: Readonly<Record<string, number>> = {};
const keep = (count: number, programs: string) =>
  Object.fromEntries(programs.split(" ").map((name) => [name, count]));
Object.assign(
  KEEPS,
  keep(
    2,
    "npm pnpm yarn bun deno cargo go git docker podman kubectl helm terraform tofu gh glab pip pip3 uv poetry pdm hatch rye bundle gem composer dotnet mix stack cabal make gmake just task ninja mvn gradle gradlew mvnw ant rake invoke nox tox rustup flutter dart swift npx bunx uvx nx turbo lerna meson bazel zig rails systemctl journalctl python python3 node ruby perl php lua tsx ts-node",
  ),
  keep(
    3,
    "npm-run pnpm-run yarn-run bun-run deno-task docker-compose docker-container docker-image git-stash git-remote git-worktree gh-pr gh-issue gh-run gh-repo go-mod uv-pip uv-run poetry-run bundle-exec npm-exec pnpm-exec",
  ),
);

/** Allowed with other words than these they might do anything: only the very same words are proposed. */
const EXACT =
  /^(rm|rmdir|unlink|shred|mv|cp|ln|install|dd|tee|truncate|chmod|chown|chgrp|kill|pkill|killall|ssh|scp|sftp|rsync|curl|wget|nc|sed|awk|gawk|perl|tar|find|fd|vim|nvim|psql|mysql|sqlite3|aws|gcloud|az|crontab|cd|set|git-(push|config|rebase|clean|reset|checkout|restore)|(npm|pnpm|yarn|bun|pip3?|uv|cargo|gem|bundle|go|composer|poetry|deno|brew|apt(-get)?)-(install|i|in|ci|add|get|update|upgrade|remove|rm|uninstall|publish|require|dlx|x|create|init|pip|tool)|docker-(run|exec)|sudo|env|timeout)$/;

function patternOf(command: SimpleCommand): string | undefined {
  const { words, severity } = command;
  const [name = "", first = ""] = words;
  const pair = `${name}-${first}`;
  const count = KEEPS[pair] ?? KEEPS[name] ?? 1;
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
