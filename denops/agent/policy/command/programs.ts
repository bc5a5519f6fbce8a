/** What programs do, as data: those whose first operand says what they do, and those that always do the same. */
import { type Arguments, has, names, readArguments } from "./options.ts";
import { UNKNOWN } from "./places.ts";
import { HARMLESS, judged, type Judgement, worst } from "./severity.ts";
import { HARMLESS_OPTIONS, type Program, type Row } from "./program.ts";
import { TOOLS } from "./tools.ts";

/** They read, print or compute, whatever their arguments are. */
const READERS =
  "ls dir vdir cat tac head tail wc nl cut tr paste fold fmt pr col column expand unexpand comm join look rev od hexdump hexyl " +
  "cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum md5 grep egrep fgrep zgrep zcat bzcat xzcat zstdcat " +
  "echo pwd which whereis type true false test [ : whoami id groups logname arch nproc uptime free lscpu lsblk lsusb lspci tty getconf " +
  "seq sleep basename dirname realpath readlink stat du df diff cmp colordiff jq tsort factor expr numfmt cal tput clear locate apropos whatis " +
  "users who w ps pstree pgrep pidof vmstat iostat printenv locale otool readelf tokei uname netstat top shellcheck exa eza lsb_release sw_vers " +
  "cd pushd popd dirs return exit break continue shift local declare typeset readonly export read unset getopts let times caller suspend disown wait jobs umask ulimit fg bg logout";

/** Harmless without these options. */
const READERS_WITH_OPTIONS: Readonly<Record<string, Partial<Program>>> = {
  rg: { options: [["high", "--pre --hostname-bin", "starts a program for each file"]] },
  "nm objdump size strings": {
    options: [["high", "--plugin", "loads a library"]],
    optionFiles: true,
  },
  "base64 base32 uuidgen": { options: [["medium", "-o --output", "writes a file"]] },
  info: { options: [["medium", "-o --output --dribble", "writes a file"]] },
  lsof: { options: [["medium", "-D", "writes a file"]] },
  cloc: {
    harmless:
      "--by-file --by-percent --csv --md --xml --yaml --exclude-dir --exclude-ext --include-lang --include-ext --vcs=git --hide-rate --sum-one --skip-uniqueness --not-match-d --match-d",
  },
  scc: {
    harmless:
      "--by-file -i --include-ext -x --exclude-ext --exclude-dir -s --sort -w --wide -c --no-complexity -d --no-duplicates --no-cocomo -f",
  },
  ag: { options: [["high", "--pager", "starts a program"]] },
  ack: { options: [["high", "--pager --output", "starts a program"]] },
  "fd fdfind": {
    valued: "-e -t -d -E -c -j -S -o --extension --type --max-depth --exclude",
    options: [["high", "-x -X --exec --exec-batch", "starts a program for each file"]],
  },
  sort: {
    options: [["high", "--compress-program", "starts a program"], ["medium", "-o --output", "writes a file"]],
  },
  "shuf iconv xmllint": { options: [["medium", "-o --output", "writes a file"]] },
  tree: {
    valued: "-L -P -I -H -T --filelimit",
    options: [["medium", "-o -R --output", "writes files"]],
  },
  "sdiff diff3": { options: [["high", "--diff-program -o --output", "starts a program or writes a file"]] },
  file: { options: [["medium", "-C --compile", "writes a file"]] },
  "bat batcat delta": {
    options: [["high", "--pager --lessopen --config-file", "starts a program"]],
    subcommands: [["medium", "cache", "writes files"]],
    harmless:
      "-n --number -p --plain -pp -l --language -r --line-range -H --highlight-line --style --theme --paging --decorations --wrap -A --show-all --tabs --terminal-width -L --list-languages --list-themes --side-by-side -s --line-numbers --dark --light",
  },
  yq: { options: [["medium", "-i --inplace --in-place -s --split-exp", "changes a file"]] },
  date: {
    valued: "-d -f -r --date --file --reference",
    options: [["high", "-s --set", "sets the clock"]],
    operands: [0, "high", "sets the clock"],
  },
  hostname: {
    options: [["high", "-b -F --boot --file", "sets the machine's name"]],
    operands: [0, "high", "sets the machine's name"],
  },
  ifconfig: { operands: [1, "high", "changes the network"] },
  mktemp: { valued: "-p --tmpdir --suffix", operands: [-1, "medium", "makes a file"] },
  hash: { options: [["high", "-p", "changes which program a name means"]] },
  compgen: { options: [["high", "-C -F -W", "starts a program"]] },
  "mapfile readarray": { options: [["high", "-C", "starts a program"]] },
  history: { options: [["medium", "-c -d -w -a -r -n -s", "changes the history"]] },
  journalctl: {
    options: [[
      "high",
      "--rotate --vacuum-size --vacuum-time --vacuum-files --flush --setup-keys --relinquish-var --smart-relinquish-var --sync --update-catalog --cursor-file",
      "changes or deletes logs",
    ]],
  },
  dmesg: {
    options: [[
      "high",
      "-c -C --clear --read-clear -D -E -n --console-level --console-off --console-on",
      "changes the log",
    ]],
  },
  ss: { options: [["high", "-K --kill", "ends connections"], ["medium", "-D --diag", "writes a file"]] },
};

const TABLE = new Map<string, Program>();
const READS: Program = { base: ["none", "only reads"] };
for (const name of READERS.split(" ")) TABLE.set(name, READS);
for (const [names, program] of Object.entries(READERS_WITH_OPTIONS)) {
  for (const name of names.split(" ")) TABLE.set(name, { ...READS, ...program });
}
for (const [names, tool] of Object.entries(TOOLS)) for (const name of names.split(" ")) TABLE.set(name, tool);

