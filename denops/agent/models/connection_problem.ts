/** Explains an error of fetch. Pure. */

interface ConnectionProblem {
  /** Follows "Cannot reach …: ". */
  readonly reason: string;
  /** A sentence. */
  readonly hint: string;
  /** The connection broke, as opposed to not being established. */
  readonly retryable: boolean;
}

interface Server {
  /** The source of the key. */
  readonly keySource: string;
  /** The command that starts the server, if it is known. */
  readonly start?: string | undefined;
  /** "host:port" of the proxy in use. */
  readonly proxy?: string | undefined;
}

export function connectionProblem(error: unknown, { keySource, start, proxy }: Server): ConnectionProblem {
  const text = reasonOf(error);
  const fail = (reason: string, hint: string) => ({ reason, hint, retryable: false });
  const withProxy = (reason: string) => proxy === undefined ? reason : `${reason} (proxy ${proxy})`;
  /** The server or the proxy: fetch does not tell which. */
  const unreached = (reason: string, hint: string) =>
    fail(withProxy(reason), proxy === undefined ? hint : "Check the proxy, or name the host in NO_PROXY.");
  if (/header|ByteString/i.test(text)) {
    return fail("the key or a header has characters that HTTP cannot carry", `Check ${keySource}.`);
  }
  if (/CA file/i.test(text)) return fail("the file of DENO_CERT cannot be read", "Check DENO_CERT.");
  if (/proxy auth/i.test(text)) {
    return fail(withProxy("the proxy requires a login"), "Set it in the proxy's address.");
  }
  if (/refused/i.test(text)) {
    const hint = start === undefined ? "Is the server running?" : `Start it (${start}).`;
    return unreached("connection refused", `${hint} Check base_url.`);
  }
  if (/dns|lookup|resolve/i.test(text)) return unreached("unknown host", "Check base_url and the network.");
  if (/UnknownIssuer|unknown certificate authority/i.test(text)) {
    return fail(withProxy(`TLS failed: ${text}`), "Set DENO_CERT to the certificate of its CA.");
  }
  if (/certificate|tls|ssl|handshake|corrupt message/i.test(text)) {
    return fail(withProxy(`TLS failed: ${text}`), "Check base_url and the certificate.");
  }
  if (/port \d+ are blocked|invalid url/i.test(text)) return fail(text, "Check base_url.");
  if (/Requires net access/i.test(text)) {
    return fail("not granted to the engine", "Quit Neovim and start it again.");
  }
  return { ...unreached("the connection broke", "Check the network and try again."), retryable: true };
}

/** The reason is in the chain of causes; an address in it may contain any of the keywords. */
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
