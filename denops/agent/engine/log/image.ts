/**
 * Recognises images by their first bytes, never by name: format, size, and completeness. Sources: PNG (w3.org/TR/png-3,
 * "Datastream structure"), JPEG (ITU T.81, annex B), GIF89a (w3.org/Graphics/GIF), WebP (RFC 9649).
 */
import type { ImageType } from "./messages.ts";

export interface ImageInfo {
  readonly type: ImageType;
  /** "PNG", for people. */
  readonly format: string;
  /** Pixels; undefined if the header has none. */
  readonly size: { readonly width: number; readonly height: number } | undefined;
  /** False if the file is truncated: providers refuse it, and every later request with it. */
  readonly whole: boolean;
}

/** Bytes that identify an image, as for text files. */
export const LOOKED_AT = 8_192;

type Format = Omit<ImageInfo, "size" | "whole"> & {
  /** The beginning, one character a byte. */
  readonly magic: string;
  read(bytes: Uint8Array, view: DataView): Pick<ImageInfo, "size" | "whole">;
};

const FORMATS: readonly Format[] = [
  { type: "image/png", format: "PNG", magic: "\x89PNG\r\n\x1a\n", read: readPng },
  { type: "image/jpeg", format: "JPEG", magic: "\xff\xd8\xff", read: readJpeg },
  { type: "image/gif", format: "GIF", magic: "GIF8", read: readGif },
  { type: "image/webp", format: "WebP", magic: "RIFF", read: readWebp },
];

/** A text that begins like an image is text. */
export function isImage(start: Uint8Array): boolean {
  return formatOf(start) !== undefined && start.subarray(0, LOOKED_AT).includes(0);
}

/** Undefined for other bytes. Never throws. */
export function imageInfo(bytes: Uint8Array): ImageInfo | undefined {
  const found = formatOf(bytes);
  if (found === undefined) return undefined;
  const { type, format, read } = found;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    return { type, format, ...read(bytes, view) };
  } catch (error) {
    // The header points past the end.
    if (error instanceof RangeError) return { type, format, size: undefined, whole: false };
    throw error;
  }
}

function formatOf(bytes: Uint8Array): Format | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  const found = FORMATS.find(({ magic }) => start.startsWith(magic));
  // Audio and video may be RIFF too.
  return found?.format === "WebP" && start.slice(8) !== "WEBP" ? undefined : found;
}

const IHDR = 0x49484452;
const IEND = 0x49454e44;

function readPng(_: Uint8Array, view: DataView) {
  if (view.getUint32(12) !== IHDR) return { size: undefined, whole: false };
  const size = { width: view.getUint32(16), height: view.getUint32(20) };
  let at = 8;
  while (at + 12 <= view.byteLength) {
    const kind = view.getUint32(at + 4);
    at += 12 + view.getUint32(at);
    if (kind === IEND) return { size, whole: true };
  }
  return { size, whole: false };
}

const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;

function readJpeg(bytes: Uint8Array, view: DataView) {
  let size: ImageInfo["size"];
  for (let at = 2; at + 4 <= bytes.length;) {
    if (view.getUint8(at) !== 0xff) break;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) {
      at += 1; // filling
    } else if (marker === START_OF_SCAN) {
      return { size, whole: hasEndOfImage(bytes, at) };
    } else {
      if (isFrame(marker)) size = { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
      at += 2 + view.getUint16(at + 2);
    }
  }
  return { size, whole: false };
}

/** C4, C8 and CC are tables and extensions. */
function isFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
}

/** Cameras append data to the image. */
function hasEndOfImage(bytes: Uint8Array, from: number): boolean {
  for (let at = bytes.length - 2; at > from; at--) {
    if (bytes[at] === 0xff && bytes[at + 1] === END_OF_IMAGE) return true;
  }
  return false;
}

const EXTENSION = 0x21;
const FRAME = 0x2c;
const TRAILER = 0x3b;

function readGif(_: Uint8Array, view: DataView) {
  const size = { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  for (let at = 13 + colours(view, 10); at < view.byteLength;) {
    const kind = view.getUint8(at);
    if (kind === TRAILER) return { size, whole: true };
    if (kind === EXTENSION) at = afterBlocks(view, at + 2);
    else if (kind === FRAME && at + 9 < view.byteLength) {
      at = afterBlocks(view, at + 11 + colours(view, at + 9));
    } else break;
  }
  return { size, whole: false };
}

/** Bytes of the colour table, by the flags at `at`. */
function colours(view: DataView, at: number): number {
  const flags = at < view.byteLength ? view.getUint8(at) : 0;
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 7) + 1);
}

/** Blocks, each with its length; one of length 0 is the last. */
function afterBlocks(view: DataView, from: number): number {
  let at = from;
  while (at < view.byteLength) {
    const length = view.getUint8(at);
    at += 1 + length;
    if (length === 0) break;
  }
  return at;
}

function readWebp(_: Uint8Array, view: DataView) {
  const whole = view.getUint32(4, true) + 8 <= view.byteLength;
  return { size: webpSize(view), whole };
}

function webpSize(view: DataView): ImageInfo["size"] {
  switch (view.getUint32(12)) {
    case 0x56503820: // "VP8 "
      return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff };
    case 0x5650384c: { // "VP8L"
      const bits = view.getUint32(21, true);
      return { width: 1 + (bits & 0x3fff), height: 1 + ((bits >>> 14) & 0x3fff) };
    }
    case 0x56503858: // "VP8X": 24 bits each
      return {
        width: 1 + (view.getUint32(24, true) & 0xffffff),
        height: 1 + (view.getUint32(26, true) >>> 8),
      };
    default:
      return undefined;
  }
}

/** "640×480, 12 kB". @param bytes size of the file */
export function measures({ size }: ImageInfo, bytes: number): string {
  return size === undefined ? fileSize(bytes) : `${size.width}×${size.height}, ${fileSize(bytes)}`;
}

/** "70 bytes", "12 kB", "3.5 MB". */
export function fileSize(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  if (bytes < 999_500) return `${Math.round(bytes / 1_000)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
