/**
 * Exports requests and answers as they were on the wire, in the form of a .http file. It removes keys and passwords
 * that it recognises.
 */
import type { HttpExchange } from "../../log/http_exchange.ts";
import { withoutSecrets } from "./secrets.ts";

const HEAD = [
  "# The requests of a turn and their answers, as they were on the wire.",
  "# Keys and passwords that were recognised are removed. Read it before you pass it on.",
  "",
  "",
].join("\n");

const REMOVED = "[removed]";
const SECRET_NAME = /auth|key|token|secret|cookie|session|credential|signature|passw/i;

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
  return `${name}: ${SECRET_NAME.test(name) ? REMOVED : clean(value)}`;
}

function urlText(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  url.username = url.password = "";
  const names = [...url.searchParams.keys()].filter((name) => SECRET_NAME.test(name));
  for (const name of names) url.searchParams.delete(name);
  return url.href;
}

function cleaned(text: string, secrets: readonly string[]): string {
  const plain = secrets.reduce((rest, secret) => rest.replaceAll(secret, REMOVED), text);
  return plain.split(COUNTS).map((part, at) => at % 2 === 1 ? part : withoutSecrets(part)).join("");
}
