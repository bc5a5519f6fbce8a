/** Proxies and certificates, which Deno reads from the environment at its first request. */

const NAMES = ["ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY"];
const PROXIES = [...NAMES, ...NAMES.map((name) => name.toLowerCase())];

/** Each names a file of CA certificates. Deno reads the last one only for the store "system". */
export const CERTIFICATES = ["DENO_CERT", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];

/** Hosts on this machine in the format of NO_PROXY. */
const LOOPBACK = ["127.0.0.1", "localhost", "::1", "127.0.0.0/8", "0.0.0.0"];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The network variables, extended so that requests to this machine use no proxy and all of {@link
 * CERTIFICATES} count.
 */
export function networkEnvironment(environment: Environment): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of [...PROXIES, ...CERTIFICATES, "DENO_TLS_CA_STORE"]) {
    const value = environment[name];
    if (value) found[name] = value;
  }
  // Deno reads no_proxy only if NO_PROXY is not set.
  const noProxy = [...new Set([...exceptions(environment), ...LOOPBACK])].join(",");
  if (found.SSL_CERT_FILE !== undefined) found.DENO_TLS_CA_STORE ??= "mozilla,system";
  return { ...found, NO_PROXY: noProxy, no_proxy: noProxy };
}

/** The proxy that Deno uses for this address, as "host:port" without its password. */
export function proxyFor(address: string, environment: Environment): string | undefined {
  const setting = proxySetting(address, environment);
  return setting && (setting.url?.host || "of an invalid address");
}

/**
 * The proxy for this address, without a URL if the setting is invalid; undefined if there is none. In Deno's order
 * (ext/fetch/proxy.rs).
 */
export function proxySetting(
  address: string,
  environment: Environment,
): { readonly url: URL | undefined } | undefined {
  const { protocol, hostname } = new URL(address);
  const variables = ["ALL_PROXY", protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY"];
  const value = variables.flatMap((name) => [environment[name], environment[name.toLowerCase()]]).find(
    Boolean,
  );
  const host = hostname.replace(/^\[|\]$/g, "");
  if (
    value === undefined || isLoopback(host) || exceptions(environment).some((entry) => covers(entry, host))
  ) {
    return undefined;
  }
  const url = URL.parse(/^\w+:\/\//.test(value) ? value : `http://${value}`);
  return { url: url?.host ? url : undefined };
}

function exceptions({ NO_PROXY = "", no_proxy = "" }: Environment): readonly string[] {
  return `${NO_PROXY},${no_proxy}`.split(",").map((entry) => entry.trim()).filter((entry) => entry !== "");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host === "0.0.0.0" ||
    /^127(\.\d+){3}$/.test(host);
}

/** Networks such as 10.0.0.0/8 are ignored, so the message may name a proxy that is not used. */
function covers(entry: string, host: string): boolean {
  const domain = entry.replace(/^\./, "");
  return host === domain || host.endsWith(`.${domain}`);
}

/**
 * Resolves the certificate files to real paths, so that a sandbox can mount them. Missing files keep their
 * names.
 */
export async function withRealCertificates(
  environment: Readonly<Record<string, string>>,
): Promise<{ readonly environment: Record<string, string>; readonly files: readonly string[] }> {
  const real: Record<string, string> = {};
  for (const name of CERTIFICATES) {
    const path = environment[name];
    if (!path) continue;
    const found = await Deno.realPath(path).catch(() => undefined);
    if (found !== undefined && (await Deno.stat(found)).isFile) real[name] = found;
  }
  return { environment: { ...environment, ...real }, files: Object.values(real) };
}
