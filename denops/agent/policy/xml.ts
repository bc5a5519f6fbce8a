/** Parses the part of XML that manifests use: names of elements and attributes, and their values. Pure. */

/** One node for all elements of this name in the parent. */
interface XmlNode {
  /** The source of the elements. */
  ""?: string[];
  [name: string]: XmlNode | string[] | undefined;
}

const DEEPEST = 32;
const ATTRIBUTE = /\s+([\w.:-]+)\s*=\s*("[^"<]*"|'[^'<]*')/g;
/** A comment, an instruction, a CDATA section, a tag, or text. */
const TOKEN =
  /<!--[^]*?-->|<\?[^]*?\?>|<!\[CDATA\[[^]*?\]\]>|<(\/?)([A-Za-z_][\w.:-]*)((?:\s+[\w.:-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|[^<]+/gy;

/** @throws {Error} if it is not well-formed, or has declarations: an entity may stand for elements */
export function readXml(text: string): XmlNode {
  const document: XmlNode = {};
  const open: { readonly name: string; readonly node: XmlNode; readonly start: number }[] = [];
  let node = document;
  TOKEN.lastIndex = text.startsWith("\ufeff") ? 1 : 0;
  while (TOKEN.lastIndex < text.length) {
    const start = TOKEN.lastIndex;
    const match = TOKEN.exec(text);
    if (match === null) throw new Error(`It is no XML at ${start}.`);
    const [, slash, tag, attributes = "", isEmpty] = match;
    if (tag === undefined) continue;
    const name = localName(tag);
    if (slash !== "/") {
      const parent = node;
      node = childOf(parent, name);
      open.push({ name, node: parent, start });
      if (open.length > DEEPEST) throw new Error("It is nested too deep.");
      for (const [, key = "", value = ""] of attributes.matchAll(ATTRIBUTE)) {
        addTo(childOf(node, `@${localName(key)}`), value);
      }
    }
    if (slash !== "/" && isEmpty !== "/") continue;
    const element = open.pop();
    if (element?.name !== name) throw new Error(`It is no XML at ${start}.`);
    addTo(node, text.slice(element.start, TOKEN.lastIndex));
    node = element.node;
  }
  if (open.length > 0) throw new Error("It has no end.");
  return document;
}

/** Removes the namespace prefix, which is arbitrary. */
function localName(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}

function childOf(node: XmlNode, name: string): XmlNode {
  const known = Object.hasOwn(node, name) ? node[name] : undefined;
  if (known !== undefined && !Array.isArray(known)) return known;
  const child: XmlNode = {};
  node[name] = child;
  return child;
}

function addTo(node: XmlNode, text: string): void {
  (node[""] ??= []).push(text);
}
