/**
 * The user's git configuration for commands: identity and preferences about files, but nothing that names a
 * program, a key or another place.
 */
import { configText, listedSettings } from "./git_settings.ts";

/** Keys whose values are only names, numbers and switches. Source: git-config(1). */
const PLAIN = [
  /^user\.(name|email)$/,
  /^(author|committer)\.(name|email)$/,
  /^core\.(autocrlf|eol|safecrlf|filemode|ignorecase|precomposeunicode|quotepath|whitespace|abbrev|symlinks)$/,
  /^core\.(longpaths|protecthfs|protectntfs|untrackedcache|commentchar|commentstring|checkstat|trustctime)$/,
  /^safe\.directory$/,
  /^init\.defaultbranch$/,
  /^(diff\.(algorithm|renames|renamelimit|mnemonicprefix|noprefix|colormoved|submodule|wserrorhighlight|context))$/,
  /^(merge\.(conflictstyle|renames|ff)|pull\.(rebase|ff)|push\.default|rebase\.(autosquash|autostash|updaterefs))$/,
  /^(log\.(date|abbrevcommit|decorate|follow)|blame\.date|status\.\w+|fetch\.prune|branch\.sort|tag\.sort)$/,
  /^(rerere\.enabled|commit\.(verbose|cleanup)|column\.\w+|grep\.(linenumber|patterntype)|apply\.whitespace)$/,
];

/** @param listed output of `git config --global --includes --list -z` */
export function plainGitConfig(listed: string): string {
  return configText(listedSettings(listed).filter(({ key }) => PLAIN.some((plain) => plain.test(key))));
}
