/**
 * Reads the rows of a damaged database page by page, as `.recover` of SQLite's shell does. The pages above a page, or the
 * database's map of pages, name its table. Source: sqlite.org/fileformat2.html.
 */
import { DatabaseSync, type SQLOutputValue } from "node:sqlite";
import { PageFile, viewOf } from "../page_file.ts";
import type { RowSource, SourceRow } from "../rows.ts";

const LEAF_TABLE = 13;
const INNER_TABLE = 5;
const LEAF_INDEX = 10;
const INNER_INDEX = 2;

/** Pages from one to the root of its tree; a real tree is never so high. */
const HIGHEST = 20;

interface Column {
  readonly name: string;
  /** As declared: TEXT, INTEGER, REAL or BLOB. */
  readonly type: string;
  /** It is the row's number, which is not in the record. */
  readonly isRowid: boolean;
}

interface TableLayout {
  readonly root: number;
  readonly name: string;
  /** In the order of a record. */
  readonly columns: readonly Column[];
  readonly hasRowid: boolean;
}

const SCHEMA_LAYOUT: TableLayout = {
  root: 1,
  name: "sqlite_schema",
  hasRowid: true,
  columns: ["type", "name", "tbl_name", "rootpage", "sql"].map((name) => ({
    name,
    type: name === "rootpage" ? "INTEGER" : "TEXT",
    isRowid: false,
  })),
};

export class DamagedRows implements RowSource {
  readonly tables: ReadonlyMap<string, readonly string[]>;
  readonly #file: PageFile;
  readonly #layouts: ReadonlyMap<string, TableLayout>;
  /** Root → the pages of its tree. */
  readonly #trees = new Map<number, number[]>();

