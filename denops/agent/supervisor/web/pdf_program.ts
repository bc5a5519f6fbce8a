/** Reads the text of a PDF in a process of its own, in a sandbox without network and files. */
import { join } from "node:path";
import * as z from "../../deps/zod.ts";
import { isolatedProgram } from "../commands/bubblewrap.ts";
import { killGroup, openProgram } from "../system/programs.ts";
import { findProgram, sandbox } from "../system/sandbox.ts";
import type { Mount } from "../system/sandbox/mounts.ts";
import type { WebPlace } from "./page_program.ts";

const PdfText = z.union([
  z.object({ text: z.string().max(2_000_000), isCut: z.boolean() }),
  z.object({ problem: z.string().max(100) }),
]);
type PdfText = z.infer<typeof PdfText>;

/** Bytes of the answer: every character may have an escape of six. */
const LONGEST_ANSWER = 12_100_000;
const MEMORY_KB = 600_000;
/** The memory that V8 does not count, such as decompressed streams, is limited by the system. */
const START = `ulimit -d ${MEMORY_KB} 2>/dev/null; exec "$@"`;
const V8_MEMORY_MB = 300;
const LONGEST_MS = 15_000;

/** Paths of the sandbox. */
const DENO = "/run/agent-pdf-deno";
const CACHE = "/run/agent-pdf-cache";
const PLUGIN = "/run/agent-pdf-plugin";

/** @param signal ends the process; it then throws what the signal says */
export async function pdfText(base64: string, place: WebPlace, signal: AbortSignal): Promise<PdfText> {
  const late = AbortSignal.timeout(LONGEST_MS);
  const process = await startReader(place);
  const stop = () => killGroup(process);
  const either = AbortSignal.any([signal, late]);
  either.addEventListener("abort", stop, { once: true });
  try {
    if (either.aborted) stop();
    const [output] = await Promise.all([
      textOf(process.stdout),
      new Response(Uint8Array.fromBase64(base64)).body?.pipeTo(process.stdin).catch(() => {}),
    ]);
    signal.throwIfAborted();
    if (late.aborted) return { problem: `it took longer than ${LONGEST_MS / 1_000} s` };
    const answer = PdfText.safeParse(parsed(output));
    return answer.success ? answer.data : { problem: "it takes too much memory" };
  } finally {
    either.removeEventListener("abort", stop);
    stop();
    await process.status;
  }
}

/** @throws {Error} half a sentence */
async function startReader(place: WebPlace): Promise<Deno.ChildProcess> {
  const { plugin, denoDir } = await place.modules();
  const bash = await findProgram("bash", place.roots);
  if (bash === undefined) throw new Error("bash was not found on the PATH outside of the project");
  const isConfined = (await sandbox(place.roots)).level === "bubblewrap";
  const [deno, folder, cache] = isConfined ? [DENO, PLUGIN, CACHE] : [Deno.execPath(), plugin, denoDir];
  const words = [
    bash,
    "-c",
    START,
    "bash",
    deno,
    "run",
    "--no-prompt",
    "--quiet",
    "--cached-only",
    "--no-remote",
  ];
  words.push(
    "--frozen",
    `--config=${join(folder, "deno.json")}`,
    `--v8-flags=--max-old-space-size=${V8_MEMORY_MB}`,
  );
  words.push(join(folder, "denops/agent/supervisor/web/pdf_reader.ts"));
  const env = { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1", DENO_DIR: cache };
  const streams = { stdin: "piped", stdout: "piped", stderr: "null", leadsGroup: true } as const;
  // Without bubblewrap, Deno's permissions confine it: it has none.
  if (!isConfined) {
    const [program = bash, ...args] = words;
    return openProgram("pdf", program, { args, env, cwd: "/", ...streams }).spawn();
  }
  const mounts: readonly Mount[] = [
    { kind: "read", path: DENO, source: Deno.execPath() },
    { kind: "read", path: CACHE, source: denoDir },
    { kind: "read", path: PLUGIN, source: plugin },
  ];
  const { program, args } = await isolatedProgram(words, place, mounts);
  return openProgram("pdf", program, { args: [...args], env, cwd: "/", ...streams }).spawn();
}

async function textOf(output: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for await (const bytes of output) {
    length += bytes.length;
    if (length > LONGEST_ANSWER) return "";
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
