/**
 * Patterns of rules on names: the hosts of `fetch(*.python.org)`, the engine of `search_web(brave)`, the tools of
 * `mcp(server/tool)`, the agents of `agent(explore)`, and our own tools of `tool(refactor)`. Pure.
 */

import { addressProblem, normalName, parseHost } from "./hosts.ts";

/** The problem of a pattern of fetched hosts, as the end of a sentence; undefined if it is valid. */
export function fetchProblem(pattern: string): string | undefined {
  if (/[/@?#]/.test(pattern)) return "must be a host alone, such as docs.python.org";
  if (parseHost(pattern) === undefined) {
    return "is not a host; hosts look like docs.python.org or *.python.org";
  }
  return undefined;
}

/**
 * `*` matches any host, `*.name` every host below it but not the name itself. Without a port, any port
 * matches.
 */
export function hostMatches(pattern: string, url: string): boolean {
  const wanted = parseHost(pattern);
  const target = parseUrl(url);
  if (wanted === undefined || target === undefined) return false;
  if (wanted.port !== undefined && wanted.port !== target.port) return false;
  if (wanted.name === undefined) return true;
  return wanted.below ? target.name.endsWith(`.${wanted.name}`) : target.name === wanted.name;
}

/** Whether a pattern names a host or a domain, not any host or all of a top-level domain. */
export function namesHost(pattern: string): boolean {
  const host = parseHost(pattern);
  return host?.name !== undefined && (!host.below || host.name.includes("."));
}

/** Names that no public host has. Sources: RFC 6761, RFC 6762, RFC 8375, and ICANN's "internal". */
const PRIVATE_NAME = /(^|\.)(localhost|local|internal|intranet|lan|home|corp|home\.arpa)$/;

/** Whether the host of a URL may be a public one, by its name alone; a name can still have a private address. */
export function isPublicHost(url: string): boolean {
  const target = parseUrl(url);
  if (target === undefined) return false;
  const isAddress = /^(\[.*\]|\d+(\.\d+){3})$/.test(target.name);
  if (!isAddress) return target.name.includes(".") && !PRIVATE_NAME.test(target.name);
  const host = { name: target.name, port: Number(target.port) };
  return addressProblem([], host, target.name.replace(/^\[|\]$/g, "")) === undefined;
}

/** Whether a pattern names exactly the host of a URL. */
export function namesExactly(pattern: string, url: string): boolean {
  const host = parseHost(pattern);
  return host?.name !== undefined && !host.below && hostMatches(pattern, url);
}

function parseUrl(url: string): { readonly name: string; readonly port: string } | undefined {
  if (!URL.canParse(url)) return undefined;
  const { hostname, port, protocol } = new URL(url);
  const name = normalName(hostname);
  if (name === undefined) return undefined;
  return { name, port: port === "" ? (protocol === "https:" ? "443" : "80") : port };
}

/** The problem of a pattern of tools, as the end of a sentence; undefined if it is valid. */
export function toolProblem(pattern: string): string | undefined {
  return /^[^\s/]+\/[^\s/]+$/.test(pattern) ? undefined : "must be server/tool, where * is any of them";
}

/** Case matters, because it does in names of tools. */
export function toolMatches(pattern: string, server: string, tool: string): boolean {
  const [wantedServer = "", wantedTool = "", more] = pattern.split("/");
  return more === undefined && covers(wantedServer, server) && covers(wantedTool, tool);
}

/** The problem of a pattern of search engines, as the end of a sentence; undefined if it is valid. */
export function engineProblem(pattern: string): string | undefined {
  return /^[^\s/()]+$/.test(pattern) ? undefined : "must be a search engine's name, where * is any text";
}

/** The problem of a pattern of agents, as the end of a sentence; undefined if it is valid. */
export function agentProblem(pattern: string): string | undefined {
  return /^[^\s/()]+$/.test(pattern) ? undefined : "must be a mode's or an agent's name, where * is any text";
}

/** The problem of a pattern of our own tools, as the end of a sentence; undefined if it is valid. */
export function ownToolProblem(pattern: string): string | undefined {
  return /^[^\s/()]+$/.test(pattern) ? undefined : "must be a tool's name, where * is any text";
}

/** Whether a pattern matches the name of a search engine, an agent or a tool. Case matters, because it does in names. */
export function nameMatches(pattern: string, name: string): boolean {
  return covers(pattern, name);
}

function covers(pattern: string, name: string): boolean {
  const literal = pattern.split("*").map((text) => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return new RegExp(`^${literal.join("[^/]*")}$`, "s").test(name);
}
