/** Bytes in pieces, for tests of what must not depend on where a stream is cut. */
import fc from "fast-check";

const encoder = new TextEncoder();

export function utf8(text: string): Uint8Array<ArrayBuffer> {
  return encoder.encode(text);
}

/** Where to cut: shares of the whole, from 0 to 1. */
export const cuts: fc.Arbitrary<readonly number[]> = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), {
  maxLength: 12,
});

/** The bytes cut at these places; pieces may be empty. */
export function cutAt(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const offsets = places.map((share) => Math.floor(share * (bytes.length + 1))).sort((a, b) => a - b);
  return [0, ...offsets].map((from, index) => bytes.subarray(from, offsets[index] ?? bytes.length));
}

/** Every byte by itself. */
export function bytewise(bytes: Uint8Array): readonly Uint8Array[] {
  return Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
}
