/** Judges one simple command: whoever it is known as, the one that knows it best says what it does. */
import { judgeEditor, judgeRsync, judgeTar, judgeZip } from "./archives.ts";
import { judgeAwk } from "./awk.ts";
import { judgeSed } from "./filters.ts";
import {
  judgeCopy,
  judgeDd,
  judgeFind,
  judgeKill,
  judgeMode,
  judgeRemove,
  judgeSecondOperand,
  judgeWriters,
} from "./files.ts";
import { judgeGit } from "./git.ts";
import {
  interpreterOf,
  judgeEval,
  judgeInterpreter,
  judgeShell,
  judgeSource,
  judgeTrap,
  runFile,
  SHELLS,
} from "./interpreters.ts";
import {
  judgeClient,
  judgeCloud,
  judgeContainer,
  judgeCurl,
  judgeDatabase,
  judgeSsh,
  judgeWget,
} from "./network.ts";
import { judgeRead, UNKNOWN } from "./places.ts";
import { asksVersion, judgeByTable, programOf } from "./programs.ts";
import type { Judge, Scene } from "./scene.ts";
import { HARMLESS, judged, type Judgement, worst } from "./severity.ts";
import { judgeGetent, judgeIp, judgeLister } from "./listers.ts";
import { judgePrintf, judgeSet, judgeShopt } from "./shell_state.ts";
import { judgeXargs, unwrap } from "./wrappers.ts";

const JUDGES = new Map<string, Judge>();
for (
  const [programs, judge] of [
    ["rm rmdir unlink shred trash srm wipe", judgeRemove],
    ["cp mv install ln link gcp gmv", judgeCopy],
    ["tee touch mkdir truncate sponge fallocate", judgeWriters],
    ["dd dcfldd", judgeDd],
    ["chmod chown chgrp", judgeMode],
    ["kill pkill killall xkill skill taskkill", judgeKill],
    ["find gfind", judgeFind],
    ["uniq xxd", judgeSecondOperand],
    ["sed gsed", judgeSed],
    ["awk gawk mawk nawk", judgeAwk],
    ["tar gtar bsdtar star", judgeTar],
    ["rsync", judgeRsync],
    ["zip", judgeZip],
    ["vi vim nvim view gvim rvim ex ed red less more most man", judgeEditor],
    ["git", judgeGit],
    ["curl", judgeCurl],
    ["wget", judgeWget],
    ["ssh scp sftp mosh autossh rsh rlogin sshpass", judgeSsh],
    [
      "nc ncat netcat socat telnet ftp lftp tftp aria2c axel http https xh xhs lynx w3m links fetch ping ping6 dig nslookup host whois traceroute mtr tracepath websocat grpcurl",
      judgeClient,
    ],
    [
      "psql mysql mariadb sqlite sqlite3 duckdb mongo mongosh redis-cli cqlsh clickhouse-client influx sqlcmd",
      judgeDatabase,
    ],
    [
      "aws gcloud az doctl linode-cli oci aliyun ibmcloud scw hcloud gsutil bq s3cmd rclone mc azcopy sam serverless sls",
      judgeCloud,
    ],
    ["xargs gxargs", judgeXargs],
    ["printf", judgePrintf],
    ["ip", judgeIp],
    ["getent", judgeGetent],
    ["unzip zipinfo gzip gunzip xz bzip2 zstd ar dpkg dpkg-query rpm pacman", judgeLister],
    ["set", judgeSet],
    ["shopt", judgeShopt],
    ["eval", judgeEval],
    ["source .", judgeSource],
    ["trap", judgeTrap],
    [SHELLS.join(" "), judgeShell],
  ] as const
) for (const name of programs.split(" ")) JUDGES.set(name, judge);

