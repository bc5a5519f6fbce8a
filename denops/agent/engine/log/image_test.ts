import assert from "node:assert/strict";
import fc from "fast-check";
import { GIF, jpegFile, pngFile, WEBP } from "../../../../tests/support/pictures.ts";
import { runs } from "../../../../tests/support/runs.ts";
import { fileSize, imageInfo, isImage, measures } from "./image.ts";

const FILES: readonly (readonly [format: string, width: number, height: number, bytes: Uint8Array])[] = [
  ["PNG", 640, 480, pngFile(640, 480)],
  ["PNG", 1, 70_000, pngFile(1, 70_000)],
  ["JPEG", 640, 480, jpegFile(640, 480)],
  ["JPEG", 33, 17, jpegFile(33, 17)],
  ["GIF", 1, 1, GIF],
  ["WebP", 1, 1, WEBP.lossy],
  ["WebP", 1, 1, WEBP.lossless],
  ["WebP", 1, 1, WEBP.extended],
];

for (const [format, width, height, bytes] of FILES) {
  Deno.test(`${format} of ${width}×${height} and ${bytes.length} bytes`, () => {
    const info = imageInfo(bytes);
    assert.deepEqual(info && { ...info }, {
      type: `image/${format.toLowerCase()}`,
      format,
      size: { width, height },
      whole: true,
    });
    assert.ok(isImage(bytes));
    // As an editor or a camera may write more behind it.
    assert.equal(imageInfo(new Uint8Array([...bytes.subarray(0, 100_000), ...Array(9)]))?.format, format);
  });

  Deno.test(`${format} of ${bytes.length} bytes: no beginning of it is whole`, () => {
    const lengths = fc.nat(bytes.length - 1);
    fc.assert(
      fc.property(lengths, (length) => {
        const info = imageInfo(bytes.subarray(0, length));
        assert.ok(info?.whole !== true);
        assert.ok(length < 12 || info !== undefined);
      }),
      { seed: 7 },
    );
  });
}

Deno.test("sizes beyond 255, as each kind of WebP and GIF writes them", () => {
  const changed = (bytes: Uint8Array, at: number, ...values: readonly number[]) => {
    const copy = bytes.slice();
    copy.set(values, at);
    return imageInfo(copy)?.size;
  };
  assert.deepEqual(changed(GIF, 6, 0x80, 0x02, 0xe0, 0x01), { width: 640, height: 480 });
  // Two bits of the lossy kind's are a scale, which decoders are free to leave.
  assert.deepEqual(changed(WEBP.lossy, 26, 0x80, 0x42, 0xe0, 0x81), { width: 640, height: 480 });
  const bits = 639 | (479 << 14) | (1 << 28);
  const packed = [0, 8, 16, 24].map((shift) => (bits >>> shift) & 0xff);
  assert.deepEqual(changed(WEBP.lossless, 21, ...packed), { width: 640, height: 480 });
  assert.deepEqual(changed(WEBP.extended, 24, 0x6f, 0x11, 0x01, 0xdf, 0x01, 0x00), {
    width: 70_000,
    height: 480,
  });
});

Deno.test("any bytes behind a magic are read without a failure", () => {
  const beginnings = [[], ...FILES.map(([, , , bytes]) => [...bytes.subarray(0, 30)])];
  fc.assert(
    fc.property(
      fc.constantFrom(...beginnings),
      fc.nat(30),
      fc.uint8Array({ maxLength: 300 }),
      (beginning, kept, rest) => {
        imageInfo(new Uint8Array([...beginning.slice(0, kept), ...rest]));
      },
    ),
    { seed: 7, ...runs(2_000) },
  );
});

Deno.test("a text that begins like an image is none", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  assert.ok(!isImage(bytes("GIF89a is the name of a format.\n")));
  assert.ok(!isImage(bytes("RIFFabcdWEBPVP8 \n")));
  assert.ok(!isImage(bytes("")));
  assert.equal(imageInfo(bytes("PNG\n")), undefined);
});

Deno.test("sizes for people", () => {
  const sizes = [0, 70, 999, 1_000, 12_345, 999_499, 999_500, 3_500_000];
  assert.deepEqual(sizes.map(fileSize), [
    ...["0 bytes", "70 bytes", "999 bytes", "1 kB", "12 kB", "999 kB", "1.0 MB", "3.5 MB"],
  ]);
  const info = imageInfo(GIF);
  assert.equal(info && measures(info, 42), "1×1, 42 bytes");
  assert.equal(info && measures({ ...info, size: undefined }, 42), "42 bytes");
});
