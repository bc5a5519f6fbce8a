/** Fetches what an address leads to. Each address is judged before anything connects to its host. */
import { fetchRule, opensHost } from "../../policy/matching_rules.ts";
import { isPublicHost } from "../../policy/remote_rules.ts";
import { fetchRisk } from "../../policy/foreign.ts";
import type { Rule } from "../../policy/rules.ts";
import { type FetchedContent, LONGEST_URL } from "../../protocol/results/web.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { proxyFor } from "../system/network.ts";
import { pdfText } from "./pdf_program.ts";
import { requestPage, type WebPlace } from "./page_program.ts";

const MOST_REDIRECTS = 5;
/** For all requests of a page. */
const PATIENCE_MS = 20_000;

/**
 * @param rules the user's current ones
 * @param signal stops it
 * @throws {Error} the host and half a sentence
 */
export async function fetchPage(
  address: string,
  rules: readonly Rule[],
  place: WebPlace & { readonly patienceMs?: number },
  signal: AbortSignal,
): Promise<FetchedContent> {
  const { patienceMs = PATIENCE_MS } = place;
  const late = AbortSignal.timeout(patienceMs);
  const either = AbortSignal.any([signal, late]);
  let last = address;
  try {
    for (let redirects = 0;; redirects++) {
      const url = checkedUrl(last, rules);
      last = url.href;
      const isPublic = !opensHost(rules, url.href);
      const { location, ...answer } = await requestPage({ url, isPublic }, place, either);
      const proxy = proxyFor(url.href, place.environment);
      const content = { ...answer, url: url.href, body: plain(answer.body), ...defined({ proxy }) };
      if (location === undefined) {
        return answer.kind === "pdf" ? await withText(content, place, either) : content;
      }
      const next = URL.parse(location, url);
      if (next === null) throw new Error("it redirects to no valid address");
      if (!followsTo(url, next, rules)) return { ...content, elsewhere: next.href };
      if (redirects === MOST_REDIRECTS) throw new Error(`it redirects more than ${MOST_REDIRECTS} times`);
      last = next.href;
    }
  } catch (error) {
    signal.throwIfAborted();
    const reason = late.aborted ? `it took longer than ${patienceMs / 1_000} s` : messageOf(error);
    throw new Error(`${URL.parse(last)?.host ?? "this address"}: ${reason}`);
  }
}

/** A PDF with its text instead of its bytes. @throws {Error} half a sentence */
async function withText(
  content: FetchedContent,
  place: WebPlace,
  signal: AbortSignal,
): Promise<FetchedContent> {
  if (content.isCut) return { ...content, body: "", problem: "it is larger than 10 MB" };
  const read = await pdfText(content.body, place, signal);
  if ("problem" in read) return { ...content, body: "", problem: read.problem };
  return { ...content, body: plain(read.text), isCut: read.isCut };
}

/** @throws {Error} half a sentence */
function checkedUrl(address: string, rules: readonly Rule[]): URL {
  const url = URL.parse(address);
  if (url === null || address.length > LONGEST_URL) throw new Error("it is no valid address");
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new Error("only http and https can be fetched");
  }
  if (url.username !== "" || url.password !== "") throw new Error("addresses must not contain a login");
  if (fetchRule(rules, url.href)?.verdict === "deny") throw new Error("a rule denies this host");
  if (!isPublicHost(url.href) && !opensHost(rules, url.href)) {
    throw new Error(`it is no public host; only a rule such as fetch(${url.host}) opens it`);
  }
  url.hash = "";
  return url;
}

/** A host is followed to itself, or where a rule allows it: the user has approved no other one. */
function followsTo(from: URL, to: URL, rules: readonly Rule[]): boolean {
  const isSafe = to.protocol === "https:" || from.protocol === to.protocol;
  const nameOf = ({ hostname }: URL) => hostname.replace(/^www\./, "");
  const isSame = nameOf(from) === nameOf(to) && from.port === to.port;
  const isAllowed = fetchRule(rules, to.href)?.verdict === "allow" && fetchRisk(rules, to.href) === undefined;
  return isSafe && (isSame || isAllowed);
}

/** Control characters would grow six times as JSON. */
export function plain(body: string): string {
  // deno-lint-ignore no-control-regex -- they are what is removed
  return body.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, "");
}
