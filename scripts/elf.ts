/** Gives a program a dynamic loader and a library folder of its own, as `patchelf` does. @module */

const interpreter = 3;
const dynamic = 2;
const tags = { end: 0n, stringTable: 5n, rpath: 15n, runpath: 29n };

/**
 * The program, edited to be started by `loader` and to look for libraries in `libraries` first.
 *
 * Why not run `ld-linux.so --library-path … nvim`? Then /proc/self/exe is the loader, Neovim takes it for `v:progpath`,
 * and all that starts `v:progpath` again fails: the terminal UI, `:restart`, child Neovims in tests. And why not
 * LD_LIBRARY_PATH? Every child would inherit it.
 *
 * Two edits, neither of which moves anything: the loader's path is appended to the file and PT_INTERP points there (the
 * kernel reads it by file offset), and the search path goes where the old loader's name was, with a spare entry
 * of the dynamic section as its DT_RPATH (an offset from the string table that wraps around). An edited program
 * may be edited again. Format: elf(5), 64 bits, little endian.
 *
 * @param loader absolute path of the loader
 * @param libraries at most 26 bytes, for example `$ORIGIN/../$LIB`, see ld.so(8)
 * @throws {Error} if the file is no such program or has a search path of its own
 */
export function withLoader(program: Uint8Array, loader: string, libraries: string): Uint8Array {
  const segments = readSegments(program);
  const interp = segments.find((segment) => segment.type === interpreter);
  const dyn = segments.find((segment) => segment.type === dynamic);
  if (interp === undefined || dyn === undefined) throw new Error("not a dynamically linked program");

  const isEdited = interp.offset + interp.fileSize === program.length;
  const end = isEdited ? interp.offset : program.length;
  const path = new TextEncoder().encode(`${loader}\0`);
  const edited = new Uint8Array(end + path.length);
  edited.set(program.subarray(0, end));
  edited.set(path, end);
  const view = new DataView(edited.buffer);

  if (!isEdited) {
    const search = new TextEncoder().encode(`${libraries}\0`);
    if (search.length > interp.memorySize) throw new Error(`no room for the search path ${libraries}`);
    setRpath(view, dyn, interp.address);
    edited.set(search, interp.offset);
  }
  view.setBigUint64(interp.header + 8, BigInt(end), true);
  view.setBigUint64(interp.header + 32, BigInt(path.length), true);
  return edited;
}

interface Segment {
  /** Where its program header stands in the file. */
  readonly header: number;
  readonly type: number;
  readonly offset: number;
  readonly address: bigint;
  readonly fileSize: number;
  readonly memorySize: number;
}

function readSegments(program: Uint8Array): Segment[] {
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  const isElf = program.length > 64 && view.getUint32(0) === 0x7f454c46;
  if (!isElf || view.getUint16(4) !== 0x0201) throw new Error("not a 64-bit little-endian ELF file");
  const start = Number(view.getBigUint64(32, true));
  const size = view.getUint16(54, true);
  return Array.from({ length: view.getUint16(56, true) }, (_, index) => {
    const header = start + index * size;
    return {
      header,
      type: view.getUint32(header, true),
      offset: Number(view.getBigUint64(header + 8, true)),
      address: view.getBigUint64(header + 16, true),
      fileSize: Number(view.getBigUint64(header + 32, true)),
      memorySize: Number(view.getBigUint64(header + 40, true)),
    };
  });
}

/** Turns the first of the entries that end the dynamic section into a DT_RPATH; linkers leave a few of them. */
function setRpath(view: DataView, { offset, fileSize }: Segment, address: bigint): void {
  let stringTable: bigint | undefined;
  for (let at = offset; at + 32 <= offset + fileSize; at += 16) {
    const tag = view.getBigUint64(at, true);
    if (tag === tags.stringTable) stringTable = view.getBigUint64(at + 8, true);
    if (tag === tags.rpath || tag === tags.runpath) throw new Error("has a library search path already");
    if (tag !== tags.end || stringTable === undefined) continue;
    view.setBigUint64(at, tags.rpath, true);
    view.setBigUint64(at + 8, BigInt.asUintN(64, address - stringTable), true);
    return;
  }
  throw new Error("no room in its dynamic section");
}
