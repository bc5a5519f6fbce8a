/** Converts a page to Markdown in one pass without a tree, so that no page can make it slow. */
import { type Attributes, BLOCKS, isCode, isMain, isSkipped, languageOf } from "./elements.ts";
import { MarkdownWriter } from "./writer.ts";

interface PageMarkdown {
  readonly title: string;
  readonly text: string;
  /** The rest was nested too deep. */
  readonly isCut: boolean;
}

/** Elements in one another: the parser's time for each grows with it. */
const DEEPEST = 1_000;
/** Characters of a link's address. */
const LONGEST_LINK = 500;
const LONGEST_TITLE = 300;
/** The main content is shown alone if it is this much text, or this part of all. */
const MUCH_MAIN = 2_000;
const PART_MAIN = 0.25;

/** Text of links from a heading to itself. */
const ANCHOR = /^[\s¶§◆🔗]+$/u;

class TooDeep extends Error {}

export async function toMarkdown(html: string, address: string): Promise<PageMarkdown> {
  const { Parser } = await import("../../../deps/htmlparser2.ts");
  const page = new Page(address);
  const parser = new Parser({
    onopentag: (name, attributes) => page.open(name, attributes),
    onclosetag: () => page.close(),
    ontext: (text) => page.text(text),
  });
  try {
    parser.write(html);
    parser.end();
  } catch (error) {
    if (!(error instanceof TooDeep)) throw error;
    page.closeAll();
  }
  return page.markdown;
}

type Close = (() => void) | undefined;

interface Code {
  text: string[];
  language: string | undefined;
}

class Page {
  readonly #writer = new MarkdownWriter();
  /** For each open element. */
  readonly #open: Close[] = [];
  readonly #mains: { readonly from: number; to: number }[] = [];
  #base: string;
  #hasBase = false;
  #title: string[] | undefined;
  #titleText = "";
  #skips = false;
  #isInMain = false;
  #isCut = false;
  /** In a link to a place of the page. */
  #isAnchor = false;
  /** Of an enclosing element. */
  #language: string | undefined;
  #code: Code | undefined;
  #inlineCode: string[] | undefined;

  constructor(address: string) {
    this.#base = address;
  }

