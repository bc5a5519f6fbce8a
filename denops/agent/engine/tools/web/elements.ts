/** Recognises the elements of a page by their names and attributes. Pure. */

export type Attributes = Readonly<Record<string, string>>;

/** Without text of the page. */
const NEVER: ReadonlySet<string> = new Set(
  ("script style nav noscript button svg template iframe select textarea canvas audio video object dialog " +
    "annotation annotation-xml").split(" "),
);
const SKIPPED_ROLES: ReadonlySet<string> = new Set(
  "navigation search contentinfo dialog alertdialog menu menubar toolbar".split(" "),
);
/** Names in classes: menus, contents, links to headings, line numbers, buttons. */
const SKIPPED_CLASS = new RegExp(
  "(?:^| )(?:sr-only|visually-hidden|visuallyhidden|hash-link|headerlink|header-anchor|direct-link|sidebar|" +
    "sphinxsidebar|navbar|menu|toc|table-of-contents|tableOfContents|breadcrumbs?|copy-path|copybtn|copy-button|" +
    "buttonGroup|theme-doc-sidebar-container|theme-doc-toc-mobile|theme-doc-footer|pagination-nav|skip-link|" +
    "skipToContent|linenos?|lineno|linenumber|line-numbers?-rows|src-line-numbers|gutter|edit-this-page|" +
    "anchorjs-link|VPDocAsideOutline|VPLocalNav|VPSidebar|line-numbers-wrapper)(?: |_|$)",
);
const COOKIES =
  /cookie[-_]?(?:banner|consent|notice|bar|popup|dialog|modal|message|law)|consent[-_]?(?:banner|bar|popup|dialog|modal)|onetrust|cc-window|gdpr/i;
const ADMONITION = /admonition|callout|note|tip|warn|danger|info|alert|aside/i;
const MAIN_NAMES: ReadonlySet<string> = new Set(
  "content main main-content readme layout-content doc-content bodyContent mw-content-text".split(" "),
);
const MAIN_CLASS =
  /(?:^| )(?:contents|col-content|markdown-body|vp-doc|theme-doc-markdown|mw-parser-output|body-content)(?: |$)/;
/** Classes of attributes that are read. */
const LONGEST_CLASS = 300;

function classOf({ class: text = "" }: Attributes): string {
  return text.slice(0, LONGEST_CLASS).replace(/\s/g, " ");
}

/** @param inMain whether it is in the main content */
export function isSkipped(name: string, attributes: Attributes, inMain: boolean): boolean {
  if (["html", "body", "main", "article"].includes(name) || /^h[1-6]$/.test(name)) return false;
  if (NEVER.has(name)) return true;
  const text = classOf(attributes);
  if (name === "pre") return SKIPPED_CLASS.test(text);
  if (name === "footer") return true;
  if (name === "aside") return !(inMain && (ADMONITION.test(text) || attributes.role === "note"));
  if (attributes["aria-hidden"] === "true" || SKIPPED_ROLES.has(attributes.role ?? "")) return true;
  // Tabs hide all but one of their texts.
  const isHidden = attributes.hidden !== undefined ||
    /display: ?none/.test(attributes.style?.slice(0, 200) ?? "");
  if (isHidden && attributes.role !== "tabpanel") return true;
  if (name === "a" && /(?:^| )anchor(?: |$)/.test(text)) return true;
  return SKIPPED_CLASS.test(text) || COOKIES.test(`${attributes.id?.slice(0, 100) ?? ""} ${text}`);
}

export function isMain(name: string, attributes: Attributes): boolean {
  return name === "main" || name === "article" || attributes.role === "main" ||
    MAIN_NAMES.has(attributes.id ?? "") || MAIN_CLASS.test(classOf(attributes));
}

/** Elements that show code, besides `pre`: of Doxygen and of PHP's manual. */
export function isCode(name: string, attributes: Attributes): boolean {
  return name === "pre" || (name === "div" && /(?:^| )(?:fragment|phpcode)(?: |$)/.test(classOf(attributes)));
}

/** Languages that are classes of their own. */
const LANGUAGES: ReadonlySet<string> = new Set(
  ("ts tsx js jsx typescript javascript json rust ruby php python go java kotlin swift scala c cpp csharp sh bash shell " +
    "html css xml yaml toml sql lua elixir erlang haskell ocaml perl r").split(" "),
);
const NAMED =
  /(?:^| )(?:(?:language|lang|highlight-source|highlight)-|brush: ?|sourceCode )([\w+#.]{1,20})(?: |$)/;

/** The language of an element's code; undefined: it names none. */
export function languageOf(attributes: Attributes): string | undefined {
  const text = classOf(attributes);
  const own = attributes["data-lang"] ?? attributes["data-language"] ?? attributes.lang;
  const named = own !== undefined && LANGUAGES.has(own) ? own : NAMED.exec(text)?.[1];
  const found = named ?? text.split(" ").find((one) => LANGUAGES.has(one));
  return found === undefined || ["default", "none", "text"].includes(found) ? undefined : found;
}

/** Elements that begin and end a line. */
export const BLOCKS: ReadonlySet<string> = new Set(
  ("p div section article main header aside dl dd figure figcaption details summary form fieldset address body " +
    "hgroup caption legend center").split(" "),
);