export function programOf(name: string): Program | undefined {
  return TABLE.get(name);
}

/** What it does depends on its first operand: a rule on its name alone is one on all that it does. */
export function hasSubcommands(name: string): boolean {
  return name === "git" || TABLE.get(name)?.subcommands !== undefined;
}

/** The row whose names are the first operands; of several the longest. */
function rowOf(rows: readonly Row[], operands: readonly string[]): Row | undefined {
  const [first = "", second = "", third = ""] = operands;
  for (const wanted of [`${first} ${second} ${third}`, `${first} ${second}`, first]) {
    const found = rows.find(([, cell]) => cells(cell).has(wanted));
    if (found !== undefined && wanted.trim() !== "") return found;
  }
  return undefined;
}

const CELLS = new Map<string, ReadonlySet<string>>();

function cells(cell: string): ReadonlySet<string> {
  const known = CELLS.get(cell) ?? new Set(cell.split(",").map((name) => name.trim()));
  CELLS.set(cell, known);
  return known;
}

export function judgeByTable(program: Program, args: readonly string[]): Judgement {
  const given = readArguments(args, program.valued);
  const row = rowOf(program.subcommands ?? [], given.operands);
  const [severity, reason] = row === undefined ? program.base : [row[0], row[2]];
  const found = [judged(severity, reason, { writes: severity !== "none" })];
  for (const [worse, options, why] of program.options ?? []) {
    if (has(given, options)) found.push(judged(worse, why, { writes: worse !== "none" }));
  }
  const limit = program.operands;
  if (limit !== undefined && given.operands.length > limit[0] && !isDateFormat(given)) {
    found.push(judged(limit[1], limit[2], { writes: true }));
  }
  if (severity === "none" && (program.harmless ?? program.subcommands) !== undefined) {
    const odd = oddOption(args, program);
    if (odd !== undefined) {
      found.push(judged("medium", `takes an option of unknown effect, ${odd}`, { writes: true }));
    }
  }
  if (program.optionFiles && given.operands.some((operand) => operand.startsWith("@"))) {
    found.push(judged("medium", "takes further options from a file", { writes: true }));
  }
  if (
    severity === "none" && program.subcommands !== undefined && given.operands.some((one) => REMOTE.test(one))
  ) {
    found.push(judged("medium", "reads from the network", { network: true, writes: true }));
  }
  if (mayHideOption(program, args)) {
    found.push(judged("medium", "takes an option that is only known when it runs", { writes: true }));
  }
  const network = program.network === true ||
    (typeof program.network === "string" &&
      rowOf([["none", program.network, ""]], given.operands) !== undefined);
  const judgement = worst(...found, HARMLESS);
  return { ...judgement, network: network || judgement.network };
}

const REMOTE = /^(https?|ftp|npm|jsr|git|ssh):/;

/**
 * The first option that is not known to be harmless. What only reads may do anything else by an option of which nobody
 * thought: so these are listed, not the others.
 */
export function oddOption(args: readonly string[], { harmless = "", valued }: Program): string | undefined {
  const [own, common, takes] = [names(harmless), names(HARMLESS_OPTIONS), names(valued ?? "")];
  const known = (name: string) => own.has(name) || common.has(name);
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (arg === "--") return undefined;
    if (!/^[-+]./.test(arg) || /^[-+]\d+$/.test(arg)) continue;
    const name = arg.replace(/=.*$/s, "");
    if (known(arg) || known(name)) {
      if (takes.has(arg)) at++;
      continue;
    }
    const letters = /^-[^-]/.test(name) ? [...name.slice(1)].map((letter) => `-${letter}`) : [name];
    const [first = ""] = letters;
    if (!(takes.has(first) && known(first)) && !letters.every(known)) return name.slice(0, 40);
  }
  return undefined;
}

function isDateFormat(given: Arguments): boolean {
  return given.operands.every((operand) => operand.startsWith("+"));
}

/** `sort $X` may be `sort --compress-program=…`: only programs with such options are in doubt. */
function mayHideOption(program: Program, args: readonly string[]): boolean {
  if (program.options === undefined && program.subcommands === undefined) return false;
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? undefined : end).some((arg) => arg.startsWith(UNKNOWN));
}

/** They load what the project says before they look at their arguments, or hand over to the project's own copy. */
const OBEYS_PROJECT = names(
  "yarn pnpm pytest py.test tox nox gradle mvn sbt bazel bazelisk buck pants rails rake spring rspec jest vitest ava lerna nx turbo ng gulp grunt serverless sls expo hatch poetry pdm composer bundle bundler vagrant fastlane pod mix flutter helmfile terragrunt",
);

/** Programs that a version or help option stops from doing anything else. */
export function asksVersion(name: string, args: readonly string[]): boolean {
  const [only] = args;
  if (args.length !== 1 || only === undefined || OBEYS_PROJECT.has(name)) return false;
  if (only === "--version" || only === "--help") return true;
  return VERSION_FLAGS.test(`${name} ${only}`);
}

/** Not `python -v` or `ninja -v`, which run what they are given. */
const VERSION_FLAGS =
  /^((node|npm|npx|bun|php|ruby|perl|jq|make|lua|nvim|tsc) -v|(python[\d.]*|pip[\d.]*|deno|rustc|cargo|cmake|perl|ssh|rg|tmux) -V|(gcc|clang|ghc) --version|(go|docker|podman|kubectl|helm|terraform|zig|openssl|hugo|buf) version|java -version|javac -version)$/;
