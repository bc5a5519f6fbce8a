/**
 * A program for a sandbox that reaches one host: reads a request as JSON, sends it, and writes a line about the answer, then
 * its content. The server may be hostile, so nothing else runs in this process. It imports nothing.
 * @see page_program.ts
 */
/** Bytes that are searched for a zero and for the encoding. */
const START_BYTES = 4_096;
const LONGEST_MS = 60_000;
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const HEADERS = {
  "User-Agent": "Mozilla/5.0 (compatible; agent.nvim)",
  "Accept": "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, application/json;q=0.8, " +
    "text/plain;q=0.8, */*;q=0.5",
  "Accept-Language": "en, *;q=0.5",
};

// Nobody waits for longer.
setTimeout(() => Deno.exit(1), LONGEST_MS);
try {
  // Other users see the arguments and the environment of a process. `most`: bytes of the content, after decompression.
  const { url, most, headers: more, ...init } = await new Response(Deno.stdin.readable).json();
  const own = { ...HEADERS, ...more };
  const response = await fetch(url, { ...init, headers: own, redirect: "manual", credentials: "omit" });
  const { status, headers } = response;
  const type = (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const location = headers.get("location");
  if (status >= 300 && status < 400 && location !== null) {
    await write({ status, type, kind: "binary", isCut: false, location }, "");
  } else {
    const { bytes, isCut } = await contentOf(response, most);
    const kind = kindOf(type, bytes);
    const body = kind === "text"
      ? decoded(bytes, headers.get("content-type") ?? "")
      : ["image", "pdf"].includes(kind) && !isCut
      ? bytes.toBase64()
      : "";
    await write({ status, type, kind, isCut }, body);
  }
} catch (error) {
  await write({ error: reasonOf(error) }, "");
}
Deno.exit(0);

async function contentOf(
  response: Response,
  most: number,
): Promise<{ bytes: Uint8Array; isCut: boolean }> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body ?? []) {
    const room = most - length;
    parts.push(part.subarray(0, room));
    length += Math.min(room, part.length);
    if (part.length > room) return { bytes: joined(parts, length), isCut: true };
  }
  return { bytes: joined(parts, length), isCut: false };
}

function joined(parts: readonly Uint8Array[], length: number): Uint8Array {
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function kindOf(type: string, bytes: Uint8Array): "text" | "image" | "pdf" | "binary" {
  if (IMAGES.includes(type)) return "image";
  if (type === "application/pdf" || startsWith(bytes, "%PDF-")) return "pdf";
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return bytes.subarray(0, START_BYTES).includes(0) && !isWide ? "binary" : "text";
}

function startsWith(bytes: Uint8Array, text: string): boolean {
  return new TextDecoder("latin1").decode(bytes.subarray(0, text.length)) === text;
}

/** In the encoding of the byte order mark, the header or the page. */
function decoded(bytes: Uint8Array, contentType: string): string {
  const start = new TextDecoder("latin1").decode(bytes.subarray(0, START_BYTES));
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe
    ? "utf-16le"
    : bytes[0] === 0xfe && bytes[1] === 0xff
    ? "utf-16be"
    : undefined;
  const named = /charset=["']?([\w.:-]{1,40})/i;
  const label = mark ?? named.exec(contentType)?.[1] ?? named.exec(start)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** The innermost reason, which names what is wrong with a certificate. */
function reasonOf(error: unknown): string {
  let last = error;
  for (let depth = 0; depth < 5 && last instanceof Error && last.cause instanceof Error; depth++) {
    last = last.cause;
  }
  return last instanceof Error ? last.message : String(last);
}

async function write(head: object, body: string): Promise<void> {
  const bytes = new TextEncoder().encode(`${JSON.stringify(head)}\n${body}`);
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}
