/** What it means to write, delete or read at a path that a command names. By name alone: no file is looked at. Pure. */
import type { CommandLevel } from "../../protocol/commands.ts";
import { judged, type Judgement, READS, type Severity } from "./severity.ts";

/** Stands in a word for what is only known when the line runs: `$(date)` or an unset variable. */
export const UNKNOWN = "\u{FFFC}";

/** Where the project and the user's home are, so that absolute paths into them are known as such. */
export interface Places {
  readonly root?: string | undefined;
  readonly home?: string | undefined;
}

interface Place {
  readonly write: readonly [Severity, string, CommandLevel?];
  /** For a file, for a folder with all that is in it. */
  readonly remove: readonly [Severity, Severity, string, CommandLevel?];
}

const place = (write: Place["write"], remove: Place["remove"]): Place => ({ write, remove });

const DEVICE = place(["critical", "writes to a device"], ["critical", "critical", "deletes a device"]);
const TOP = place(["high", "writes to a top-level, home or parent folder"], [
  "critical",
  "critical",
  "deletes a top-level, home or parent folder",
]);
const STARTUP = place(["critical", "writes what is run or trusted later"], [
  "high",
  "critical",
  "deletes what the shell relies on",
]);
const HOOKS = place(["critical", "writes what git runs later", "git"], [
  "high",
  "high",
  "deletes what git relies on",
  "git",
]);
const INSIDE = place(["medium", "writes a file"], ["medium", "high", "deletes"]);
const UNSURE = place(["high", "writes to a place that is only known when it runs"], [
  "high",
  "high",
  "deletes what is only known when it runs",
]);

