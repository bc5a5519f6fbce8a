/**
 * The sandbox of a shell command on macOS, for sandbox-exec. Pure.
 *
 * Everything is denied by default; of several matching rules the last one counts. The profile's text contains
 * no paths: they are parameters, so that no folder's name can be read as a rule.
 *
 * Tests check the text on every system, but the tests that attack a sandbox run only on Linux. This profile
 * has not been tested on macOS.
 *
 * Source: `man sandbox-exec`, and the profiles in /System/Library/Sandbox/Profiles.
 */
import { join } from "node:path";
import type { CommandLevel } from "../../protocol/commands.ts";
import { HIDDEN, SHOWN } from "../system/sandbox/visible_places.ts";
import type { GitGuard } from "../git/guard.ts";

interface SeatbeltPlaces {
  readonly level: CommandLevel;
  /** Real paths of the workspace's roots. */
  readonly roots: readonly string[];
  readonly home: string | undefined;
  /** The options command_read and command_write. */
  readonly readable: readonly string[];
  readonly writable: readonly string[];
  readonly maskedFolders: readonly string[];
  readonly maskedFiles: readonly string[];
  /** Visible although it is in a masked folder. */
  readonly scratch?: string | undefined;
  readonly network: boolean;
}

/** The command's own processes, their queries about the system, and their own terminals. */
const PROGRAMS = [
  "(allow process-exec process-fork)",
  "(allow signal process-info* (target same-sandbox))",
  "(allow sysctl-read mach-host* user-preference-read pseudo-tty)",
  "(allow ipc-posix-sem)",
  '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))',
];

const TEMPORARY = [
  "/private/tmp",
  "/private/var/tmp",
  "/private/var/folders",
];

const DEVICES = ["/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/stdout", "/dev/stderr"];

/** Other hosts, names and certificates; no sockets of other programs on this machine. */
const NETWORK = [
  "(allow system-socket)",
  '(allow network-outbound (remote ip "*:*") (literal "/private/var/run/mDNSResponder"))',
  '(allow network-inbound network-bind (local ip "*:*"))',
  `(allow mach-lookup ${
    [
      "com.apple.SystemConfiguration.DNSConfiguration",
      "com.apple.SystemConfiguration.configd",
      "com.apple.SecurityServer",
      "com.apple.networkd",
      "com.apple.ocspd",
      "com.apple.trustd.agent",
    ].map((name) => `(global-name "${name}")`).join(" ")
  })`,
];

const HOMES = ["/Users", "/private/var/root"];

function expanded(paths: readonly string[], home: string | undefined): readonly string[] {
  return paths.flatMap((path) => {
    if (!path.startsWith("~/")) return [path];
    return home === undefined ? [] : [join(home, path.slice(2))];
  });
}

/** Arguments of sandbox-exec up to the program, whose own arguments follow. */
export function seatbeltArguments(
  places: SeatbeltPlaces,
  git: Pick<GitGuard, "bound" | "guarded">,
): readonly string[] {
  const parameters: string[] = [];
  const filterOf = (filter: "subpath" | "literal", paths: readonly string[]) =>
    paths.map((path) => {
      const name = `PATH_${parameters.length}`;
      parameters.push(`-D${name}=${path}`);
      return `(${filter} (param "${name}"))`;
    }).join(" ");
  const rule = (head: string, filters: string) => filters === "" ? [] : [`(${head} ${filters})`];
  const fixed = (filter: "subpath" | "literal", paths: readonly string[]) =>
    paths.map((path) => `(${filter} "${path}")`).join(" ");
  const own = (paths: readonly string[]) => expanded(paths, places.home);
  const writes = places.level === "look" ? [] : [...places.roots, ...own(places.writable)];
  const profile = [
    "(version 1)",
    "(deny default)",
    ...PROGRAMS,
    "(allow file-read*)",
    // In the home folder only names are visible, except toolchains and the project.
    ...rule("deny file-read-data", filterOf("subpath", HOMES)),
    ...rule("allow file-read*", filterOf("subpath", own(SHOWN.map(({ path }) => path)))),
    ...rule("allow file-read*", filterOf("subpath", [...places.roots, ...own(places.readable)])),
    ...rule("deny file-read*", filterOf("subpath", own(HIDDEN.map(({ path }) => path)))),
    ...rule("allow file-write* file-ioctl", fixed("literal", DEVICES)),
    '(allow file-write-data file-ioctl (regex #"^/dev/(ttys[0-9]+|fd/[0-9]+)$"))',
    ...rule("allow file-write*", fixed("subpath", TEMPORARY)),
    ...rule("allow file-write*", filterOf("subpath", writes)),
    ...(places.network ? NETWORK : []),
    ...rule("deny file-write*", filterOf("subpath", git.guarded)),
    // Renaming the folder would move its guarded parts too.
    ...rule("deny file-write-unlink", filterOf("literal", git.bound)),
    ...rule(
      "deny file-read* file-write*",
      filterOf("subpath", [...places.maskedFolders, ...places.maskedFiles]),
    ),
    ...rule(
      places.level === "look" ? "allow file-read*" : "allow file-read* file-write*",
      filterOf("subpath", places.scratch === undefined ? [] : [places.scratch]),
    ),
  ];
  return ["-p", profile.join("\n"), ...parameters, "--"];
}
