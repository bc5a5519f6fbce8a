/**
 * The head of a request to a proxy. Parsed strictly, because whoever reads it otherwise than the next server would smuggle
 * requests. Pure. Sources: RFC 9110, RFC 9112.
 */
import { type HostTarget, normalName } from "../../policy/hosts.ts";

/** How the end of a request's body is found. */
export type BodyFraming = { readonly kind: "length"; readonly length: number } | { readonly kind: "chunked" };

export type ProxyRequest =
  /** A tunnel. */
  | { readonly kind: "connect"; readonly target: HostTarget }
  | {
    readonly kind: "plain";
    readonly target: HostTarget;
    readonly method: string;
    /** Begins with a slash. */
    readonly path: string;
    readonly version: string;
    /** Without those that belong to one connection. */
    readonly headers: readonly string[];
    readonly framing: BodyFraming;
  }
  /** The end of a sentence. */
  | { readonly kind: "invalid"; readonly problem: string };

const REQUEST_LINE = /^([!#$%&'*+.^`|~\w-]{1,32}) ([!-~]+) HTTP\/1\.([01])$/;
const HEADER = /^([!#$%&'*+.^`|~\w-]+):([\t\x20-\x7e\x80-\xff]*)$/;
const PLAIN_TARGET = /^http:\/\/([^/?#]*)(\/[^#]*|\?[^#]*)?$/i;
const AUTHORITY = /^([A-Za-z\d._-]+|\[[\dA-Fa-f:.]+\])(?::(\d{1,5}))?$/;

/** Characters of a host's name. */
const LONGEST_NAME = 253;

/** Of one connection, or replaced. Keeps headers that `Connection` names, because it may name those of the body. */
const DROPPED: ReadonlySet<string> = new Set([
  "connection",
  "proxy-connection",
  "proxy-authorization",
  "proxy-authenticate",
  "keep-alive",
  "te",
  "trailer",
  "upgrade",
  "host",
]);

/** @param head as Latin-1, without the empty line at its end */
export function parseRequest(head: string): ProxyRequest {
  const [first = "", ...lines] = head.split("\r\n");
  const [, method, target, minor] = REQUEST_LINE.exec(first) ?? [];
  if (method === undefined || target === undefined) return invalid("its first line is malformed");
  const headers = lines.map((line) => HEADER.exec(line)).map((match) =>
    match === null
      ? undefined
      : { line: match[0], name: (match[1] ?? "").toLowerCase(), value: (match[2] ?? "").trim() }
  );
  const valid = headers.filter((header) => header !== undefined);
  if (valid.length < headers.length) return invalid("a header is malformed");
  if (method === "CONNECT") {
    const host = targetOf(target, undefined);
    return host === undefined
      ? invalid("its target is not a host and a port")
      : { kind: "connect", target: host };
  }
  const [, authority = "", rest = "/"] = PLAIN_TARGET.exec(target) ?? [];
  const host = targetOf(authority, 80);
  if (host === undefined) return invalid("its target is not an address that begins with http://");
  const framing = framingOf(valid);
  if (framing === undefined) return invalid("the length of its body is unclear");
  return {
    kind: "plain",
    target: host,
    method,
    path: rest.startsWith("/") ? rest : `/${rest}`,
    version: `HTTP/1.${minor}`,
    headers: valid.filter(({ name }) => !DROPPED.has(name)).map(({ line }) => line),
    framing,
  };
}

function invalid(problem: string): ProxyRequest {
  return { kind: "invalid", problem };
}

function targetOf(authority: string, otherwise: number | undefined): HostTarget | undefined {
  const [, host = "", digits] = AUTHORITY.exec(authority) ?? [];
  const name = normalName(host);
  const port = digits === undefined ? otherwise : Number(digits);
  const isHost = name !== undefined && name.length <= LONGEST_NAME;
  return isHost && port !== undefined ? { name, port } : undefined;
}

function framingOf(
  headers: readonly { readonly name: string; readonly value: string }[],
): BodyFraming | undefined {
  const valuesOf = (name: string) =>
    headers.filter((header) => header.name === name).map(({ value }) => value);
  const [lengths, encodings] = [valuesOf("content-length"), valuesOf("transfer-encoding")];
  if (encodings.length > 0) {
    const isPlain = encodings.length === 1 && encodings[0]?.toLowerCase() === "chunked";
    return isPlain && lengths.length === 0 ? { kind: "chunked" } : undefined;
  }
  if (lengths.length === 0) return { kind: "length", length: 0 };
  const [length = ""] = lengths;
  return lengths.length === 1 && /^\d{1,15}$/.test(length)
    ? { kind: "length", length: Number(length) }
    : undefined;
}

/** The head for the next server, with its end. @param proxy whether that is a proxy; `authorization`: its header's value */
export function requestHead(
  { target: { name, port }, method, path, version, headers }: Extract<ProxyRequest, { kind: "plain" }>,
  proxy?: { readonly authorization: string | undefined },
): string {
  const host = port === 80 ? name : `${name}:${port}`;
  const authorization = proxy?.authorization;
  return [
    `${method} ${proxy === undefined ? path : `http://${host}${path}`} ${version}`,
    `Host: ${host}`,
    ...headers,
    ...(authorization === undefined ? [] : [`Proxy-Authorization: ${authorization}`]),
    "Connection: close",
    "\r\n",
  ].join("\r\n");
}
