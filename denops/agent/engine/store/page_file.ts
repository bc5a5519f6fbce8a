/**
 * Reads the pages of a database file and of its write-ahead log without SQLite, which refuses a damaged file.
 * Source: sqlite.org/fileformat2.html.
 */

const MAGIC = "SQLite format 3\0";
const HEADER = 100;
const WAL_HEADER = 32;
const FRAME_HEADER = 24;
/** Page sizes of our databases, for a file whose header is damaged. */
const PAGE_SIZES = [8192, 4096];

/** A page's entry in the map that a database with auto_vacuum keeps of its pages. */
interface PageOwner {
  readonly type: "root" | "free" | "overflow" | "tree";
  /** The page above this one; 0 for a root or a free page. */
  readonly parent: number;
}

const OWNER_TYPES = ["root", "free", "overflow", "overflow", "tree"] as const;

export class PageFile implements Disposable {
  readonly pageSize: number;
  /** Bytes of a page that hold content. */
  readonly usable: number;
  readonly pageCount: number;
  readonly #file: Deno.FsFile;
  readonly #wal: Wal | undefined;
  readonly #hasMap: boolean;

  /** Open it only while no connection of this process has the file open: closing it would end that one's locks. */
  constructor(path: string) {
    this.#file = Deno.openSync(path);
    const size = this.#file.statSync().size;
    this.#wal = Wal.open(`${path}-wal`);
    const header = this.#wal?.page(1)?.subarray(0, HEADER) ?? readAt(this.#file, 0, HEADER);
    const isRight = header !== undefined && new TextDecoder().decode(header.subarray(0, 16)) === MAGIC &&
      isPageSize(pageSizeIn(header));
    this.pageSize = this.#wal?.pageSize ?? (isRight ? pageSizeIn(header) : this.#likelyPageSize(size));
    this.usable = this.pageSize - (isRight ? header[20] ?? 0 : 0);
    this.pageCount = Math.max(Math.floor(size / this.pageSize), this.#wal?.pageCount ?? 0);
    this.#hasMap = !isRight || viewOf(header).getUint32(52) !== 0;
  }

  /** Undefined if the file ends before the page does. */
  page(number: number): Uint8Array | undefined {
    if (number < 1 || number > this.pageCount) return undefined;
    return this.#wal?.page(number) ??
      readAt(this.#file, (number - 1) * this.pageSize, this.pageSize);
  }

  /** Undefined if the database keeps no map, or the entry makes no sense. */
  owner(number: number): PageOwner | undefined {
    if (!this.#hasMap || number < 3) return undefined;
    const group = Math.floor(this.usable / 5) + 1;
    const map = Math.floor((number - 2) / group) * group + 2;
    if (map === number) return undefined;
    const page = this.page(map);
    if (page === undefined) return undefined;
    const at = (number - map - 1) * 5;
    const type = OWNER_TYPES[(page[at] ?? 0) - 1];
    const parent = viewOf(page).getUint32(at + 1);
    const isRight = type === "root" || type === "free"
      ? parent === 0
      : parent > 0 && parent <= this.pageCount;
    return type !== undefined && isRight ? { type, parent } : undefined;
  }

  /** The size with which more pages look like pages of a tree. */
  #likelyPageSize(size: number): number {
    const counts = PAGE_SIZES.map((pageSize) => {
      let trees = 0;
      for (let at = pageSize; at < size; at += pageSize) {
        const type = readAt(this.#file, at, 1)?.[0];
        if (type === 13 || type === 10) trees += 1;
      }
      return { pageSize, share: trees * pageSize };
    });
    return counts.reduce((best, one) => one.share > best.share ? one : best).pageSize;
  }

  [Symbol.dispose](): void {
    this.#file.close();
    this.#wal?.[Symbol.dispose]();
  }
}

/** The pages of all transactions in the log that are whole. */
class Wal implements Disposable {
  readonly pageSize: number;
  pageCount = 0;
  readonly #file: Deno.FsFile;
  /** Page → where it is in the file. */
  readonly #pages = new Map<number, number>();

  private constructor(file: Deno.FsFile, header: Uint8Array) {
    this.#file = file;
    this.pageSize = viewOf(header).getUint32(8);
    this.#read(header);
  }

  /** Undefined without a usable log. */
  static open(path: string): Wal | undefined {
    let file;
    try {
      file = Deno.openSync(path);
    } catch {
      return undefined;
    }
    const header = readAt(file, 0, WAL_HEADER);
    const magic = header === undefined ? 0 : viewOf(header).getUint32(0);
    if (header !== undefined && (magic & ~1) === 0x377f0682 && isPageSize(viewOf(header).getUint32(8))) {
      return new Wal(file, header);
    }
    file.close();
    return undefined;
  }

  page(number: number): Uint8Array | undefined {
    const at = this.#pages.get(number);
    return at === undefined ? undefined : readAt(this.#file, at, this.pageSize);
  }

  /** Reads up to the last commit before the first damaged frame, or the first frame of an earlier log. */
  #read(header: Uint8Array): void {
    const isLittle = (viewOf(header).getUint32(0) & 1) === 0;
    const salt = viewOf(header).getBigUint64(16);
    let sum = checksum(header.subarray(0, 24), isLittle, [0, 0]);
    const open = new Map<number, number>();
    for (let at = WAL_HEADER;; at += FRAME_HEADER + this.pageSize) {
      const frame = readAt(this.#file, at, FRAME_HEADER + this.pageSize);
      if (frame === undefined || viewOf(frame).getBigUint64(8) !== salt) return;
      sum = checksum(frame.subarray(0, 8), isLittle, sum);
      sum = checksum(frame.subarray(FRAME_HEADER), isLittle, sum);
      if (viewOf(frame).getUint32(16) !== sum[0] || viewOf(frame).getUint32(20) !== sum[1]) return;
      open.set(viewOf(frame).getUint32(0), at + FRAME_HEADER);
      const pages = viewOf(frame).getUint32(4);
      if (pages === 0) continue;
      for (const [page, place] of open) this.#pages.set(page, place);
      open.clear();
      this.pageCount = pages;
    }
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

type Sum = readonly [number, number];

function checksum(bytes: Uint8Array, isLittle: boolean, [first, second]: Sum): Sum {
  const view = viewOf(bytes);
  let [one, two] = [first, second];
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    one = (one + view.getUint32(at, isLittle) + two) >>> 0;
    two = (two + view.getUint32(at + 4, isLittle) + one) >>> 0;
  }
  return [one, two];
}

/** Undefined if the file ends before. */
function readAt(file: Deno.FsFile, at: number, length: number): Uint8Array | undefined {
  file.seekSync(at, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  for (let done = 0; done < length;) {
    const count = file.readSync(bytes.subarray(done));
    if (count === null) return undefined;
    done += count;
  }
  return bytes;
}

function pageSizeIn(header: Uint8Array): number {
  const size = viewOf(header).getUint16(16);
  return size === 1 ? 65_536 : size;
}

function isPageSize(size: number): boolean {
  return size >= 512 && size <= 65_536 && (size & (size - 1)) === 0;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
