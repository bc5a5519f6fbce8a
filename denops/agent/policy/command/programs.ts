/** What programs do, as data: those whose first operand says what they do, and those that always do the same. */
import { type Arguments, has, readArguments } from "./options.ts";
import { UNKNOWN } from "./places.ts";
import { HARMLESS, judged, type Judgement, worst } from "./severity.ts";
import type { Program, Row } from "./program.ts";
import { TOOLS } from "./tools.ts";

/** They read, print or compute, whatever their arguments are. */
const READERS =
  "ls dir vdir cat tac head tail wc nl cut tr paste fold fmt pr col column expand unexpand comm join look rev od hexdump hexyl strings " +
  "cksum sum md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum shasum md5 base32 base64 grep egrep fgrep zgrep zcat bzcat xzcat zstdcat " +
  "echo pwd which whereis type true false test [ : whoami id groups logname arch nproc uptime free lscpu lsblk lsusb lspci tty getconf getent " +
  "seq sleep basename dirname realpath readlink stat du df diff cmp colordiff jq tsort factor expr numfmt cal uuidgen tput clear locate apropos whatis info " +
  "users who w ps pstree pgrep pidof lsof vmstat iostat printenv locale nm size otool objdump readelf cloc tokei scc uname netstat top shellcheck exa eza lsb_release sw_vers " +
  "cd pushd popd dirs set shopt return exit break continue shift local declare typeset readonly export read unset getopts let times caller suspend disown wait jobs umask ulimit fg bg logout";

/** Harmless without these options. */
const READERS_WITH_OPTIONS: Readonly<Record<string, Partial<Program>>> = {
  rg: { options: [["high", "--pre --hostname-bin", "starts a program for each file"]] },
  ag: { options: [["high", "--pager", "starts a program"]] },
  ack: { options: [["high", "--pager --output", "starts a program"]] },
  "fd fdfind": { options: [["high", "-x -X --exec --exec-batch", "starts a program for each file"]] },
  sort: {
    options: [["high", "--compress-program", "starts a program"], ["medium", "-o --output", "writes a file"]],
  },
  "shuf iconv xmllint tree": { options: [["medium", "-o --output", "writes a file"]] },
  "sdiff diff3": { options: [["high", "--diff-program -o --output", "starts a program or writes a file"]] },
  file: { options: [["medium", "-C --compile", "writes a file"]] },
  "bat batcat delta": { options: [["high", "--pager", "starts a program"]] },
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
  printf: { options: [["medium", "-v", "sets a variable"]] },
  hash: { options: [["high", "-p", "changes which program a name means"]] },
  compgen: { options: [["high", "-C -F", "starts a program"]] },
  "mapfile readarray": { options: [["high", "-C", "starts a program"]] },
  history: { options: [["medium", "-c -d -w -a -r", "changes the history"]] },
  journalctl: {
    options: [[
      "high",
      "--rotate --vacuum-size --vacuum-time --vacuum-files --flush --setup-keys",
      "deletes logs",
    ]],
  },
  dmesg: { options: [["high", "-c -C --clear --read-clear -D -E", "clears the log"]] },
  ss: { options: [["high", "-K --kill", "ends connections"]] },
  ip: {
    subcommands: [[
      "high",
      "link set, link add, link del, addr add, addr del, address add, address del, a add, a del, route add, route del, route flush, netns exec, netns add, netns del",
      "changes the network",
    ]],
  },
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
  if (mayHideOption(program, args)) {
    found.push(judged("medium", "takes an option that is only known when it runs", { writes: true }));
  }
  const network = program.network === true ||
    (typeof program.network === "string" &&
      rowOf([["none", program.network, ""]], given.operands) !== undefined);
  return { ...worst(...found, HARMLESS), network };
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

/** Programs that a version or help option stops from doing anything else. */
export function asksVersion(name: string, args: readonly string[]): boolean {
  const [only] = args;
  if (args.length !== 1 || only === undefined) return false;
  if (only === "--version" || only === "--help") return true;
  return VERSION_FLAGS.test(`${name} ${only}`);
}

const VERSION_FLAGS =
  /^((node|npm|npx|yarn|pnpm|bun|php|ruby|perl|ghc) -v|(python[\d.]*|pip[\d.]*|deno|rustc|cargo|clang|gcc|cmake|ruby|perl|ssh|rg|jq|make|bun|ninja) (-V|-v)|(go|docker|podman|kubectl|helm|terraform|deno|zig|flutter|openssl|hugo|buf) version|java -version|javac -version|kubectl version|lua -v|tmux -V|nvim -v|vim -v)$/;
