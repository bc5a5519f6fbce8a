/**
 * The sandbox of a shell command on macOS, for sandbox-exec. Pure.
 *
 * What is not allowed is denied; of several rules that fit, the last one counts. No path stands in the profile's
 * text: paths are handed over as parameters, so that no folder's name can be read as a rule.
 *
 * Its text is tested on every system, but the tests that attack a sandbox run on Linux only: nobody has run this
 * profile for the tests of this project.
 *
 * Source: `man sandbox-exec`, and the profiles in /System/Library/Sandbox/Profiles.
 */
import type { CommandPlaces } from "./command_sandbox.ts";
import type { GitGuard } from "./git_guard.ts";

/** Processes of its own, what they ask the system about itself, and terminals of its own. */
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

/** Arguments of sandbox-exec up to the program; the program and its own follow. */
export function seatbeltArguments(
  places: CommandPlaces,
  git: Pick<GitGuard, "bound" | "guarded">,
): readonly string[] {
  const parameters: string[] = [];
  const named = (filter: "subpath" | "literal", paths: readonly string[]) =>
    paths.map((path) => {
      const name = `PATH_${parameters.length}`;
      parameters.push(`-D${name}=${path}`);
      return `(${filter} (param "${name}"))`;
    }).join(" ");
  const rule = (head: string, filters: string) => filters === "" ? [] : [`(${head} ${filters})`];
  const fixed = (filter: "subpath" | "literal", paths: readonly string[]) =>
    paths.map((path) => `(${filter} "${path}")`).join(" ");
  const profile = [
    "(version 1)",
    "(deny default)",
    ...PROGRAMS,
    "(allow file-read*)",
    ...rule("allow file-write* file-ioctl", fixed("literal", DEVICES)),
    '(allow file-write-data file-ioctl (regex #"^/dev/(ttys[0-9]+|fd/[0-9]+)$"))',
    ...rule("allow file-write*", fixed("subpath", TEMPORARY)),
    ...rule("allow file-write*", named("subpath", [...places.roots, ...places.writable])),
    ...(places.network ? NETWORK : []),
    ...rule("deny file-write*", named("subpath", git.guarded)),
    // Renaming the folder would take its guarded parts along.
    ...rule("deny file-write-unlink", named("literal", git.bound)),
    ...rule(
      "deny file-read* file-write*",
      named("subpath", [...places.maskedFolders, ...places.maskedFiles]),
    ),
  ];
  return ["-p", profile.join("\n"), ...parameters, "--"];
}