/** On a normalised path: absolute, "~/…", "../…", or relative to the project's root. The first match decides. */
const PLACES: readonly (readonly [RegExp, Place])[] = [
  [
    /^\/dev\/(null|zero|full|stdout|stderr|stdin|tty|fd\/[^/]*|u?random)$/i,
    place(["none", "writes to a sink"], DEVICE.remove),
  ],
  [/^\/dev\/(tcp|udp)\//i, place(["critical", "opens a network connection"], DEVICE.remove)],
  [
    /^\/(dev\/shm|tmp|var\/tmp|private\/tmp)\/./i,
    place(["medium", "writes a temporary file", "look"], ["medium", "high", "deletes temporary files"]),
  ],
  [/^\/(dev|proc|sys)(\/|$)/i, DEVICE],
  [
    /^~[^/]*\/\.(bash|zsh|profile|login|cshrc|tcshrc|kshrc|inputrc|xinit|xsession|xprofile|ssh|gnupg|vim|exrc|nvim|emacs|gitconfig|npmrc|pypirc|pam_env|local\/bin|cargo\/(bin|config|env)|config\/(fish|nvim|git|systemd|autostart|environment\.d|zsh|bash|pip|npm)|docker\/config|kube|aws)|^~[^/]*\/(Library\/(LaunchAgents|LaunchDaemons|Keychains)|bin)(\/|$)/i,
    STARTUP,
  ],
  [/(^|\/)\.git\/(hooks|config|info|modules\/.*\/(hooks|config)|worktrees\/.*\/config)/i, HOOKS],
  [
    /^\/$|^~[^/]*\/?$|^~[^/]*\/\*+$|^\/(home|Users|root)(\/[^/]*)?(\/\**)?$|^(\.\.\/)*\.\.(\/\**)?$/i,
    TOP,
  ],
  [
    /^(~|\/(home|Users)\/[^/]+\/|\/root\/)/i,
    place(["high", "writes into the home folder"], ["high", "critical", "deletes in the home folder"]),
  ],
  [/^\/[^/]*(\/\**)?$|^\/[^/]*[*?[￼]/, TOP],
  [
    /^\/(etc|usr|bin|sbin|lib\w*|boot|var|opt|run|srv|System|Library|Applications|Windows|private|nix)\//i,
    place(["critical", "writes into the system's folders"], [
      "critical",
      "critical",
      "deletes what belongs to the system",
    ]),
  ],
  [
    /^\/|^\.\.\/|^[A-Za-z]:[\\/]/,
    place(["high", "writes outside of the project"], ["high", "critical", "deletes outside of the project"]),
  ],
  [
    /^$|^[*?.[\]!^]+$/,
    place(["medium", "writes a file"], ["high", "critical", "deletes everything in the folder"]),
  ],
  [
    /(^|\/)\.git(\/|$)/i,
    place(["high", "writes into the repository's own data", "git"], [
      "high",
      "high",
      "deletes the repository's history",
      "git",
    ]),
  ],
  [
    /(^|\/)(\.env(\.[^/]*)?|\.envrc|\.nvim\.lua|\.n?vimrc|\.exrc|\.gitmodules|\.npmrc|id_(rsa|dsa|ecdsa|ed25519))$|(^|\/)(\.ssh|\.vscode|\.idea|\.github\/workflows|\.husky|\.devcontainer)(\/|$)|\.(pem|key|p12|pfx)$/i,
    place(["high", "writes a sensitive file"], ["high", "high", "deletes a sensitive file"]),
  ],
  [/￼/, UNSURE],
];

/** Names that hold secrets, wherever they stand. */
const SECRETS =
  /(^|\/)(\.env(?!\.(example|sample|template|dist|test|md)$)(\.[\w.-]+)?|\.envrc|\.netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.vault-token|\.[a-z]*_history|\.htpasswd|credentials(\.json)?|id_(rsa|dsa|ecdsa|ed25519)|(Cookies|Login Data|cookies\.sqlite|logins\.json|key4\.db))$|\.(pem|key|p12|pfx|jks|keystore|kdbx)$|(^|\/)\.(ssh|gnupg|aws|azure|kube|password-store|mozilla)(\/|$)|\.docker\/config|\.config\/(gcloud|gh|hub|op|rclone|google-chrome|chromium)|\/Keychains\/|^\/etc\/(g?shadow|sudoers|ssl\/private|ssh\/ssh_host)|^\/proc\/[^/]+\/(environ|mem|maps|fd|root|cwd)|^\/dev\/(sd|hd|nvme|vd|mem|kmem|disk|mapper)/i;

/** Joins, resolves "." and "..", and puts home and root into their short forms. */
export function normalise(path: string, folder: string, places: Places): string {
  let whole = shorten(path, places);
  if (!/^[~/]|^[A-Za-z]:[\\/]/.test(whole)) whole = folder === "" ? whole : `${folder}/${whole}`;
  const absolute = whole.startsWith("/");
  const parts: string[] = [];
  for (const part of whole.split("/")) {
    if (part === "" || part === ".") continue;
    const last = parts.at(-1);
    if (part !== "..") parts.push(part);
    else if (last === undefined) {
      if (!absolute) parts.push("..");
    } else if (last.startsWith("~")) parts.splice(-1, 1, "..");
    else if (last === "..") parts.push("..");
    else parts.pop();
  }
  const joined = parts.join("/");
  return shorten(absolute ? `/${joined}` : joined, places);
}

function shorten(path: string, { root, home }: Places): string {
  const below = (folder: string | undefined) =>
    folder !== undefined && folder.length > 1 && (path === folder || path.startsWith(`${folder}/`))
      ? path.slice(folder.length)
      : undefined;
  const inRoot = below(root);
  if (inRoot !== undefined) return `.${inRoot}`;
  const inHome = below(home);
  return inHome === undefined ? path : `~${inHome}`;
}

function placeOf(path: string): Place {
  return PLACES.find(([pattern]) => pattern.test(path))?.[1] ?? INSIDE;
}

/** `$X/` and `$X/*` are the root when X is empty. */
const MAY_BE_ROOT = /^￼(\/[*.?]*)+$/;

/** Where a path is looked at from. */
interface From {
  readonly folder: string;
  readonly places: Places;
}

export function judgeWrite(path: string, { folder, places }: From): Judgement {
  const [severity, reason, level] =
    (MAY_BE_ROOT.test(path) ? UNSURE : placeOf(normalise(path, folder, places)))
      .write;
  return judged(severity, reason, level, reason.includes("network"));
}

export function judgeDelete(path: string, recursive: boolean, { folder, places }: From): Judgement {
  const { remove } = MAY_BE_ROOT.test(path) && recursive ? TOP : placeOf(normalise(path, folder, places));
  return judged(remove[recursive ? 1 : 0], remove[2], remove[3]);
}

/** Reading is harmless but for secrets and, less so, whatever else is in the home folder. */
export function judgeRead(path: string, { folder, places }: From): Judgement {
  if (path.length > 1_000) return READS;
  const normal = normalise(path, folder, places);
  if (SECRETS.test(path) || SECRETS.test(normal)) return judged("high", "reads what may be a secret", "look");
  if (/^\/dev\/(tcp|udp)\//.test(path)) return judged("critical", "opens a network connection", "look", true);
  return /^(~|\/(home|Users)\/|\/root\/)/.test(normal)
    ? judged("medium", "reads in the home folder", "look")
    : READS;
}
