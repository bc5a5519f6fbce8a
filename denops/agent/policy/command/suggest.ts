/** The rules that "always allow" would write: as narrow as still makes sense. Pure. */
import type { SimpleCommand } from "./findings.ts";
import { UNKNOWN } from "./places.ts";
import { quotePattern } from "./rules.ts";
import { isPlainVariable } from "./variables.ts";

const LONGEST = 160;

/** Programs of which the first words say what they do: how many words a rule on them keeps. */
const KEEPS = new Map<string, number>();
for (
  const [count, programs] of [
    [
      2,
      "npm pnpm yarn bun deno cargo go git docker podman kubectl helm terraform tofu gh glab pip pip3 uv poetry pdm hatch rye bundle gem composer dotnet mix stack cabal make gmake just task ninja mvn gradle gradlew mvnw ant rake invoke nox tox rustup flutter dart swift brew apt npx bunx uvx conda nx turbo lerna meson cmake bazel zig rails systemctl journalctl python python3 node ruby perl php lua bash sh tsx ts-node Rscript julia",
    ],
    [
      3,
      "npm-run pnpm-run yarn-run bun-run deno-task docker-compose docker-container docker-image cargo-run python--m python3--m git-stash git-remote git-worktree git-submodule gh-pr gh-issue gh-run gh-repo go-mod uv-pip uv-run poetry-run bundle-exec npm-exec pnpm-exec",
    ],
  ] as const
) for (const name of programs.split(" ")) KEEPS.set(name, count);

/** A wildcard after these would allow far more than anybody means: only the very same words are. */
const EXACT_ONLY = new Set(
  "rm rmdir unlink shred mv cp ln install dd tee truncate chmod chown chgrp kill pkill killall sudo doas su env xargs parallel eval source . trap ssh scp sftp rsync curl wget nc ncat socat sed awk gawk perl tar find fd rg sort vim nvim vi ex psql mysql sqlite3 mongosh redis-cli aws gcloud az crontab at screen tmux expect osascript docker-run docker-exec git-push git-config git-rebase git-clean npm-publish alias export command exec builtin nohup timeout watch script strace flock"
    .split(" "),
);

/** The words a rule for this command keeps; undefined where none is sensible. */
function patternOf(command: SimpleCommand): string | undefined {
  const { words, severity, dynamic, redirects, assignments } = command;
  const [name = "", first = ""] = words;
  if (dynamic || words.length === 0 || redirects.length > 0) return undefined;
  if (severity === "critical" || !assignments.every(isPlainVariable)) return undefined;
  const unknown = words.some((word) => word.includes(UNKNOWN));
  const exact = severity === "high" || EXACT_ONLY.has(name) || EXACT_ONLY.has(`${name}-${first}`) ||
    first.startsWith("-") && (KEEPS.get(`${name}-${first}`) ?? 0) === 0 && KEEPS.has(name);
  const keep = exact
    ? words.length
    : Math.min(words.length, KEEPS.get(`${name}-${first}`) ?? KEEPS.get(name) ?? 1);
  const kept = words.slice(0, keep);
  if (kept.some((word) => word.includes(UNKNOWN) || word.includes("\n")) || (exact && unknown)) {
    return undefined;
  }
  const pattern = exact ? quotePattern(kept) : `${quotePattern(kept)} *`;
  return pattern.length > LONGEST ? undefined : pattern;
}

/** One rule for each different simple command; undefined if any of them should not have one. */
export function suggestPatterns(commands: readonly SimpleCommand[]): readonly string[] | undefined {
  const found = new Set<string>();
  for (const command of commands) {
    if (command.transparent) continue;
    const pattern = patternOf(command);
    if (pattern === undefined) return undefined;
    found.add(pattern);
  }
  return found.size > 0 ? [...found] : undefined;
}
