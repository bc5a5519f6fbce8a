/**
 * The user's git configuration as commands see it: who they are and how they like their files, and nothing that names a
 * program, a key or another place.
 */

/** Keys whose values are names, numbers and switches alone. Source: git-config(1). */
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

/** @param listed what `git config --global --includes --list -z` prints */
export function plainGitConfig(listed: string): string {
  const lines: string[] = [];
  for (const entry of listed.split("\0")) {
    const [key = "", ...rest] = entry.split("\n");
    const [section, ...names] = key.split(".");
    if (!PLAIN.some((plain) => plain.test(key.toLowerCase()))) continue;
    // Without a line break the value was not given: that is true.
    const value = rest.length === 0 ? "true" : quoted(rest.join("\n"));
    lines.push(`[${section}]\n\t${names.join(".")} = ${value}\n`);
  }
  return lines.join("");
}

function quoted(value: string): string {
  const escaped = value.replace(/[\\"]/g, "\\$&").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
  return `"${escaped}"`;
}
