/** Limits a session's images, because each is sent with every request. */
import { ToolError } from "../../../shared/errors.ts";
import type { Image } from "../../log/messages.ts";
import { fileSize, type ImageInfo, imageInfo, measures } from "../../log/image.ts";

/**
 * Bytes of one file. Anthropic accepts 5 MiB of base64, which are 3.9 MB; OpenAI and Ollama accept more. Source:
 * platform.claude.com/docs, "Vision".
 */
export const LARGEST_IMAGE = 3_500_000;
/** Pixels of a side; Anthropic refuses more. */
const LONGEST_SIDE = 8_000;
/** With more images in a request, Anthropic accepts none over 2,000 pixels. */
const MOST_IMAGES = 20;
/** Bytes of a session's images; Anthropic accepts requests of 32 MB, and base64 holds 6 bits a byte. */
const MOST_BYTES = 12_000_000;

interface ImageAnswer {
  /** For the user. */
  readonly summary: string;
  /** For the model. */
  readonly text: string;
  /** Undefined if the model does not see images. */
  readonly image?: Image;
}

export class ImageRoom {
  /** Whether the model accepts images; otherwise it gets a note instead of an error. */
  readonly sees: boolean;
  #count = 0;
  #bytes = 0;

  /** @param history with images that are sent anyway */
  constructor(
    sees: boolean,
    history: readonly { readonly text: string; readonly images?: readonly Image[] }[],
  ) {
    this.sees = sees;
    for (const { images = [] } of history) {
      for (const { data } of images) this.#add(data.length * 0.75);
    }
  }

  /**
   * Reserves room for an image at once, so that concurrent calls do not share it; undefined if it is no image. @param
   * bytes the file, or its beginning if it is too large @throws {ToolError} if no provider would accept it
   */
  take(name: string, bytes: Uint8Array, size: number): ImageAnswer | undefined {
    const info = imageInfo(bytes);
    if (info === undefined) return undefined;
    const summary = `${info.format} image, ${measures(info, size)}`;
    const text = `${name} is a ${info.format} image (${measures(info, size)})`;
    if (!this.sees) return { summary, text: `${text}; this model cannot see images.` };
    return { summary, text: `${text}; it is attached.`, image: this.#reserve(name, info, bytes, size) };
  }

  #reserve(name: string, info: ImageInfo, bytes: Uint8Array, size: number): Image {
    const { type, format, size: pixels, whole } = info;
    const what = `${name} is a ${format} image`;
    if (size > LARGEST_IMAGE) {
      throw new ToolError(
        `${what} of ${fileSize(size)}; at most ${
          fileSize(LARGEST_IMAGE)
        } can be shown. A smaller copy would do.`,
      );
    }
    if (!whole || pixels === undefined || pixels.width === 0 || pixels.height === 0) {
      throw new ToolError(`${what}, but a broken one (${measures(info, size)}): it cannot be shown.`);
    }
    if (Math.max(pixels.width, pixels.height) > LONGEST_SIDE) {
      throw new ToolError(
        `${what} (${
          measures(info, size)
        }); at most ${LONGEST_SIDE} pixels a side can be shown. A smaller copy would do.`,
      );
    }
    if (this.#count >= MOST_IMAGES || this.#bytes + size > MOST_BYTES) {
      throw new ToolError(
        `${what}, but this session is full of images: ${MOST_IMAGES}, or ${
          fileSize(MOST_BYTES)
        }, are the most.`,
      );
    }
    this.#add(size);
    return { name, type, data: bytes.toBase64() };
  }

  #add(bytes: number): void {
    this.#count += 1;
    this.#bytes += bytes;
  }
}
