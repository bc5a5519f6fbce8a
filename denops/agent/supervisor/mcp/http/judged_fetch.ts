/** Requests of a login, whose addresses the server names: it must not make the supervisor reach this machine. */
import { addressProblem } from "../../../policy/hosts.ts";
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import { proxyFor } from "../../system/network.ts";

const MOST_BYTES = 1_000_000;

/**
 * The addresses are https and public, except those of the server's own host.
 * @param server its address, which the user has approved
 */
export function judgedFetch(server: string, signal: AbortSignal) {
  const own = new URL(server);
  return async (address: string | URL, init: RequestInit = {}): Promise<Response> => {
    const url = new URL(address);
    const isOwn = url.host === own.host && url.protocol === own.protocol;
    if (!isOwn) await judge(url);
    const response = await fetch(url, { ...init, redirect: "manual", signal });
    const { status, statusText, headers } = response;
    const body = await textOf(response);
    const isEmpty = [101, 204, 205, 304].includes(status);
    return new Response(isEmpty ? null : body, { status, statusText, headers });
  };
}

/** @throws {Error} one line */
async function judge(url: URL): Promise<void> {
  if (url.protocol !== "https:") throw new Error(`${url.origin} is not https`);
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const isAddress = /^[\d.]+$/.test(name) || name.includes(":");
  const addresses = isAddress ? [name] : (await Promise.all(
    (["A", "AAAA"] as const).map((kind) => Deno.resolveDns(name, kind).catch(() => [])),
  )).flat();
  // A machine behind a proxy may know no names.
  if (addresses.length === 0 && proxyFor(url.href, neovimEnvironment()) !== undefined) return;
  if (addresses.length === 0) throw new Error(`${url.host} was not found`);
  const target = { name: url.hostname, port: Number(url.port || 443) };
  const problem = addresses.map((one) => addressProblem([], target, one)).find((one) => one !== undefined);
  if (problem !== undefined) throw new Error(`${url.host} must not be reached: ${problem}`);
}

/** @throws {Error} one line, if it is too long */
async function textOf(response: Response): Promise<string> {
  let text = "";
  for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += part;
    if (text.length > MOST_BYTES) {
      throw new Error(`${new URL(response.url).host} answered with more than 1 MB`);
    }
  }
  return text;
}
