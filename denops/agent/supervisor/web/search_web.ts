/** Searches with the user's search engine. Its key reaches no other address. */
import * as z from "../../deps/zod.ts";
import type { WebSearch } from "../../protocol/config.ts";
import {
  type FoundPage,
  FoundPage as Page,
  type FoundPages,
  LONGEST_URL,
} from "../../protocol/results/web.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined, isRecord } from "../../shared/records.ts";
import { proxyFor } from "../system/network.ts";
import { plain } from "./fetch_page.ts";
import { requestPage, type WebPlace } from "./page_program.ts";
import { ENGINES, type SearchQuery } from "./search_engines.ts";

const PATIENCE_MS = 20_000;
/** Bytes of an answer. */
const LONGEST_ANSWER = 2_000_000;
/** Characters. */
const LONGEST_TITLE = 200;
const LONGEST_SNIPPET = 1_000;
const LONGEST_DATE = 40;
/** Found pages that are looked at. */
const MOST_LISTED = 100;

interface SearchKey {
  readonly key?: string;
  /** The variable or the option that it comes from. */
  readonly source: string;
}

type SearchPlace = WebPlace & { readonly patienceMs?: number };
type EngineAnswer = Awaited<ReturnType<typeof requestPage>>;

/** The user has to correct the options or the account first. */
const USERS = "Only the user can correct this: do not try again.";

/** @param signal stops it @throws {Error} the engine's name, a reason, and what to do */
export async function searchWeb(
  { engine, url }: WebSearch,
  query: SearchQuery,
  { key = "", source }: SearchKey,
  place: SearchPlace,
  signal: AbortSignal,
): Promise<FoundPages> {
  const own = ENGINES[engine];
  if (!/^[!-~]*$/.test(key)) throw new Error(`the key of ${source} has characters that no key has. ${USERS}`);
  const address = new URL(url ?? own.url ?? "");
  const request = own.request(address, query, key);
  const answer = await answerTo({ ...request, isPublic: url === undefined }, own.name, place, signal);
  const problem = problemOf(engine, answer, source);
  if (problem !== undefined) throw new Error(`${own.name} ${problem}`);
  const pages = foundPages(engine, answer.body).slice(0, query.count);
  return { engine: own.name, pages, ...defined({ proxy: proxyFor(address.href, place.environment) }) };
}

/** @throws {Error} as {@link searchWeb} */
async function answerTo(
  request: Parameters<typeof requestPage>[0],
  name: string,
  place: SearchPlace,
  signal: AbortSignal,
): Promise<EngineAnswer> {
  const { patienceMs = PATIENCE_MS } = place;
  const late = AbortSignal.timeout(patienceMs);
  try {
    const headers = { Accept: "application/json", ...request.headers };
    const whole = { ...request, headers, most: LONGEST_ANSWER };
    return await requestPage(whole, place, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    const reason = late.aborted ? `it took longer than ${patienceMs / 1_000} s` : messageOf(error);
    throw new Error(`${name} (${request.url.host}) did not answer: ${reason}. Try again, or do without.`);
  }
}

/** The end of a sentence, and what to do; undefined for an answer with found pages. */
function problemOf(
  engine: WebSearch["engine"],
  { status, location, isCut, body }: EngineAnswer,
  source: string,
): string | undefined {
  const http = `(HTTP ${status})`;
  if (location !== undefined) {
    return `redirects to another address ${http}, which is not followed: web.search.url may be wrong. ${USERS}`;
  }
  if (status === 401 || (status >= 400 && status < 500 && NAMES_KEY.test(body.slice(0, 4_000)))) {
    return `rejects the key of ${source} ${http}. ${USERS}`;
  }
  if (status === 403) {
    return engine === "searxng"
      ? `refuses JSON ${http}: the instance needs "json" in search.formats of its settings.yml. ${USERS}`
      : `refuses this account or this address ${http}. ${USERS}`;
  }
  // Tavily: the limits of a plan and of paid requests.
  if ([402, 432, 433].includes(status)) return `says that the account's quota is used up ${http}. ${USERS}`;
  if (status === 429) return `accepts no more requests for now ${http}. Wait, or do without.`;
  if (status >= 500) return `has failed ${http}. Try again later, or do without.`;
  if (status !== 200) return `refuses the query ${http}. Try a shorter one.`;
  if (isCut) return `gave more than ${LONGEST_ANSWER / 1_000_000} MB, which is not read. Do without.`;
  return undefined;
}

/** Brave and Kagi answer a wrong key with another status than 401. */
const NAMES_KEY = /SUBSCRIPTION_TOKEN_INVALID|x-subscription-token|token signature|invalid api.?key/i;

const text = z.string().catch("");
const Found = z.record(z.string(), z.unknown());

/** Without those that lead nowhere. @throws {Error} as {@link searchWeb} */
function foundPages(engine: WebSearch["engine"], body: string): readonly FoundPage[] {
  const { name, found, snippet, date, isMarkup = false } = ENGINES[engine];
  const short = (value: unknown, most: number) => {
    const parts = Array.isArray(value) ? value : [value];
    const all = parts.map((part) => text.parse(part)).join(" … ").slice(0, most * 10);
    return plain(isMarkup ? withoutMarkup(all) : all).replace(/\s+/g, " ").trim().slice(0, most)
      .toWellFormed();
  };
  const list = listed(name, body, found).slice(0, MOST_LISTED);
  const pages = list.flatMap((one) => {
    if (!isRecord(one)) return [];
    const url = URL.parse(text.parse(one.url));
    if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > LONGEST_URL) return [];
    const known = {
      title: short(one.title, LONGEST_TITLE),
      url: url.href,
      snippet: short(one[snippet], LONGEST_SNIPPET),
      date: short(one[date], LONGEST_DATE) || undefined,
    };
    return [Page.parse(defined(known))];
  });
  if (pages.length === 0 && list.length > 0) throw new Error(`${name} ${STRANGE}`);
  return pages;
}

const STRANGE = "gave an answer of an unknown form. Do without it, and tell the user.";

/** @throws {Error} as {@link searchWeb} */
function listed(name: string, body: string, found: (answer: unknown) => readonly unknown[]) {
  let answer: unknown;
  try {
    answer = Found.parse(JSON.parse(body));
  } catch {
    throw new Error(`${name} gave no JSON: web.search.url may be wrong. ${USERS}`);
  }
  try {
    return found(answer);
  } catch {
    throw new Error(`${name} ${STRANGE}`);
  }
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/** Text of HTML without nested elements. */
function withoutMarkup(html: string): string {
  return html.replace(/<\/?[a-z][^<>]{0,200}>/gi, "").replace(
    /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,5}));/gi,
    (whole, decimal, hexadecimal, name) => {
      if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
      const code = hexadecimal === undefined ? Number(decimal) : parseInt(hexadecimal, 16);
      return code > 0x10ffff ? whole : String.fromCodePoint(code);
    },
  );
}
