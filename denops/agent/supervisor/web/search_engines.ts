/**
 * The wire formats of search engines: one row each.
 * Sources: docs.searxng.org/dev/search_api, api-dashboard.search.brave.com, docs.tavily.com, exa.ai/docs/reference/search,
 * kagi.com/api/docs.
 */
import * as z from "../../deps/zod.ts";
import type { WebSearch } from "../../protocol/config.ts";

export interface SearchQuery {
  readonly query: string;
  readonly count: number;
}

interface SearchRequest {
  readonly url: URL;
  readonly method?: "POST";
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

interface SearchEngine {
  /** Its full name. */
  readonly name: string;
  /** Of its API. Undefined: the user's own. */
  readonly url?: string;
  /** Variables that may contain the key; none: it takes no key. */
  readonly variables: readonly string[];
  /** Titles and excerpts are HTML. */
  readonly isMarkup?: boolean;
  request(url: URL, query: SearchQuery, key: string): SearchRequest;
  /** The found pages of an answer, unchecked. @throws {z.ZodError} */
  found(answer: unknown): readonly unknown[];
  /** Fields of a found page beside `url` and `title`. */
  readonly snippet: string;
  readonly date: string;
}

const list = z.array(z.unknown());
const Results = z.object({ results: list });
/** Without pages it has no `web`. */
const BraveAnswer = z.object({ type: z.literal("search"), web: z.object({ results: list }).nullish() });
const KagiAnswer = z.object({ data: z.object({ search: list.nullish() }) });

export const ENGINES: Readonly<Record<WebSearch["engine"], SearchEngine>> = {
  searxng: {
    name: "SearXNG",
    variables: [],
    request: (url, { query }) => ({ url: withQuery(below(url, "search"), { q: query, format: "json" }) }),
    found: (answer) => Results.parse(answer).results,
    snippet: "content",
    date: "publishedDate",
  },
  brave: {
    name: "Brave Search",
    url: "https://api.search.brave.com/res/v1/web/search",
    variables: ["BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"],
    isMarkup: true,
    request: (url, { query, count }, key) => ({
      url: withQuery(url, { q: query, count: `${count}`, text_decorations: "false" }),
      headers: { "X-Subscription-Token": key },
    }),
    found: (answer) => BraveAnswer.parse(answer).web?.results ?? [],
    snippet: "description",
    date: "page_age",
  },
  tavily: {
    name: "Tavily",
    url: "https://api.tavily.com/search",
    variables: ["TAVILY_API_KEY"],
    request: (url, { query, count }, key) => post(url, bearer(key), { query, max_results: count }),
    found: (answer) => Results.parse(answer).results,
    snippet: "content",
    date: "published_date",
  },
  exa: {
    name: "Exa",
    url: "https://api.exa.ai/search",
    variables: ["EXA_API_KEY"],
    request: (url, { query, count }, key) => {
      const contents = { highlights: { maxCharacters: LONGEST_HIGHLIGHT } };
      return post(url, { "x-api-key": key }, { query, type: "auto", numResults: count, contents });
    },
    found: (answer) => Results.parse(answer).results,
    snippet: "highlights",
    date: "publishedDate",
  },
  kagi: {
    name: "Kagi",
    url: "https://kagi.com/api/v1/search",
    variables: ["KAGI_API_KEY"],
    isMarkup: true,
    request: (url, { query, count }, key) =>
      post(url, bearer(key), { query, workflow: "search", limit: count }),
    found: (answer) => KagiAnswer.parse(answer).data.search ?? [],
    snippet: "snippet",
    date: "time",
  },
};

const LONGEST_HIGHLIGHT = 500;

function bearer(key: string): Readonly<Record<string, string>> {
  return { Authorization: `Bearer ${key}` };
}

function post(url: URL, headers: Readonly<Record<string, string>>, body: object): SearchRequest {
  const json = { "Content-Type": "application/json", ...headers };
  return { url, method: "POST", headers: json, body: JSON.stringify(body) };
}

function withQuery(url: URL, fields: Readonly<Record<string, string>>): URL {
  const whole = new URL(url);
  for (const [name, value] of Object.entries(fields)) whole.searchParams.set(name, value);
  return whole;
}

/** The address of an instance may end with a slash or with its page for searches. */
function below(url: URL, name: string): URL {
  const whole = new URL(url);
  const folder = whole.pathname.replace(/\/+$/, "");
  whole.pathname = folder.endsWith(`/${name}`) ? folder : `${folder}/${name}`;
  return whole;
}
