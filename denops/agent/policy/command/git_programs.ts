/** What git's subcommands do, as rows of programs.ts. Data only. */
import type { Row } from "./programs.ts";

const DISCARDS = "discards changes";

export const GIT_ROWS: readonly Row[] = [
  [
    "medium",
    "look",
    "starts a program",
    "git diff|log|show|blame|annotate|grep|whatchanged --ext-diff|--textconv|-O|--open-files-in-pager, git help -w|-i|--web",
  ],
  [
    "none",
    "look",
    "only reads",
    "git $, git status|log|diff|show|blame|annotate|rev-parse|rev-list|ls-files|ls-tree|cat-file|describe|shortlog|name-rev|merge-base|for-each-ref|show-ref|show-branch|var|version|help|whatchanged|count-objects|diff-tree|diff-index|diff-files|cherry|range-diff|check-ignore|check-attr|check-mailmap|check-ref-format|verify-commit|verify-tag|verify-pack|grep|get-tar-commit-id|patch-id|stripspace|column|merge-tree|fmt-merge-msg, git fsck !--lost-found, git hash-object !-w, git interpret-trailers !--in-place",
  ],
  [
    "none",
    "look",
    "only reads",
    "git branch -l|--list|--show-current|--contains|--no-contains|--merged|--no-merged|--points-at !-d|-D|-m|-M|-c|-C|-f, git branch $ !-d|-D|-m|-M|-c|-C|-f|-u|--edit-description|--unset-upstream, git tag $ !-d|-f|-a|-s|-m, git tag -l|--list|-n|--contains|--merged|--points-at|-v|--verify !-d|-f|-a|-s|-m, git remote $ !-u, git remote get-url, git remote show $, git stash list|show, git worktree|sparse-checkout list, git submodule $, git submodule status|summary, git notes $, git notes list|show, git bisect log|terms, git lfs ls-files|status|env|version, git symbolic-ref . $ !-d|--delete|-m",
  ],
  [
    "none",
    "look",
    "only reads",
    "git config -l|--list|--get|--get-all|--get-regexp|--get-urlmatch, git config list|get, git config . $ !--unset|--unset-all|--remove-section|--rename-section|--add|--replace-all|-e|--edit, git clean -n|--dry-run !-f|--force|--no-dry-run|-i, git apply --stat|--numstat|--summary|--check !--apply|--build-fake-ancestor|--index|--cached|-3",
  ],
  ["high", "git", "deletes the record of old commits", "git reflog expire|delete|drop"],
  ["none", "look", "only reads", "git reflog"],
  ["none", "look", "asks another repository", "git ls-remote, git remote show", "network"],
  ["high", "git", "publishes commits", "git push|send-email, git lfs push", "network"],
  ["high", "git", "serves the repository", "git daemon|http-backend|instaweb|p4|svn", "network"],
  ["high", "git", "rewrites history", "git filter-branch|filter-repo|replace|update-ref"],
  [
    "high",
    "git",
    DISCARDS,
    "git reset --hard|--merge|--keep, git clean|restore, git checkout -f|--force|--ours|--theirs|-p|--patch, git switch -f|--force|--discard-changes, git checkout . . !-b|-B|-t|--track|--orphan, git stash drop|clear, git worktree remove, git worktree|submodule -f|--force, git rm -r|-f|--force",
  ],
  [
    "high",
    "git",
    "moves or deletes branches or tags",
    "git checkout|switch -B|-C|--force-create|--orphan, git branch -D|-M|-C|-f|--force, git tag -d|--delete|-f|--force",
  ],
  ["high", "git", "deletes unreachable commits", "git prune, git gc|repack --prune|--aggressive|-A|-D"],
  ["high", "git", "goes around the hooks", "git commit -n|--no-verify, git merge|am|cherry-pick --no-verify"],
  [
    "high",
    "git",
    "runs commands on each commit",
    "git rebase -x|--exec|-i|--interactive, git submodule foreach, git bisect run|visualize|view, git difftool|mergetool",
  ],
  ["high", "git", "changes where commits are sent", "git remote set-url|add|remove|rm|rename"],
  ["high", "git", "changes git's settings", "git config"],
  ["high", "look", "reads or writes passwords", "git credential|credential-store|credential-cache"],
  ["medium", "write", "downloads a repository", "git clone", "network"],
  [
    "medium",
    "git",
    "downloads commits",
    "git fetch|pull, git remote update|prune, git submodule update|add, git lfs",
    "network",
  ],
  ["medium", "write", "writes a file", "git archive|bundle|format-patch, git apply !--index|--cached|-3"],
  ["medium", "git", "stages files", "git add|rm|mv"],
  ["medium", "git", "commits", "git commit"],
  ["medium", "git", "changes the repository", "git"],
];