  /** @param usual a new database: its tables stand in for those whose definition is lost */
  constructor(file: PageFile, usual: DatabaseSync) {
    this.#file = file;
    this.#findTrees(1, new Set());
    const found = [...this.#rows(SCHEMA_LAYOUT)].flatMap((row) => layoutOf(row) ?? []);
    const roots = new Set(found.map(({ root }) => root));
    const names = new Set(found.map(({ name }) => name));
    const missing = usual.prepare("SELECT * FROM sqlite_schema").all().flatMap((row) => layoutOf(row) ?? [])
      .filter(({ name, root }) => !names.has(name) && !roots.has(root));
    this.#layouts = new Map([...found, ...missing].map((layout) => [layout.name, layout]));
    this.tables = new Map(
      [...this.#layouts].map(([name, { columns }]) => [name, columns.map(({ name }) => name)]),
    );
    const known = new Set(this.#trees.get(1));
    for (const { root } of this.#layouts.values()) this.#findTrees(root, known);
    this.#findLost(known);
  }

  rows(table: string): Iterable<SourceRow> {
    const layout = this.#layouts.get(table);
    return layout === undefined ? [] : this.#rows(layout);
  }

  /** From the root down. */
  #findTrees(root: number, known: Set<number>): void {
    const pages: number[] = [];
    for (const open = [root]; open.length > 0;) {
      const number = open.pop() ?? 0;
      const page = this.#file.page(number);
      if (known.has(number) || page === undefined) continue;
      known.add(number);
      pages.push(number);
      const children = childrenOf(page, number, this.#file.usable).filter((child) => {
        const owner = this.#file.owner(child);
        return owner === undefined || (owner.type === "tree" && owner.parent === number);
      });
      open.push(...children);
    }
    this.#trees.set(root, pages);
  }

  /** Pages below one that is damaged: from each of them up. */
  #findLost(known: ReadonlySet<number>): void {
    for (let number = 3; number <= this.#file.pageCount; number++) {
      if (known.has(number)) continue;
      let at = number;
      let owner = this.#file.owner(at);
      for (let left = HIGHEST; left > 0 && owner?.type === "tree"; left--) {
        at = owner.parent;
        owner = this.#file.owner(at);
      }
      // Not every root has an owner: page 1 is before the map.
      if (at !== number && (owner?.type === "root" || at === 1)) this.#trees.get(at)?.push(number);
    }
  }

  *#rows(layout: TableLayout): Generator<SourceRow> {
    for (const number of this.#trees.get(layout.root) ?? []) {
      const page = this.#file.page(number);
      if (page === undefined) continue;
      for (const cell of cellsOf(page, number, this.#file.usable, layout.hasRowid)) {
        const payload = this.#payload(page, cell);
        const row = payload === undefined ? undefined : rowOf(payload, layout, cell.rowid);
        if (row !== undefined) yield row;
      }
    }
  }

  #payload(page: Uint8Array, { at, size, isTable }: Cell): Payload | undefined {
    const { usable } = this.#file;
    const most = isTable ? usable - 35 : Math.floor((usable - 12) * 64 / 255) - 23;
    if (size <= most) {
      return at + size > usable ? undefined : { bytes: page.subarray(at, at + size), known: size };
    }
    const least = Math.floor((usable - 12) * 32 / 255) - 23;
    const fitting = least + (size - least) % (usable - 4);
    const local = fitting <= most ? fitting : least;
    if (at + local + 4 > usable || size > usable * this.#file.pageCount) return undefined;
    const bytes = new Uint8Array(size);
    bytes.set(page.subarray(at, at + local));
    let known = local;
    const seen = new Set<number>();
    for (let next = viewOf(page).getUint32(at + local); known < size;) {
      const owner = this.#file.owner(next);
      const more = this.#file.page(next);
      if (more === undefined || seen.has(next) || (owner !== undefined && owner.type !== "overflow")) break;
      seen.add(next);
      const part = more.subarray(4, Math.min(usable, 4 + size - known));
      bytes.set(part, known);
      known += part.length;
      next = viewOf(more).getUint32(0);
    }
    return { bytes, known };
  }
}

interface Payload {
  readonly bytes: Uint8Array;
  /** Bytes that were read; the rest are zeros. */
  readonly known: number;
}

interface Cell {
  /** Of its record, in the page. */
  readonly at: number;
  /** Of its record. */
  readonly size: number;
  readonly rowid: number;
  readonly isTable: boolean;
}

/** Undefined for an index, a trigger or a virtual table. */
function layoutOf({ type, name, rootpage, sql }: SourceRow): TableLayout | undefined {
  if (type !== "table" || typeof rootpage !== "number" || rootpage < 1 || typeof sql !== "string") {
    return undefined;
  }
  const scratch = new DatabaseSync(":memory:");
  try {
    if (name === "sqlite_sequence") scratch.exec("CREATE TABLE any (id INTEGER PRIMARY KEY AUTOINCREMENT)");
    else scratch.exec(sql);
    const infos = scratch.prepare("SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid").all(
      String(name),
    );
    const hasRowid = !/WITHOUT\s+ROWID\s*$/i.test(sql);
    const keys = infos.filter(({ pk }) => Number(pk) > 0).sort((one, other) =>
      Number(one.pk) - Number(other.pk)
    );
    const ordered = hasRowid ? infos : [...keys, ...infos.filter(({ pk }) => Number(pk) === 0)];
    return {
      root: rootpage,
      name: String(name),
      hasRowid,
      columns: ordered.map(({ name, type, pk }) => ({
        name: String(name),
        type: String(type).toUpperCase(),
        isRowid: hasRowid && Number(pk) > 0 && keys.length === 1 && String(type).toUpperCase() === "INTEGER",
      })),
    };
  } catch {
    return undefined;
  } finally {
    scratch.close();
  }
}

/** Where the header of a page's tree begins. */
function headerOf(number: number): number {
  return number === 1 ? 100 : 0;
}

function* pointersOf(page: Uint8Array, number: number, usable: number): Generator<number> {
  const header = headerOf(number);
  const type = page[header];
  const isInner = type === INNER_TABLE || type === INNER_INDEX;
  const first = header + (isInner ? 12 : 8);
  const count = viewOf(page).getUint16(header + 3);
  if (first + 2 * count > usable) return;
  for (let cell = 0; cell < count; cell++) {
    const at = viewOf(page).getUint16(first + 2 * cell);
    if (at >= first + 2 * count && at + 4 <= usable) yield at;
  }
}

function childrenOf(page: Uint8Array, number: number, usable: number): readonly number[] {
  const type = page[headerOf(number)];
  if (type !== INNER_TABLE && type !== INNER_INDEX) return [];
  const view = viewOf(page);
  return [...pointersOf(page, number, usable)].map((at) => view.getUint32(at))
    .concat(view.getUint32(headerOf(number) + 8));
}

/** Those that have a row. */
function* cellsOf(page: Uint8Array, number: number, usable: number, isTable: boolean): Generator<Cell> {
  const type = page[headerOf(number)];
  if (isTable ? type !== LEAF_TABLE : type !== LEAF_INDEX && type !== INNER_INDEX) return;
  for (const pointer of pointersOf(page, number, usable)) {
    const size = varint(page, type === INNER_INDEX ? pointer + 4 : pointer);
    const rowid = isTable && size !== undefined ? varint(page, size.end) : undefined;
    if (size === undefined || (isTable && rowid === undefined)) continue;
    yield { at: (rowid ?? size).end, size: size.value, rowid: rowid?.value ?? 0, isTable };
  }
}

/** Undefined if the record does not fit the table. */
function rowOf({ bytes, known }: Payload, { columns }: TableLayout, rowid: number): SourceRow | undefined {
  const head = varint(bytes, 0);
  if (head === undefined || head.value > known) return undefined;
  const row: Record<string, SQLOutputValue> = {};
  let at = head.end;
  let body = head.value;
  for (const { name, type, isRowid } of columns) {
    // A column that was added later is not in earlier rows.
    if (at >= head.value) break;
    const serial = varint(bytes, at);
    if (serial === undefined || serial.end > head.value) return undefined;
    const length = lengthOf(serial.value);
    const isKnown = body + length <= known;
    if (body + length > bytes.length || (!isKnown && type !== "BLOB")) return undefined;
    const value = isKnown ? valueOf(bytes.subarray(body, body + length), serial.value) : new Uint8Array();
    if (value === undefined || !fits(value, type)) return undefined;
    row[name] = isRowid ? rowid : value;
    at = serial.end;
    body += length;
  }
  return at === head.value && body === bytes.length ? row : undefined;
}

function lengthOf(serial: number): number {
  if (serial >= 12) return (serial - 12) >> 1;
  return [0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0][serial] ?? 0;
}

const TEXT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function valueOf(bytes: Uint8Array, serial: number): SQLOutputValue | undefined {
  if (serial === 0) return null;
  if (serial === 8 || serial === 9) return serial - 8;
  if (serial === 10 || serial === 11) return undefined;
  if (serial === 7) return viewOf(bytes).getFloat64(0);
  if (serial < 7) return integerOf(bytes);
  if (serial % 2 === 0) return new Uint8Array(bytes);
  try {
    return TEXT.decode(bytes);
  } catch {
    return undefined;
  }
}

function integerOf(bytes: Uint8Array): number | bigint {
  const whole = BigInt.asIntN(bytes.length * 8, bytes.reduce((sum, byte) => sum << 8n | BigInt(byte), 0n));
  const number = Number(whole);
  return Number.isSafeInteger(number) ? number : whole;
}

function fits(value: SQLOutputValue, type: string): boolean {
  if (value === null) return true;
  switch (type) {
    case "TEXT":
      return typeof value === "string";
    case "BLOB":
      return value instanceof Uint8Array;
    case "INTEGER":
    case "REAL":
      return typeof value === "number" || typeof value === "bigint";
    default:
      return true;
  }
}

/** Undefined if it does not end, or is larger than any length. */
function varint(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } | undefined {
  let value = 0;
  for (let count = 1; count <= 9; count++) {
    const byte = bytes[at++];
    if (byte === undefined) return undefined;
    value = count === 9 ? value * 256 + byte : value * 128 + (byte & 127);
    if (count === 9 || byte < 128) return Number.isSafeInteger(value) ? { value, end: at } : undefined;
  }
}
