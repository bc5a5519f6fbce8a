/**
 * Patterns of hosts: the ones that a program without a network of its own may reach, such as `host(*.npmjs.org)`, and
 * the addresses that a name may have. Pure.
 */

/** A part of a pattern, as `fetch(…)` and `host(…)` write it. */
export interface HostPattern {
  /** In the normal form of URLs: lower case, punycode, without a trailing dot. Undefined: any. */
  readonly name: string | undefined;
  /** Every name below it, but not the name itself. */
  readonly below: boolean;
  readonly port: string | undefined;
}

/** A host that a program wants to reach. */
export interface HostTarget {
  /** A name or an address, with brackets if it is one of IPv6. */
  readonly name: string;
  readonly port: number;
}

/** Undefined for text that is no pattern. */
export function parseHost(pattern: string): HostPattern | undefined {
  const [, star, rest = "", port] = /^(\*\.|\*(?=$|:))?(.*?)(?::(\d{1,5}))?$/.exec(pattern) ?? [];
  if (star === "*") return rest === "" ? { name: undefined, below: false, port } : undefined;
  if (rest === "" || /[*\s:]/.test(rest.replace(/^\[[\da-f:.]+\]$/i, ""))) return undefined;
  const name = normalName(rest);
  return name === undefined ? undefined : { name, below: star === "*.", port };
}

