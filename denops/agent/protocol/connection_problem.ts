/** What an error of fetch itself means, in words. Pure. */

export interface ConnectionProblem {
  /** Goes on from "Cannot reach …: ". */
  readonly reason: string;
  /** A sentence. */
  readonly hint: string;
  /** The connection broke, as against nobody being there. */
  readonly retryable: boolean;
}

/** @param keySource where the key comes from @param start the command that starts the server, if one is known */
export function connectionProblem(error: unknown, keySource: string, start?: string): ConnectionProblem {
  const text = reasonOf(error);
  const fail = (reason: string, hint: string, retryable = false) => ({ reason, hint, retryable });
  if (/header|ByteString/i.test(text)) {
    return fail("the key or a header has characters that HTTP cannot carry", `Check ${keySource}.`);
  }
  if (/refused/i.test(text)) {
    const hint = start === undefined ? "Is the server running?" : `Start it (${start}).`;
    return fail("connection refused", `${hint} Check base_url.`);
  }
  if (/dns|lookup|resolve/i.test(text)) return fail("unknown host", "Check base_url and the network.");
  if (/certificate|tls|ssl|handshake|corrupt message/i.test(text)) {
    return fail(`TLS failed: ${text}`, "Check base_url and the certificate.");
  }
  if (/port \d+ are blocked|invalid url/i.test(text)) return fail(text, "Check base_url.");
  if (/Requires net access/i.test(text)) {
    return fail("not granted to the engine", "Quit Neovim and start it again.");
  }
  return fail("the connection broke", "Check the network and try again.", true);
}

/** fetch says what went wrong in the chain of causes; the address in it may hold any of the words looked for. */
function reasonOf(error: unknown): string {
  const texts: string[] = [];
  for (
    let at = error;
    at !== undefined && texts.length < 5;
    at = at instanceof Error ? at.cause : undefined
  ) {
    texts.push(at instanceof Error ? at.message : String(at));
  }
  return texts.join(": ").replace(/\(?\bhttps?:\/\/\S+/g, "");
}
