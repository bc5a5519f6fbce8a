/** What it means to write, delete or read at a path that a command names. By name alone: no file is looked at. Pure. */
import { judged, type Judgement, worse } from "./severity.ts";

/** Stands in a word for what is only known when the line runs: `$(date)` or an unset variable. */
export const UNKNOWN = "\u{FFFC}";

/** Where the project and the user's home are, so that absolute paths into them are known as such. */
export interface Places {
  readonly root?: string | undefined;
  readonly home?: string | undefined;
}

type Kind =
  | "sink"
  | "socket"
  | "device"
  | "system"
  | "startup"
  | "top"
  | "home"
  | "temporary"
  | "scratch"
  | "outside"
  | "whole"
  | "repository"
  | "guarded"
  | "unknown"
  | "inside";

/** On a normalised path: absolute, "~/…", "../…", or relative to the project's root. The first match decides. */
const KINDS: readonly (readonly [Kind, RegExp])[] = [
  ["sink", /^\/dev\/(null|zero|full|stdout|stderr|stdin|tty|fd\/[^/]*|u?random)$/],
  ["socket", /^\/dev\/(tcp|udp)\//],
  ["temporary", /^\/dev\/shm\/./],
  ["device", /^\/(dev|proc|sys)(\/|$)/],
  [
    "startup",
    /^~[^/]*\/\.(bash|zsh|zshrc|zprofile|zlogin|profile|login|cshrc|tcshrc|kshrc|inputrc|xinit|xsession|xprofile|ssh|gnupg|vim|vimrc|exrc|nvim|emacs|gitconfig|npmrc|pypirc|pam_env|Xmodmap|local\/bin|cargo\/(bin|config|env)|config\/(fish|nvim|git|systemd|autostart|environment\.d|zsh|bash|pip|npm)|docker\/config|kube|aws)/,
  ],
  ["startup", /^~[^/]*\/(Library\/(LaunchAgents|LaunchDaemons|Keychains)|bin)(\/|$)/],
  ["startup", /(^|\/)\.git\/(hooks|config|info|modules\/.*\/(hooks|config)|worktrees\/.*\/config)/],
  ["temporary", /^\/(tmp|var\/tmp|private\/tmp)\/./],
  ["scratch", /^\/(tmp|var\/tmp|private\/tmp)$/],
  ["top", /^\/$|^~[^/]*\/?$|^~[^/]*\/\*+$|^\/(home|Users|root)(\/[^/]*)?(\/\**)?$|^(\.\.\/)*\.\.(\/\**)?$/],
  ["home", /^(~|\/(home|Users)\/[^/]+\/|\/root\/)/],
  ["top", /^\/[^/]*(\/\**)?$|^\/[^/]*[*?[￼]/],
  [
    "system",
    /^\/(etc|usr|bin|sbin|lib\w*|boot|var|opt|run|srv|System|Library|Applications|Windows|private|nix)\//,
  ],
  ["outside", /^\/|^\.\.\/|^[A-Za-z]:[\\/]/],
  ["whole", /^$|^[*?.\[\]!^]+$|^\.\[\^?\.\].*$/],
  ["repository", /(^|\/)\.git(\/\**)?$|^\.g[*?]\S*$|^\.\*$/],
  [
    "guarded",
    /(^|\/)\.git\/|(^|\/)(\.env(\.[^/]*)?|\.envrc|\.nvim\.lua|\.n?vimrc|\.exrc|\.gitmodules|\.npmrc|id_(rsa|dsa|ecdsa|ed25519))$|(^|\/)(\.ssh|\.vscode|\.idea|\.github\/workflows|\.husky|\.devcontainer)(\/|$)|\.(pem|key|p12|pfx)$/,
  ],
];

/** Names that hold secrets, wherever they stand. */
const SECRETS =
  /(^|\/)(\.env(?!\.(example|sample|template|dist|test|md)$)(\.[\w.-]+)?|\.envrc|\.netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.vault-token|\.[a-z]*_history|\.htpasswd|credentials(\.json)?|id_(rsa|dsa|ecdsa|ed25519)|(Cookies|Login Data|cookies\.sqlite|logins\.json|key4\.db))$|\.(pem|key|p12|pfx|jks|keystore|kdbx)$|(^|\/)\.(ssh|gnupg|aws|azure|kube|password-store|mozilla)(\/|$)|\.docker\/config|\.config\/(gcloud|gh|hub|op|rclone|google-chrome|chromium)|\/Keychains\/|^\/etc\/(g?shadow|sudoers|ssl\/private|ssh\/ssh_host)|^\/proc\/[^/]+\/(environ|mem|maps|fd|root|cwd)|^\/dev\/(sd|hd|nvme|vd|mem|kmem|disk|mapper)/i;
/** What globs are tried on: `cat .e*` reads .env. */
const SECRET_NAMES = [
  ".env",
  ".env.local",
  ".netrc",
  ".npmrc",
  ".ssh",
  ".aws",
  ".gnupg",
  "id_rsa",
  "id_ed25519",
];

const WRITES: Readonly<Record<Kind, Judgement>> = {
  sink: judged("none", "writes to a sink"),
  socket: judged("critical", "opens a network connection", { network: true }),
  device: judged("critical", "writes to a device", { writes: true }),
  system: judged("critical", "writes into the system's folders", { writes: true }),
  startup: judged("critical", "writes what is run or trusted later", { writes: true }),
  top: judged("high", "writes to a top-level, home or parent folder", { writes: true }),
  home: judged("high", "writes into the home folder", { writes: true }),
  temporary: judged("medium", "writes a temporary file", { writes: true }),
  scratch: judged("medium", "writes a temporary file", { writes: true }),
  outside: judged("high", "writes outside of the project", { writes: true }),
  whole: judged("medium", "writes a file", { writes: true }),
  repository: judged("high", "writes into the repository's own data", { writes: true }),
  guarded: judged("high", "writes a sensitive file", { writes: true }),
  unknown: judged("high", "writes to a place that is only known when it runs", { writes: true }),
  inside: judged("medium", "writes a file", { writes: true }),
};

const DELETES: Readonly<Record<Kind, readonly [file: Judgement, folder: Judgement]>> = {
  sink: pair("critical", "critical", "deletes a device"),
  socket: pair("critical", "critical", "deletes a device"),
  device: pair("critical", "critical", "deletes a device"),
  system: pair("critical", "critical", "deletes what belongs to the system"),
  startup: pair("high", "critical", "deletes what the shell or git relies on"),
  top: pair("critical", "critical", "deletes a top-level, home or parent folder"),
  home: pair("high", "critical", "deletes in the home folder"),
  temporary: pair("medium", "high", "deletes temporary files"),
  scratch: pair("high", "critical", "deletes the folder of all temporary files"),
  outside: pair("high", "critical", "deletes outside of the project"),
  whole: pair("high", "critical", "deletes everything in the folder"),
  repository: pair("high", "critical", "deletes the repository's history"),
  guarded: pair("high", "high", "deletes a sensitive file"),
  unknown: pair("high", "high", "deletes what is only known when it runs"),
  inside: pair("medium", "high", "deletes"),
};

function pair(file: Judgement["severity"], folder: Judgement["severity"], reason: string) {
  return [judged(file, reason, { writes: true }), judged(folder, reason, { writes: true })] as const;
}

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

/** Some file systems ignore case: there, `.GIT/hooks` is `.git/hooks`. */
const ANY_CASE = KINDS.map(([kind, pattern]) => [kind, new RegExp(pattern.source, "i")] as const);

function kindOf(path: string): Kind {
  for (const [kind, pattern] of ANY_CASE) if (pattern.test(path)) return kind;
  return path.includes(UNKNOWN) ? "unknown" : "inside";
}

/** `$X/` and `$X/*` are the root when X is empty. */
const MAY_BE_ROOT = /^￼(\/[*.?]*)+$/;

function worstOf(found: readonly Judgement[]): Judgement {
  const [first, ...rest] = found;
  if (first === undefined) return judged("none", "nothing");
  return rest.reduce((a, b) => worse(a.severity, b.severity) === a.severity ? a : b, first);
}

function each(path: string, folders: readonly string[], places: Places): readonly string[] {
  return folders.map((folder) => normalise(path, folder, places));
}

/** @param folders those the command may be in, relative to the project; the worst counts */
export function judgeWrite(path: string, folders: readonly string[], places: Places): Judgement {
  if (MAY_BE_ROOT.test(path)) return WRITES.unknown;
  return worstOf(each(path, folders, places).map((one) => WRITES[kindOf(one)]));
}

export function judgeDelete(
  path: string,
  recursive: boolean,
  folders: readonly string[],
  places: Places,
): Judgement {
  if (MAY_BE_ROOT.test(path) && recursive) return DELETES.top[1];
  return worstOf(each(path, folders, places).map((one) => DELETES[kindOf(one)][recursive ? 1 : 0]));
}

/** Reading is harmless but for secrets and, less so, whatever else is in the home folder. */
export function judgeRead(path: string, folders: readonly string[], places: Places): Judgement {
  const normal = each(path, folders, places);
  if (SECRETS.test(path) || normal.some((one) => SECRETS.test(one) || globsSecret(one))) {
    return judged("high", "reads what may be a secret");
  }
  const away = normal.some((one) => /^(~|\/(home|Users)\/|\/root\/)/.test(one));
  return away ? judged("medium", "reads in the home folder") : judged("none", "reads");
}

function globsSecret(path: string): boolean {
  const last = path.slice(path.lastIndexOf("/") + 1);
  if (!/[*?[]/.test(last) || !/[.\w]/.test(last) || last.length > 40) return false;
  const source = last.replace(/[.+^${}()|\\]/g, "\\$&").replace(/\*+/g, ".*").replace(/\?/g, ".")
    .replace(/\[!/g, "[^");
  try {
    const pattern = new RegExp(`^${source}$`, "i");
    return SECRET_NAMES.some((name) => (last.startsWith(".") === name.startsWith(".")) && pattern.test(name));
  } catch {
    return false;
  }
}
