/** A file that somebody may change while it is read: its text and its place are those of one and the same file. */

/** @param most bytes @throws {Error} one line */
export async function oneFile(
  path: string,
  most: number,
): Promise<{ readonly real: string; readonly text: string }> {
  const real = await Deno.realPath(path);
  if (!(await Deno.lstat(real)).isFile) throw new Error("it is not a file");
  using file = await Deno.open(real);
  const { dev, ino, size } = await file.stat();
  if (size > most) throw new Error(`it is larger than ${most / 1024} kB`);
  const bytes = new Uint8Array(size);
  let length = 0;
  for (let read = await file.read(bytes); read !== null && length < size;) {
    length += read;
    read = length < size ? await file.read(bytes.subarray(length)) : null;
  }
  // Nobody has put another one in its place meanwhile.
  const now = await Deno.lstat(real);
  if (!now.isFile || now.dev !== dev || now.ino !== ino || await Deno.realPath(real) !== real) {
    throw new Error("it was changed while it was read");
  }
  return { real, text: new TextDecoder().decode(bytes.subarray(0, length)) };
}