/** The host of a URL in its normal form: `127.1` is 127.0.0.1. Undefined for text that is no host. */
export function normalName(host: string): string | undefined {
  // Other characters would end the host.
  if (/[/?#@\\\s]|:(?![^[]*\]$)/.test(host) || !URL.canParse(`http://${host}/`)) return undefined;
  const name = new URL(`http://${host}/`).hostname.replace(/\.$/, "");
  return name === "" || /[%*]/.test(name) ? undefined : name;
}

/** Ports of a pattern without one. */
const WEB_PORTS: readonly number[] = [80, 443];
const LAST_PORT = 65_535;

/** The shortest pattern of a host that was refused. @param host "name:port" */
export function patternOf(host: string): string {
  return host.replace(/:(?:80|443)$/, "");
}

/** The problem of a pattern of hosts, as the end of a sentence; undefined if it is valid. */
export function hostProblem(pattern: string): string | undefined {
  if (/[/@?#!]/.test(pattern)) return "must be a host alone, such as registry.npmjs.org";
  const host = parseHost(pattern);
  if (host === undefined) {
    return "is not a host; hosts look like registry.npmjs.org, *.npmjs.org or localhost:8080";
  }
  if (host.name === undefined) return "names no host; a rule network(…) allows the whole network";
  if (host.below && bitsOf(host.name) !== undefined) {
    return "is an address, and no hosts are below an address";
  }
  if (host.port !== undefined && !isPort(Number(host.port))) return "has no valid port";
  return undefined;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= LAST_PORT;
}

/** Whether these patterns allow a host. A pattern without a port means 80 and 443; `!pattern` excludes all ports then. */
export function matchesHost(patterns: readonly string[], target: HostTarget): boolean {
  return allowing(patterns, target).length > 0;
}

/** Whether these patterns allow any host. */
export function allowsAny(patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const { name = "", below = false, port } = (pattern.startsWith("!") ? undefined : parseHost(pattern)) ??
      {};
    if (name === "") return false;
    const ports = port === undefined ? WEB_PORTS : [Number(port)];
    return below
      ? !patterns.includes(`!${pattern}`)
      : ports.some((port) => matchesHost(patterns, { name, port }));
  });
}

/** The patterns that allow a host; none if one excludes it. */
function allowing(patterns: readonly string[], { name, port }: HostTarget): readonly HostPattern[] {
  const wanted = normalName(name);
  if (wanted === undefined || !isPort(port)) return [];
  const matching = (pattern: string, ports: readonly number[] | undefined) => {
    const host = hostProblem(pattern) === undefined ? parseHost(pattern) : undefined;
    if (host?.name === undefined) return undefined;
    const isName = host.below ? wanted.endsWith(`.${host.name}`) : wanted === host.name;
    const isOpen = host.port === undefined
      ? ports === undefined || ports.includes(port)
      : Number(host.port) === port;
    return isName && isOpen ? host : undefined;
  };
  const isExcluded = patterns.some((pattern) =>
    pattern.startsWith("!") && matching(pattern.slice(1), undefined) !== undefined
  );
  return isExcluded ? [] : patterns.flatMap((pattern) => matching(pattern, WEB_PORTS) ?? []);
}

/**
 * Why a host may not be reached at this address, as the end of a sentence; undefined if it may. A name of the Internet
 * can lead to this machine, to its network, or to the settings of the cloud that it runs in.
 * @param address that the name has, without brackets
 */
export function addressProblem(
  patterns: readonly string[],
  target: HostTarget,
  address: string,
): string | undefined {
  const bits = bitsOf(address);
  if (bits === undefined) return `${address} is not an address`;
  const names = allowing(patterns, target).filter(({ below }) => !below).map(({ name = "" }) => name);
  if (names.some((name) => bitsOf(name) === bits)) return undefined;
  if (isIn(LOOPBACK, bits) && names.includes("localhost")) return undefined;
  if (isIn(LOCAL, bits)) return `${address} is an address of this machine or its link`;
  if (isIn(PRIVATE, bits) && names.length === 0) return `${address} is an address of a private network`;
  return undefined;
}

/** Leading bits of addresses. */
type Subnet = readonly [start: string, length: number];

const LOOPBACK: readonly Subnet[] = [["127.0.0.0", 8], ["::1", 128]];

/** Loopback, unspecified, link-local (with the settings of clouds) and multicast addresses, and broadcasts. */
const LOCAL: readonly Subnet[] = [
  ...LOOPBACK,
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["224.0.0.0", 4],
  ["255.255.255.255", 32],
  ["::", 128],
  ["fe80::", 10],
  ["ff00::", 8],
];

/** Source: the registries of special-purpose addresses, RFC 6890. */
const PRIVATE: readonly Subnet[] = [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["240.0.0.0", 4],
  ["fc00::", 7],
  ["fec0::", 10],
];

function isIn(subnets: readonly Subnet[], bits: bigint): boolean {
  return subnets.some(([start, length]) => {
    const own = bitsOf(start) ?? 0n;
    // An address of IPv4 is the end of one of IPv6.
    const rest = BigInt(start.includes(":") ? 128 - length : 32 - length);
    return own >> rest === bits >> rest;
  });
}

const IPV4_MAPPED = 0xffffn << 32n;

/**
 * The 128 bits of an address. One of IPv4 is the same in all its forms: mapped, compatible, translated (64:ff9b::/96) or
 * as a 6to4 prefix. Undefined for a name.
 */
function bitsOf(address: string): bigint | undefined {
  const name = normalName(address.includes(":") && !address.startsWith("[") ? `[${address}]` : address) ?? "";
  if (/^\d+(\.\d+){3}$/.test(name)) {
    return name.split(".").reduce((bits, part) => bits << 8n | BigInt(part), 0xffffn);
  }
  const [, inside] = /^\[(.*)\]$/.exec(name) ?? [];
  if (inside === undefined) return undefined;
  const [start = [], end = []] = inside.split("::").map((half) => half === "" ? [] : half.split(":"));
  const zeros = Array.from({ length: 8 - start.length - end.length }, () => "0");
  const bits = [...start, ...zeros, ...end].reduce((bits, group) => bits << 16n | BigInt(`0x${group}`), 0n);
  const isCompatible = bits >> 32n === 0n && bits > 1n;
  if (isCompatible || bits >> 32n === 0x64ff9bn << 64n) return IPV4_MAPPED | bits & 0xffffffffn;
  return bits >> 112n === 0x2002n ? IPV4_MAPPED | bits >> 80n & 0xffffffffn : bits;
}
