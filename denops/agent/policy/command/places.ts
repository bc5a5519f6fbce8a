/** Judges writes, deletions and reads of a path by its name alone. Pure. */
import { posix } from "node:path";
import { judgeAs, type Judgement, judgementOf, READS, rows } from "./severity.ts";

/** Replaces text that is unknown before the line runs: `$(date)` or an unset variable. */
export const UNKNOWN = "\u{FFFC}";

/** The paths of the project and the user's home, to recognise absolute paths into them. */
export interface Places {
  readonly root?: string | undefined;
  readonly home?: string | undefined;
}

interface Place {
  readonly pattern: RegExp;
  readonly write: Judgement;
  readonly removeFile: Judgement;
  /** Including everything in it. */
  readonly removeFolder: Judgement;
}

/**
 * Columns: the effect of writing · of deleting a file and a folder · a pattern of normalised paths: absolute,
 * "~/…", "../…", or relative to the project's root. The first match decides.
 */
const PLACES: readonly Place[] = rows(String.raw`
none look discards output · critical critical write deletes a device · ^/dev/(null|zero|full|std(out|err|in)|tty|fd/[^/]*|u?random)$
critical look+network opens a network connection · critical critical write deletes a device · ^/dev/(tcp|udp)/
medium look writes a temporary file · medium high write deletes temporary files · ^/(dev/shm|tmp|var/tmp|private/tmp)/.
critical write writes to a device · critical critical write deletes a device · ^/(dev|proc|sys)(/|$)
critical write writes what is run or trusted later · high critical write deletes what the shell relies on
  · ^~[^/]*/(\.(bash|zsh|profile|login|cshrc|tcshrc|kshrc|inputrc|xinit|xsession|xprofile|ssh|gnupg|vim|exrc|nvim|emacs|gitconfig|npmrc|pypirc|pam_env|local/bin|cargo/(bin|config|env)|config/(fish|nvim|git|systemd|autostart|environment\.d|zsh|bash|pip|npm)|docker/config|kube|aws)|(Library/(LaunchAgents|LaunchDaemons|Keychains)|bin)(/|$))
critical git writes what git runs later · high high git deletes what git relies on
  · (^|/)\.git/(hooks|config|info|modules/.*/(hooks|config)|worktrees/.*/config)
high write writes to a top-level, home or parent folder · critical critical write deletes a top-level, home or parent folder
  · ^/$|^~[^/]*/?$|^~[^/]*/\*+$|^/(home|Users|root)(/[^/]*)?(/\**)?$|^(\.\./)*\.\.(/\**)?$
high write writes into the home folder · high critical write deletes in the home folder · ^(~|/(home|Users)/[^/]+/|/root/)
high write writes to a top-level, home or parent folder · critical critical write deletes a top-level, home or parent folder
  · ^/[^/]*(/\**)?$|^/[^/]*[*?[￼]
critical write writes into the system's folders · critical critical write deletes what belongs to the system
  · ^/(etc|usr|bin|sbin|lib\w*|boot|var|opt|run|srv|System|Library|Applications|Windows|private|nix)/
high write writes outside of the project · high critical write deletes outside of the project · ^/|^\.\./|^[A-Za-z]:[\\/]
medium write writes a file · high critical write deletes everything in the folder · ^$|^[*?.[\]!^]+$
high git writes into the repository's own data · high high git deletes the repository's history · (^|/)\.git(/|$)
high write writes a sensitive file · high high write deletes a sensitive file
  · (^|/)(\.env(\.[^/]*)?|\.envrc|\.nvim\.lua|\.n?vimrc|\.exrc|\.gitmodules|\.npmrc|id_(rsa|dsa|ecdsa|ed25519))$|(^|/)(\.ssh|\.vscode|\.idea|\.github/workflows|\.husky|\.devcontainer)(/|$)|\.(pem|key|p12|pfx)$
high write writes to a path known only at run time · high high write deletes paths known only at run time · ￼
medium write writes a file · medium high write deletes files · ^
`).map(([write = "", remove = "", pattern = ""]) => {
  const [file = "", folder = "", ...rest] = remove.split(" ");
  return {
    pattern: new RegExp(pattern, "i"),
    write: judgementOf(write),
    removeFile: judgementOf([file, ...rest].join(" ")),
    removeFolder: judgementOf([folder, ...rest].join(" ")),
  };
});