JUDGES.set(
  "crontab",
  (args) =>
    args.includes("-l") && !args.some((arg) => /^-[reiT]$/.test(arg))
      ? HARMLESS
      : judged("high", "runs commands later", { writes: true }),
);
/** What makes unreadable text readable: with a shell behind it, it hides commands. */
const DECODERS =
  /^(base64|base32|basenc|uudecode|xxd|openssl|gunzip|zcat|bzcat|xzcat|bunzip2|gpg|rev|tr|uncompress|zstdcat)$/;

/** They name files without reading what is in them. */
const NAMES_ONLY =
  /^(ls|dir|test|\[|stat|basename|dirname|realpath|readlink|echo|printf|touch|mkdir|cd|pushd|du|df|find|fd|which|type|:|true|false|git|rm|rmdir|unlink|chmod|chown|ln|mv|export|declare|local|readonly|typeset|set|curl|wget)$/;

/** The folders in which a program of a known name is that program. */
const SYSTEM_FOLDERS = /^(\/usr\/local|\/usr|\/opt\/homebrew|\/opt\/local)?\/s?bin\/[^/]+$/;

/** As what a command is judged whose name is only known when it runs. */
const SUSPECTS = ["rm", "sh", "dd", "chmod", "chown", "mv", "tee"];

/** Programs whose words, found among another's arguments, are looked at on their own: `unknown-wrapper rm -rf /`. */
const TELLING = new Set([
  ...SUSPECTS,
  "mkfs",
  "shred",
  "bash",
  "zsh",
  "sudo",
  "curl",
  "wget",
  "python",
  "python3",
  "perl",
  "node",
  "find",
  "git",
  "kill",
  "shutdown",
  "reboot",
  "mkfs.ext4",
  "truncate",
  "tee",
  "eval",
  "xargs",
  "env",
  "nc",
]);
const MOST_TELLING = 4;
/** More words than these are not tried on suspicion. */
const MOST_SUSPECTED = 200;

export interface Verdict {
  readonly judgement: Judgement;
  readonly transparent: boolean;
}

/** @param dynamic the name does not stand in the text: a variable, a substitution, a glob */
export function judgeWords(words: readonly string[], dynamic: boolean, scene: Scene): Verdict {
  const [name = "", ...args] = words;
  if (name.includes(UNKNOWN) || /[*?]|\[.+\]/.test(name)) return opaque(judgeUnknownName(words, scene));
  const program = programName(name);
  const found = judgeProgram([program, ...args], scene);
  const extra: Judgement[] = [];
  if (dynamic) extra.push(judged("high", "hides the name of the program", { writes: true }));
  if (!isTrusted(name)) extra.push(runFile(name, scene, "shell"));
  if (/^(!!|![-$^*?\w]|\^[^^]+\^)/.test(name)) extra.push(judged("high", "repeats a line of the history"));
  if (!NAMES_ONLY.test(program)) { for (const arg of args) extra.push(judgeArgument(arg, scene)); }
  if (DECODERS.test(program)) scene.note({ kind: "decodes" });
  return {
    judgement: worst(found.judgement, ...extra),
    transparent: found.transparent && extra.every((one) => one.severity === "none"),
  };
}

function opaque(judgement: Judgement): Verdict {
  return { judgement, transparent: false };
}

/** Without its folder; in small letters if only that makes it known, as some file systems ignore case. */
function programName(name: string): string {
  const base = name.slice(name.lastIndexOf("/") + 1).replace(/\.exe$/i, "");
  const small = base.toLowerCase();
  return base !== small && !knows(base) && knows(small) ? small : base;
}

/** True if the name alone says what the program does. */
export function knows(name: string): boolean {
  return JUDGES.has(name) || programOf(name) !== undefined || interpreterOf(name) !== undefined;
}

/** `./ls` need not be ls; neither is `LS` on most systems. */
function isTrusted(name: string): boolean {
  if (name.includes("/")) return SYSTEM_FOLDERS.test(name);
  return true;
}

function judgeProgram(words: readonly string[], scene: Scene): Verdict {
  const [name = "", ...args] = words;
  if (asksVersion(name, args)) return opaque(HARMLESS);
  if (/^(docker|podman|nerdctl)$/.test(name) && /^(run|create)$/.test(args[0] ?? "")) {
    return opaque(judgeContainer(args.slice(1), scene, name));
  }
  const unwrapped = unwrap(words, scene);
  if (unwrapped !== undefined) return unwrapped;
  const judge = JUDGES.get(name);
  if (judge !== undefined) {
    const judgement = judge(args, scene, name);
    return {
      judgement,
      transparent: (judge === judgeShell || judge === judgeEval) && judgement.severity === "none",
    };
  }
  const program = programOf(name);
  if (interpreterOf(name) !== undefined && (program === undefined || !isSubcommand(args))) {
    return opaque(judgeInterpreter(args, scene, name));
  }
  for (const arg of args) {
    const [, text] = /\$\(shell\s+(.*)\)/s.exec(arg) ?? [];
    if (text !== undefined && /make$|^ninja$/.test(name)) scene.shell(text);
  }
  if (program !== undefined) {
    return opaque(
      worst(judgeByTable(program, args), program.base[0] === "none" ? HARMLESS : lookInside(args, scene)),
    );
  }
  if (/^(mkfs|fsck|newfs)[._]/.test(name)) {
    return opaque(judged("critical", "changes disks", { writes: true }));
  }
  const unknown = judged("medium", `runs ${name === "" ? "something" : name}, which is not known`, {
    writes: true,
    network: args.some((arg) => /^(https?|ftp|ssh|git):\/\//.test(arg)),
  });
  return opaque(worst(unknown, lookInside(args, scene)));
}

/** deno and bun are interpreters for scripts and tools for their subcommands. */
function isSubcommand(args: readonly string[]): boolean {
  const first = args.find((arg) => !arg.startsWith("-")) ?? "";
  return /^[a-z]+$/.test(first) && first !== "run" && first !== "eval" && first !== "serve";
}

/** Arguments may be another command's words or text for a shell, in ways that no table knows. */
function lookInside(args: readonly string[], scene: Scene): Judgement {
  const found: Judgement[] = [];
  let looked = 0;
  for (const [index, arg] of args.entries()) {
    const words = TELLING.has(arg.slice(arg.lastIndexOf("/") + 1))
      ? args.slice(index, index + MOST_SUSPECTED)
      : undefined;
    const text = words === undefined && /\s/.test(arg) && /[$`;|&>]|\b(rm|mkfs|dd|sh|bash)\b/.test(arg)
      ? arg
      : undefined;
    const inside = words ?? text;
    if (inside === undefined || looked++ >= MOST_TELLING) continue;
    const severity = scene.suppose(inside);
    if (severity === "critical") {
      found.push(judged("critical", "may run a destructive command that it is given", { writes: true }));
    } else if (severity === "high" && words !== undefined) {
      found.push(judged("high", "may run a command that it is given", { writes: true }));
    }
  }
  return worst(...found);
}

function judgeUnknownName(words: readonly string[], scene: Scene): Judgement {
  scene.note({ kind: "runs unknown text" });
  const args = words.slice(1, MOST_SUSPECTED);
  const suspected = SUSPECTS.some((name) => scene.suppose([name, ...args]) === "critical");
  return suspected
    ? judged("critical", "hides a program that its arguments make destructive", { writes: true })
    : judged("high", "runs a program whose name is only known when it runs", { writes: true });
}

/** Every path among the arguments, also behind "=", ":" or "@". */
function judgeArgument(arg: string, scene: Scene): Judgement {
  if (arg.length > 1_000) return HARMLESS;
  const found = [arg, ...arg.split(/[=:@,]/).slice(1)].filter((part) => part !== "" && !part.startsWith("-"))
    .map((path) => judgeRead(path, scene.folders, scene.places));
  return worst(...found);
}