  open(name: string, attributes: Attributes): void {
    if (this.#open.length >= DEEPEST) throw new TooDeep();
    this.#open.push(this.#skips ? undefined : this.#element(name, attributes));
  }

  close(): void {
    this.#open.pop()?.();
  }

  closeAll(): void {
    this.#isCut = true;
    while (this.#open.length > 0) this.close();
  }

  text(text: string): void {
    if (this.#skips) return;
    const raw = this.#title ?? this.#code?.text ?? this.#inlineCode;
    if (raw !== undefined) raw.push(text);
    else if (!this.#isAnchor || !ANCHOR.test(text.slice(0, 9))) this.#writer.text(text);
  }

  get markdown(): PageMarkdown {
    this.#writer.block();
    const { lines } = this.#writer;
    const all = lines.join("\n").replace(/\n{3,}/g, "\n\n").trim();
    const main = this.#mains.map(({ from, to }) => lines.slice(from, to).join("\n"))
      .join("\n\n").replace(/\n{3,}/g, "\n\n").trim();
    const isMuch = main.length > MUCH_MAIN || main.length > PART_MAIN * all.length;
    return { title: this.#titleText, text: isMuch ? main : all, isCut: this.#isCut };
  }

  #element(name: string, attributes: Attributes): Close {
    if (this.#code !== undefined) return this.#inCode(this.#code, name, attributes);
    if (isSkipped(name, attributes, this.#isInMain)) {
      this.#skips = true;
      return () => this.#skips = false;
    }
    if (this.#inlineCode !== undefined) {
      if (name === "br") this.#inlineCode.push(" ");
      return undefined;
    }
    const close = this.#visible(name, attributes);
    if (this.#isInMain || !isMain(name, attributes)) return close;
    this.#isInMain = true;
    const main = { from: this.#writer.lines.length, to: 0 };
    return () => {
      close?.();
      this.#writer.block();
      this.#isInMain = false;
      this.#mains.push({ ...main, to: this.#writer.lines.length });
    };
  }

  #visible(name: string, attributes: Attributes): Close {
    const writer = this.#writer;
    if (isCode(name, attributes)) return this.#startCode(attributes);
    if (/^h[1-6]$/.test(name)) return writer.heading(Number(name[1]));
    if (BLOCKS.has(name)) return this.#block(attributes);
    switch (name) {
      case "title":
        return this.#startTitle();
      case "base":
        return this.#setBase(attributes);
      case "br":
        return void writer.endLine();
      case "hr":
        return void writer.rule();
      case "ul":
      case "menu":
        return writer.list(false, 1);
      case "ol":
        return writer.list(true, Math.trunc(Number(attributes.start ?? 1)) || 1);
      case "li":
        writer.item();
        return () => writer.endLine();
      case "code":
      case "kbd":
      case "samp":
      case "tt":
        return this.#startInlineCode();
      case "dt":
        return this.#term(attributes);
      case "blockquote":
        return writer.quote();
      case "table":
        return writer.table();
      case "tr":
        return void writer.row();
      case "td":
      case "th":
        return writer.cell(Number(attributes.colspan) || 1);
      case "input":
        return attributes.type === "checkbox"
          ? void writer.text(attributes.checked === undefined ? "[ ] " : "[x] ")
          : undefined;
      case "img":
        return void writer.text(attributes.alt ?? "");
      default:
        return this.#inline(name, attributes);
    }
  }

  #inline(name: string, attributes: Attributes): Close {
    const writer = this.#writer;
    const enclosed = (before: string, after: string) => {
      const mark = writer.mark();
      return () => writer.enclose(mark, before, after);
    };
    switch (name) {
      case "strong":
      case "b":
        return enclosed("**", "**");
      case "em":
      case "i":
        return enclosed("*", "*");
      case "del":
      case "s":
        return enclosed("~~", "~~");
      case "a": {
        const target = this.#target(attributes.href);
        if (target !== undefined) return enclosed("[", `](${target})`);
        this.#isAnchor = attributes.href?.startsWith("#") === true;
        return () => this.#isAnchor = false;
      }
      default:
        return undefined;
    }
  }

  /** Undefined: a link within the page, or none that can be followed. */
  #target(href: string | undefined): string | undefined {
    if (href === undefined || href.startsWith("#") || href.length > LONGEST_LINK) return undefined;
    const url = URL.parse(href, this.#base);
    if (url === null || !["http:", "https:", "mailto:"].includes(url.protocol)) return undefined;
    return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
  }

  #block(attributes: Attributes): Close {
    const outer = this.#language;
    this.#language = languageOf(attributes) ?? outer;
    this.#writer.block();
    return () => {
      this.#language = outer;
      this.#writer.block();
    };
  }

  #startCode(attributes: Attributes): Close {
    const code: Code = { text: [], language: languageOf(attributes) ?? this.#language };
    this.#code = code;
    return () => {
      this.#code = undefined;
      this.#writer.code(code.text.join(""), code.language ?? "");
    };
  }

  #inCode(code: Code, name: string, attributes: Attributes): Close {
    if (isSkipped(name, attributes, true)) {
      this.#skips = true;
      return () => this.#skips = false;
    }
    if (name === "br") code.text.push("\n");
    if (name === "code") code.language ??= languageOf(attributes);
    const isLine = ["div", "p", "li", "tr"].includes(name);
    return isLine
      ? () => void (code.text.at(-1)?.endsWith("\n") === true || code.text.push("\n"))
      : undefined;
  }

  #startInlineCode(): Close {
    const code: string[] = [];
    this.#inlineCode = code;
    return () => {
      this.#inlineCode = undefined;
      this.#writer.inlineCode(code.join(""));
    };
  }

  /** A term, or the signature of something documented. */
  #term(attributes: Attributes): Close {
    this.#writer.block();
    const isSignature = /(?:^| )sig(?: |$)/.test(attributes.class?.slice(0, 100) ?? "");
    const mark = isSignature ? undefined : this.#writer.mark();
    const close = isSignature ? this.#startInlineCode() : undefined;
    return () => {
      close?.();
      if (mark !== undefined) this.#writer.enclose(mark, "**", "**");
      this.#writer.block();
    };
  }

  #startTitle(): Close {
    if (this.#titleText !== "") return undefined;
    const title: string[] = [];
    this.#title = title;
    return () => {
      this.#title = undefined;
      this.#titleText = title.join("").replace(/\s+/g, " ").trim().slice(0, LONGEST_TITLE);
    };
  }

  #setBase({ href }: Attributes): undefined {
    if (this.#hasBase || href === undefined) return;
    this.#hasBase = true;
    this.#base = URL.parse(href, this.#base)?.href ?? this.#base;
  }
}