/** Names of secrets, anywhere in a path. */
const SECRETS =
  /(^|\/)(\.env(?!\.(example|sample|template|dist|test|md)$)(\.[\w.-]+)?|\.envrc|\.netrc|\.pgpass|\.my\.cnf|\.npmrc|\.pypirc|\.git-credentials|\.vault-token|\.[a-z]*_history|\.htpasswd|credentials(\.json)?|id_(rsa|dsa|ecdsa|ed25519)|(Cookies|Login Data|cookies\.sqlite|logins\.json|key4\.db))$|\.(pem|key|p12|pfx|jks|keystore|kdbx)$|(^|\/)\.(ssh|gnupg|aws|azure|kube|password-store|mozilla)(\/|$)|\.docker\/config|\.config\/(gcloud|gh|hub|op|rclone|google-chrome|chromium)|\/Keychains\/|^\/etc\/(g?shadow|sudoers|ssl\/private|ssh\/ssh_host)|^\/proc\/[^/]+\/(environ|mem|maps|fd|root|cwd)|^\/dev\/(sd|hd|nvme|vd|mem|kmem|disk|mapper)/i;

/** Joins, resolves "." and "..", and shortens home and root. */
export function normalise(path: string, folder: string, places: Places): string {
  const short = shorten(path, places);
  const whole = /^[~/]|^[A-Za-z]:[\\/]/.test(short) || folder === "" ? short : `${folder}/${short}`;
  const clean = posix.normalize(whole.startsWith("~") ? `/${whole}` : whole).replace(/(.)\/$/, "$1");
  return shorten(clean.replace(/^\/+(?=~)/, ""), places);
}

function shorten(path: string, { root, home }: Places): string {
  for (const [folder, short] of [[root, "."], [home, "~"]] as const) {
    if (folder === undefined || folder.length < 2 || !`${path}/`.startsWith(`${folder}/`)) continue;
    return short + path.slice(folder.length);
  }
  return path;
}

/** `$X/` and `$X/*` are the root when X is empty. */
const MAY_BE_ROOT = /^￼(\/[*.?]*)+$/;

function placeOf(path: string): Place {
  const found = PLACES.find(({ pattern }) => pattern.test(path));
  if (found === undefined) throw new Error("the last place fits every path");
  return found;
}

/** The starting point of a path. */
interface From {
  readonly folder: string;
  readonly places: Places;
}

export function judgeWrite(path: string, { folder, places }: From): Judgement {
  return placeOf(MAY_BE_ROOT.test(path) ? UNKNOWN : normalise(path, folder, places)).write;
}

export function judgeDelete(path: string, recursive: boolean, { folder, places }: From): Judgement {
  const place = placeOf(MAY_BE_ROOT.test(path) && recursive ? "/" : normalise(path, folder, places));
  return recursive ? place.removeFolder : place.removeFile;
}

/** Reading is harmless except for secrets and, to a lesser degree, the rest of the home folder. */
export function judgeRead(path: string, { folder, places }: From): Judgement {
  if (path.length > 1_000) return READS;
  const normal = normalise(path, folder, places);
  if (SECRETS.test(path) || SECRETS.test(normal)) {
    return judgeAs("high", "reads what may be a secret", "look");
  }
  if (/^\/dev\/(tcp|udp)\//.test(path)) {
    return judgeAs("critical", "opens a network connection", "look", true);
  }
  return /^(~|\/(home|Users)\/|\/root\/)/.test(normal)
    ? judgeAs("medium", "reads in the home folder", "look")
    : READS;
}
