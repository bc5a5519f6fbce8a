/**
 * Exports requests and answers as they were on the wire, in the form of a .http file. It removes keys and passwords
 * that it recognises.
 */
import type { HttpExchange } from "../../log/http_exchange.ts";
import { withoutSecrets } from "../../../shared/text/secrets.ts";

const HEAD = [
  "# The requests of a turn and their answers, as they were on the wire.",
  "# Keys and passwords that were recognised are removed. Read it before you pass it on.",
  "",
  "",
].join("\n");

const REMOVED = "[removed]";

/** Headers that never hold a secret. Any other one may, under any name. */
const PLAIN_HEADER =
  /^(?:accept|content-(?:encoding|length|type)|date|retry-after(?:-ms)?|server|user-agent|(?:x-)?request-id|(?:[a-z]+-)*ratelimit-[a-z-]+)$/i;
const PLAIN_PARAMETER = /^(?:alt|api-version|stream)$/i;

/** Numbers of tokens, which look like secrets. */
const COUNTS = /("\w*tokens?\w*"\s*:\s*\d+)/;

const NO_ROOM = `# ${REMOVED}: the trace keeps the last 4 MB of a turn.`;

/** "" for no exchanges. */
export function exportTrace(exchanges: readonly HttpExchange[]): string {
  if (exchanges.length === 0) return "";
  return HEAD + exchanges.map((exchange, at) => exchangeText(exchange, at + 1)).join("\n\n") + "\n";
}

function exchangeText(exchange: HttpExchange, number: number): string {
  const { time, url, headers, body, answer, failure, secrets } = exchange;
  const clean = (text: string) => cleaned(text, secrets);
  const request = [
    `### Request ${number}, ${new Date(time).toISOString()}`,
    `POST ${clean(urlText(url))}`,
    ...Object.entries(headers).map(([name, value]) => headerText(name, value, clean)),
    "",
    body === undefined ? NO_ROOM : clean(body),
  ];
  const reply = answer === undefined ? [] : [
    `### Answer ${number}, after ${answer.after} ms`,
    `HTTP/1.1 ${answer.status}`,
    ...answer.headers.map(([name, value]) => headerText(name, value, clean)),
    "",
    clean(answer.body).trimEnd(),
    ...answer.isCut ? [NO_ROOM] : [],
  ];
  const end = failure === undefined ? [] : [`### Request ${number} failed: ${clean(failure)}`];
  return [request, reply, end].filter((part) => part.length > 0).map((part) => part.join("\n")).join("\n\n");
}

function headerText(name: string, value: string, clean: (text: string) => string): string {
  return `${name}: ${PLAIN_HEADER.test(name) ? clean(value) : REMOVED}`;
}

function urlText(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.username = url.password = "";
  url.hash = "";
  const parameters = [...url.searchParams].map(([name, value]) =>
    `${encodeURIComponent(name)}=${PLAIN_PARAMETER.test(name) ? encodeURIComponent(value) : REMOVED}`
  );
  url.search = "";
  return [url.href, ...parameters.length === 0 ? [] : [parameters.join("&")]].join("?");
}

/** A secret as it is written in JSON, also in JSON within JSON, and in URLs; the longest first. */
function spellingsOf(secret: string): readonly string[] {
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const once = inJson(secret);
  const all = [secret, once, inJson(once), ...[secret, once].map((one) => one.replaceAll("/", "\\/"))];
  const inUrls = [
    encodeURIComponent(secret),
    encodeURI(secret),
    new URLSearchParams([["", secret]]).toString().slice(1),
  ];
  return [...new Set([...all, ...inUrls])].toSorted((one, other) => other.length - one.length);
}

function cleaned(text: string, secrets: readonly string[]): string {
  const plain = secrets.flatMap(spellingsOf).reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text);
  return plain.split(COUNTS).map((part, at) => at % 2 === 1 ? part : withoutSecrets(part)).join("");
}
