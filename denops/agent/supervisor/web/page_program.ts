/** Sends one request in a process of its own, in a sandbox whose only network is the host of its address. */
import { join } from "node:path";
import { type HostTarget, normalName } from "../../policy/hosts.ts";
import * as z from "../../deps/zod.ts";
import { LONGEST_URL } from "../../protocol/results/web.ts";
import { isolatedProgram } from "../commands/bubblewrap.ts";
import { AllowProxy } from "../network/allow_proxy.ts";
import type { DialOptions } from "../network/dial.ts";
import { proxied, proxyEnvironment } from "../network/proxied.ts";
import { defined } from "../../shared/records.ts";
import { CERTIFICATES, networkEnvironment, withRealCertificates } from "../system/network.ts";
import { killGroup, openProgram } from "../system/programs.ts";
import { runFolder } from "../system/run_folder.ts";
import { findProgram, sandbox } from "../system/sandbox.ts";
import type { Mount } from "../system/sandbox/mounts.ts";

export interface WebPlace {
  /** Real paths of the project's roots. */
  readonly roots: readonly string[];
  readonly stateDir: string;
  /** Neovim's own. */
  readonly environment: Readonly<Record<string, string>>;
  readonly resolve?: NonNullable<DialOptions["resolve"]>;
  /** The plugin's folder, and Deno's cache with its packages. @throws {Error} one line */
  modules(): Promise<{ readonly plugin: string; readonly denoDir: string }>;
}

/** The answer of a server. */
const Answer = z.union([
  z.object({
    status: z.int(),
    type: z.string().max(200).catch(""),
    kind: z.enum(["text", "image", "pdf", "binary"]),
    isCut: z.boolean(),
    location: z.string().max(LONGEST_URL).optional(),
  }),
  z.object({ error: z.string() }),
]);
type PageAnswer = Exclude<z.infer<typeof Answer>, { error: string }> & { readonly body: string };

/** This module may be part of a bundle, which lies as deep as the module. */
const READER_FILE = join(import.meta.dirname ?? "", "../../supervisor/web/page_reader.ts");
/** Paths of the sandbox. */
const DENO = "/run/agent-web-deno";
const READER = "/run/agent-web-reader.ts";

/** Bytes of the line about an answer, and of its body: 10 MB as base64 or with repaired characters. */
const LONGEST_HEAD = 20_000;
const LONGEST_BODY = 31_000_000;
const LONGEST_REASON = 200;

/** Folders and files with the system's certificates. */
const STORES = ["/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/etc/ld.so.cache", "/etc/ld.so.conf"];

/** Bytes of the content, after decompression. */
const MOST_BYTES = 10_000_000;

/** A request without its host. */
interface PageRequest {
  readonly url: URL;
  /** Whether the host must have public addresses. */
  readonly isPublic: boolean;
  /** By default GET. */
  readonly method?: "POST";
  /** In addition to those of pages. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Bytes of the content that are read. */
  readonly most?: number;
}

/** @param signal ends the process @throws {Error} half a sentence */
export async function requestPage(
  { url, isPublic, most = MOST_BYTES, ...rest }: PageRequest,
  place: WebPlace,
  signal: AbortSignal,
): Promise<PageAnswer> {
  const { environment, resolve } = place;
  const { name, port } = hostOf(url);
  const hosts = [`${name}:${port}`];
  let problem: string | undefined;
  await using proxy = await AllowProxy.open({
    hosts: () => hosts,
    environment,
    isPublic,
    isOnPort: (await sandbox(place.roots)).level !== "bubblewrap",
    ...defined({ resolve }),
    onProblem: (text) => problem ??= text,
  });
  const process = await startReader(hosts, proxy, place);
  const stop = () => killGroup(process);
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    await sendRequest(process, { url: url.href, most, ...rest });
    const answer = await readAnswer(process.stdout);
    signal.throwIfAborted();
    // The proxy's own answer looks like one of the server.
    if (problem !== undefined) throw new Error(problem);
    if ("error" in answer) throw new Error(plainReason(answer.error));
    return answer;
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
    await process.status;
  }
}

