/**
 * A program for a sandbox without network and files: reads a PDF from standard input and writes its text as JSON. The PDF may
 * be hostile, so nothing else runs in this process.
 * @see pdf_program.ts
 */
import { getDocument } from "../../deps/unpdf.ts";

const MOST_PAGES = 1_000;
/** Characters. */
const MOST_TEXT = 2_000_000;

/** Names of the library's errors → the end of a sentence. */
const PROBLEMS: Readonly<Record<string, string>> = {
  PasswordException: "it needs a password",
  InvalidPDFException: "it is damaged",
};

try {
  const data = new Uint8Array(await new Response(Deno.stdin.readable).arrayBuffer());
  const options = {
    data,
    isEvalSupported: false,
    disableFontFace: true,
    useSystemFonts: false,
    verbosity: 0,
  };
  await write(await textOf(await getDocument(options).promise));
} catch (error) {
  const name = error instanceof Error ? error.name : "";
  await write({ problem: PROBLEMS[name] ?? "it is damaged, or of an unknown kind" });
}
Deno.exit(0);

type PdfDocument = Awaited<ReturnType<typeof getDocument>["promise"]>;

async function textOf(pdf: PdfDocument): Promise<object> {
  const pages: string[] = [];
  let length = 0;
  for (let number = 1; number <= Math.min(pdf.numPages, MOST_PAGES) && length < MOST_TEXT; number++) {
    const text = (await pageText(pdf, number)).trim();
    length += text.length;
    pages.push(text === "" ? "" : `[page ${number}]\n${text}`);
  }
  if (length === 0) return { problem: "it has no text: its pages may be pictures" };
  const text = pages.filter((page) => page !== "").join("\n\n");
  return { text: text.slice(0, MOST_TEXT), isCut: pages.length < pdf.numPages || text.length > MOST_TEXT };
}

/** Empty for a damaged page. */
async function pageText(pdf: PdfDocument, number: number): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    page.cleanup();
    return items.map((item) => "str" in item ? item.str + (item.hasEOL ? "\n" : "") : "").join("");
  } catch {
    return "";
  }
}

async function write(answer: object): Promise<void> {
  const bytes = new TextEncoder().encode(JSON.stringify(answer));
  for (let at = 0; at < bytes.length;) at += await Deno.stdout.write(bytes.subarray(at));
}
