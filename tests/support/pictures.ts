/** Image files that real decoders take, made here so that their sizes are known. */
import { crc32, deflateSync } from "node:zlib";

/** 1×1, one of each kind that a WebP file may be. */
export const WEBP = {
  lossy: base64("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA"),
  lossless: base64("UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="),
  extended: base64(
    "UklGRkoAAABXRUJQVlA4WAoAAAAQAAAAAAAAAAAAQUxQSAwAAAARBxAR/Q9ERP8DAABWUDggGAAAABQBAJ0BKgEAAQAAAP4AAA3AAP7mtQAAAA==",
  ),
};

/** 1×1. */
export const GIF = base64("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7");

function base64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.fromBase64(text);
}

/**
 * A PNG of grey noise, not compressed: about a byte a pixel.
 * @param seed not 0; another one is another image of the same size
 */
export function pngFile(width: number, height: number, seed = 1): Uint8Array<ArrayBuffer> {
  const rows = new Uint8Array((width + 1) * height);
  let state = seed;
  for (let at = 0; at < rows.length; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    // The first byte of a row is its filter.
    rows[at] = at % (width + 1) === 0 ? 0 : state >>> 24;
  }
  const header = [...u32(width), ...u32(height), 8, 0, 0, 0, 0];
  return joined(
    [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
    pngChunk("IHDR", header),
    pngChunk("IDAT", deflateSync(rows, { level: 0 })),
    pngChunk("IEND", []),
  );
}

function pngChunk(kind: string, data: ArrayLike<number>): Uint8Array {
  const body = joined(new TextEncoder().encode(kind), data);
  return joined(u32(data.length), body, u32(crc32(body)));
}

/** A baseline JPEG, grey all over: each block of 8×8 is two bits. */
export function jpegFile(width: number, height: number): Uint8Array<ArrayBuffer> {
  const blocks = Math.ceil(width / 8) * Math.ceil(height / 8);
  const one = [...Array(15).fill(0)];
  return joined(
    [0xff, 0xd8],
    jpegSegment(0xe0, [0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    jpegSegment(0xdb, [0, ...Array(64).fill(1)]),
    jpegSegment(0xc0, [8, ...u16(height), ...u16(width), 1, 1, 0x11, 0]),
    // One code each, "0": no difference from the block before, and nothing else in the block.
    jpegSegment(0xc4, [0x00, 1, ...one, 0]),
    jpegSegment(0xc4, [0x10, 1, ...one, 0]),
    jpegSegment(0xda, [1, 1, 0x00, 0, 63, 0]),
    new Uint8Array(Math.ceil(blocks / 4)),
    [0xff, 0xd9],
  );
}

function jpegSegment(marker: number, data: readonly number[]): Uint8Array {
  return joined([0xff, marker], u16(data.length + 2), data);
}

function u16(value: number): readonly number[] {
  return [value >>> 8, value & 0xff];
}

function u32(value: number): readonly number[] {
  return [...u16(value >>> 16), ...u16(value & 0xffff)];
}

function joined(...parts: readonly ArrayLike<number>[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