const FLAGS = ["run", "--no-prompt", "--quiet", "--no-config", "--no-lock", "--no-remote"];
const STREAMS = { stdin: "piped", stdout: "piped", stderr: "null", leadsGroup: true } as const;

async function sendRequest({ stdin }: Deno.ChildProcess, request: object): Promise<void> {
  try {
    await new Response(JSON.stringify(request)).body?.pipeTo(stdin);
  } catch {
    // The process has ended, and its output says how.
  }
}

function hostOf({ hostname, port, protocol }: URL): HostTarget {
  const name = normalName(hostname) ?? hostname;
  return { name, port: Number(port || (protocol === "https:" ? 443 : 80)) };
}

/** @throws {Error} half a sentence */
async function startReader(
  hosts: readonly string[],
  proxy: AllowProxy,
  place: WebPlace,
): Promise<Deno.ChildProcess> {
  const { environment: all, files } = await withRealCertificates(place.environment);
  const certificates = Object.entries(networkEnvironment(all)).filter(([name]) =>
    [...CERTIFICATES, "DENO_TLS_CA_STORE"].includes(name)
  );
  const env = {
    DENO_NO_UPDATE_CHECK: "1",
    NO_COLOR: "1",
    ...Object.fromEntries(certificates),
    ...proxyEnvironment(hosts, proxy.url),
    // Its host is reached through the proxy in any case: the sandbox does not know the name localhost.
    ...{ NO_PROXY: "", no_proxy: "" },
  };
  if (proxy.url !== undefined) {
    // Only Deno's permissions confine it.
    const args = [...FLAGS, `--allow-net=${hosts.join(",")}`, READER_FILE];
    const own = { ...env, DENO_DIR: join(await runFolder(), "web-deno") };
    return openProgram("web_page", Deno.execPath(), { args, env: own, cwd: "/", ...STREAMS }).spawn();
  }
  const bash = await findProgram("bash", place.roots);
  if (bash === undefined) throw new Error("bash was not found on the PATH outside of the project");
  const behind = proxied([DENO, ...FLAGS, "--allow-net", READER], proxy.socket, bash, []);
  const mounts: readonly Mount[] = [
    ...[...STORES.filter(exists), ...files].map((path): Mount => ({ kind: "read", path })),
    { kind: "read", path: DENO, source: Deno.execPath() },
    { kind: "read", path: READER, source: READER_FILE },
    ...behind.mounts,
  ];
  const { program, args } = await isolatedProgram(behind.arguments, place, mounts);
  const own = { ...env, DENO_DIR: "/tmp/deno" };
  return openProgram("web_page", program, { args: [...args], env: own, cwd: "/", ...STREAMS }).spawn();
}

/** @throws {Error} half a sentence */
async function readAnswer(
  output: ReadableStream<Uint8Array>,
): Promise<PageAnswer | { readonly error: string }> {
  let text = "";
  const decoder = new TextDecoder();
  let length = 0;
  for await (const bytes of output) {
    length += bytes.length;
    if (length > LONGEST_HEAD + LONGEST_BODY) return { error: "the answer is too long" };
    text += decoder.decode(bytes, { stream: true });
  }
  text += decoder.decode();
  const end = text.slice(0, LONGEST_HEAD).indexOf("\n");
  const answer = Answer.safeParse(parsed(text.slice(0, Math.max(0, end))));
  if (!answer.success) return { error: "the process that read it ended early" };
  return "error" in answer.data ? answer.data : { ...answer.data, body: text.slice(end + 1) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function plainReason(text: string): string {
  const reason = text.replace(/^error sending request for url \(.*?\): (?:client error \(\w+\): )?/, "");
  return reason.replace(/[^ -~]+/g, " ").replace(/\.+$/, "").slice(0, LONGEST_REASON);
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
