/** Opens the connection to a judged host: directly to a judged address, or through the user's own proxy. */
import { addressProblem, type HostTarget } from "../../policy/hosts.ts";
import { proxySetting } from "../system/network.ts";
import { closeQuietly, type Connection, readHead, writeText } from "./streams.ts";

export interface DialOptions {
  /** Patterns that allow hosts, see policy/hosts.ts. */
  readonly patterns: readonly string[];
  /** Names the user's own proxies. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Every address must be public, whatever the patterns name. */
  readonly isPublic?: boolean;
  /** The addresses of a name; the machine's by default. */
  resolve?(name: string): Promise<readonly string[]>;
}

/** The program behind the proxy gets this as the answer. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  /** @param isForbidden the host is not allowed at this address; otherwise it cannot be reached */
  constructor(message: string, readonly isForbidden = false) {
    super(message);
  }
}

/** A connection for requests of `http:` addresses. */
interface PlainRoute {
  readonly connection: Connection;
  /** Set if the user's own proxy is at its end. */
  readonly proxy?: { readonly authorization: string | undefined };
}

/** A connection whose bytes reach the host as they are. */
interface Tunnel {
  readonly connection: Connection;
  /** Bytes of the host that are already read. */
  readonly rest: Uint8Array;
}

const CONNECT_MS = 30_000;
const MOST_ADDRESSES = 8;
/** Bytes of the answer of the user's proxy. */
const LONGEST_ANSWER = 65_536;

/** @throws {Refusal} */
export async function plainRoute(target: HostTarget, options: DialOptions): Promise<PlainRoute> {
  const proxy = proxyOf("http", target, options);
  if (proxy === undefined) return { connection: await direct(target, options) };
  return { connection: await toProxy(proxy), proxy: { authorization: authorizationOf(proxy) } };
}

/** @throws {Refusal} */
export async function tunnel(target: HostTarget, options: DialOptions): Promise<Tunnel> {
  const proxy = proxyOf("https", target, options);
  if (proxy === undefined) return { connection: await direct(target, options), rest: new Uint8Array() };
  const connection = await toProxy(proxy);
  const host = `${target.name}:${target.port}`;
  const authorization = authorizationOf(proxy);
  const login = authorization === undefined ? "" : `Proxy-Authorization: ${authorization}\r\n`;
  try {
    await writeText(connection, `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n${login}\r\n`);
    const answer = await inTime(
      readHead(connection, LONGEST_ANSWER),
      `the proxy ${proxy.host} does not answer`,
    );
    const [line = ""] = answer?.head.split("\r\n") ?? [];
    if (answer !== undefined && /^HTTP\/1\.[01] 2\d\d(?: |$)/.test(line)) {
      return { connection, rest: answer.rest };
    }
    throw new Refusal(
      `the proxy ${proxy.host} refuses ${host}: ${/^HTTP\/\S+ (.{1,80})/.exec(line)?.[1] ?? "no answer"}`,
    );
  } catch (error) {
    closeQuietly(connection);
    throw error instanceof Refusal ? error : new Refusal(`the proxy ${proxy.host} ended the connection`);
  }
}

/** The user's proxy for a host; undefined if it is reached directly. @throws {Refusal} if it cannot be used */
function proxyOf(
  scheme: "http" | "https",
  { name, port }: HostTarget,
  { environment }: DialOptions,
): URL | undefined {
  const setting = proxySetting(`${scheme}://${name}:${port}`, environment);
  if (setting === undefined) return undefined;
  const proxy = setting.url;
  if (proxy !== undefined && ["http:", "https:"].includes(proxy.protocol)) return proxy;
  throw new Refusal(
    `the user's proxy is of a kind that cannot be used: ${proxy?.protocol ?? "no valid address"}`,
  );
}

async function toProxy({ hostname, port, protocol, host }: URL): Promise<Connection> {
  const isSecure = protocol === "https:";
  const address = { hostname: hostname.replace(/^\[|\]$/g, ""), port: Number(port || (isSecure ? 443 : 80)) };
  const connecting: Promise<Connection> = isSecure ? Deno.connectTls(address) : Deno.connect(address);
  return await opened(connecting, `the proxy ${host} is out of reach`);
}

function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "") return undefined;
  const bytes = new TextEncoder().encode(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  return `Basic ${btoa(String.fromCharCode(...bytes))}`;
}

/** Resolves the name once, and connects to an address that was judged. */
async function direct(target: HostTarget, options: DialOptions): Promise<Connection> {
  const { name, port } = target;
  const addresses = (await addressesOf(name, options)).slice(0, MOST_ADDRESSES);
  const judgements = addresses.map((address) => ({
    address,
    problem: addressProblem(options.isPublic === true ? [] : options.patterns, target, address),
  }));
  const allowed = judgements.filter(({ problem }) => problem === undefined);
  const isRefused = allowed.length < (options.isPublic === true ? judgements.length : 1);
  if (isRefused || allowed.length === 0) {
    const problem = judgements.find(({ problem }) => problem !== undefined)?.problem;
    throw new Refusal(problem ?? `${name} has no address`, judgements.length > 0);
  }
  let last = new Refusal(`${name}:${port} is out of reach`);
  for (const { address } of allowed) {
    try {
      return await opened(Deno.connect({ hostname: address, port }), last.message);
    } catch (error) {
      if (error instanceof Refusal) last = error;
    }
  }
  throw last;
}

async function addressesOf(name: string, { resolve = system }: DialOptions): Promise<readonly string[]> {
  const literal = /^\[(.*)\]$/.exec(name)?.[1] ?? (/^\d+(\.\d+){3}$/.test(name) ? name : undefined);
  if (literal !== undefined) return [literal];
  const problem = `${name} has no known address`;
  try {
    return await inTime(resolve(name), problem);
  } catch {
    throw new Refusal(problem);
  }
}

async function system(name: string): Promise<readonly string[]> {
  // Loading it takes 20 ms, which few starts of the program need.
  const { lookup } = await import("node:dns/promises");
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

async function opened(connecting: Promise<Connection>, problem: string): Promise<Connection> {
  try {
    return await inTime(connecting, problem);
  } catch (error) {
    connecting.then(closeQuietly, () => {});
    throw error instanceof Refusal ? error : new Refusal(problem);
  }
}

async function inTime<T>(result: Promise<T>, problem: string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Refusal(problem)), CONNECT_MS);
  });
  try {
    return await Promise.race([result, late]);
  } finally {
    clearTimeout(timer);
  }
}
