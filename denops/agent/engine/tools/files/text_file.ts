/** Text files, as tools read them. */
import type { ResolvedPath } from "../../../policy/path.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import { decodeText, type TextFormat } from "../../../shared/text/text.ts";
import { fileInfo, readWhole } from "./disk.ts";
import { fileSize } from "../../log/image.ts";

/** Larger files are not edited, because their diffs help nobody. */
const LARGEST_TEXT = 20_000_000;

export interface TextFile {
  readonly path: ResolvedPath;
  readonly text: string;
  readonly format: TextFormat;
  readonly mode?: number;
  /** The text comes from a buffer with unsaved changes. */
  readonly unsaved: boolean;
}

/** The file on disk. */
export interface DiskFile extends Omit<TextFile, "unsaved"> {
  readonly bytes: Uint8Array;
}

/**
 * The text of a file on disk; undefined if it is missing. @throws {ToolError} for folders, binaries and very large
 * files
 */
export function textOnDisk(path: ResolvedPath): DiskFile | undefined {
  const info = fileInfo(path.path);
  if (info === undefined) return undefined;
  if (info.kind === "directory") throw new ToolError(`${shownPath(path)} is a folder, not a file.`);
  if (info.kind === "other") throw new ToolError(`${shownPath(path)} is not a regular file.`);
  if (info.size > LARGEST_TEXT) {
    throw new ToolError(`${shownPath(path)} is too large to edit (${info.size} bytes).`);
  }
  const bytes = bytesOf(path);
  const decoded = decodeText(bytes);
  if (decoded === undefined) throw new ToolError(`${shownPath(path)} is a binary file.`);
  const { text, encoding, bom } = decoded;
  const mode = info.mode === undefined ? {} : { mode: info.mode };
  return { path, bytes, text, format: { encoding, bom }, ...mode };
}

function bytesOf(path: ResolvedPath): Uint8Array {
  try {
    return readWhole(path.path);
  } catch (error) {
    throw new ToolError(`Cannot read ${shownPath(path)}: ${messageOf(error)}`);
  }
}

/** The reason why a file is not attached as text, as the words after "is". @param size bytes */
export function noText(size = 0): string {
  return size > LARGEST_TEXT ? `too large (${fileSize(size)})` : "no text";
}

/** A path for messages; the project's folder is ".". */
export function shownPath(path: ResolvedPath): string {
  return path.named === "" ? "." : path.named;
}
