/** PDFs of the web: their text, and what hostile ones can do to the process that reads them. */
import assert from "node:assert/strict";
import { deflateSync } from "node:zlib";
import { webText } from "../../denops/agent/engine/tools/web/show.ts";
import { parseRule } from "../../denops/agent/policy/rules.ts";
import { fetchPage } from "../../denops/agent/supervisor/web/fetch_page.ts";
import { PLUGIN } from "../support/agent.ts";
import { denoCache } from "../support/nvim_process.ts";
import { scratch } from "../support/project.ts";

const ignore = Deno.build.os !== "linux";

/** A PDF of these objects, numbered from 1; the first one is its catalog. */
function pdf(objects: readonly (string | Uint8Array)[]): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [encoder.encode("%PDF-1.4\n")];
  const offsets: number[] = [];
  let length = 9;
  const add = (part: string | Uint8Array) => {
    const bytes = typeof part === "string" ? encoder.encode(part) : part;
    parts.push(bytes);
    length += bytes.length;
  };
  objects.forEach((object, at) => {
    offsets.push(length);
    for (const part of [`${at + 1} 0 obj\n`, object, "\nendobj\n"]) add(part);
  });
  const start = length;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  const count = objects.length + 1;
  add(`xref\n0 ${count}\n0000000000 65535 f \n${rows}trailer << /Size ${count} /Root 1 0 R >>\n`);
  add(`startxref\n${start}\n%%EOF\n`);
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function stream(content: Uint8Array, filter = "/FlateDecode"): Uint8Array {
  const encoder = new TextEncoder();
  const head = encoder.encode(`<< /Filter ${filter} /Length ${content.length} >>\nstream\n`);
  return Uint8Array.from([...head, ...content, ...encoder.encode("\nendstream")]);
}

const CATALOG = "<< /Type /Catalog /Pages 2 0 R >>";
const FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>";

/** One page for each text. */
function document(texts: readonly string[]): Uint8Array<ArrayBuffer> {
  const pages = texts.flatMap((text, at) => {
    const resources = "/Resources << /Font << /F1 3 0 R >> >>";
    const page = `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${
      5 + 2 * at
    } 0 R ${resources} >>`;
    return [
      page,
      stream(deflateSync(`BT /F1 12 Tf 72 720 Td 14 TL (${text.split("\n").join(") Tj T* (")}) Tj ET`)),
    ];
  });
  const kids = texts.map((_, at) => `${4 + 2 * at} 0 R`).join(" ");
  return pdf([CATALOG, `<< /Type /Pages /Count ${texts.length} /Kids [${kids}] >>`, FONT, ...pages]);
}

/** A stream that is a thousand times as long twice over. */
function bomb(): Uint8Array<ArrayBuffer> {
  const inner = deflateSync(new Uint8Array(230_000_000).fill(32), { level: 1 });
  const page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents [4 0 R 4 0 R 4 0 R] >>";
  const content = stream(deflateSync(inner), "[/FlateDecode /FlateDecode]");
  return pdf([CATALOG, "<< /Type /Pages /Count 1 /Kids [3 0 R] >>", page, content]);
}

/** What the model reads of it. */
async function read(body: Uint8Array<ArrayBuffer>, isInSandbox = false) {
  await using state = await scratch();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(body, { headers: { "content-type": "application/octet-stream" } }),
  );
  const path = Deno.env.get("PATH") ?? "";
  const bash = await scratch();
  if (!isInSandbox) {
    // Without bubblewrap, Deno's permissions confine it, which is cheaper.
    await Deno.symlink("/bin/bash", bash.path("bash"));
    Deno.env.set("PATH", bash.root);
  }
  const host = `localhost:${server.addr.port}`;
  const place = {
    roots: [state.path("project")],
    stateDir: state.root,
    environment: { PATH: path },
    modules: () => Promise.resolve({ plugin: PLUGIN, denoDir: denoCache().DENO_DIR }),
    patienceMs: 60_000,
    resolve: () => Promise.resolve(["127.0.0.1"]),
  };
  try {
    const rules = [parseRule(`fetch(${host})`, "allow", "user")];
    return await webText(await fetchPage(`http://${host}/a`, rules, place, new AbortController().signal));
  } finally {
    Deno.env.set("PATH", path);
    await bash[Symbol.asyncDispose]();
  }
}

Deno.test({
  name: "a PDF arrives as text by pages, in parts like any other text",
  ignore,
  async fn() {
    const { about, parts, failed } = await read(
      document(["Hello page one.\nSecond line.", "Page two."]),
      true,
    );
    assert.match(about, /^http:\/\/localhost:\d+\/a, text of a PDF$/);
    assert.deepEqual([parts, failed], [
      ["[page 1]\nHello page one.\nSecond line.\n\n[page 2]\nPage two."],
      false,
    ]);
    const page = Array.from({ length: 40 }, (_, at) => `Line ${at} of a page.`).join("\n");
    const long = await read(document(Array.from({ length: 60 }, () => page)));
    assert.equal(long.parts.length, 3);
    assert.ok(long.parts[2]?.endsWith("Line 39 of a page."));
  },
});

Deno.test({
  name: "damaged, empty and hostile PDFs end in one line",
  ignore,
  async fn() {
    const encoder = new TextEncoder();
    const kids = "<< /Type /Pages /Count 9 /Kids [2 0 R 2 0 R] >>";
    for (
      const [name, body, problem] of [
        ["garbage", encoder.encode(`%PDF-1.4\n${"\u0000x>>endobj ".repeat(9_000)}`), /it is damaged/],
        ["no text", document([""]), /it has no text: its pages may be pictures/],
        ["pages that contain themselves", pdf([CATALOG, kids]), /it has no text|it is damaged/],
        ["a bomb", bomb(), /it takes too much memory/],
      ] as const
    ) {
      const { parts, problem: line = "" } = await read(body);
      assert.match(line, problem, name);
      assert.match(
        parts[0] ?? "",
        /^This PDF cannot be read: .*\. Look for the same as HTML, or ask the user\.$/,
      );
    }
  },
});
