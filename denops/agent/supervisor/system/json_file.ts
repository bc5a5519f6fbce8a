/** Settings of a project or of the user in JSON files of other programs. */
import { join, relative } from "node:path";
import { isInside } from "../../policy/path.ts";
import { ifThere, oneFile } from "./one_file.ts";

const MOST_BYTES = 256 * 1024;

/** Undefined if the file does not exist. @param root the real path that contains it @throws {Error} one line */
export async function jsonFile(root: string, file: string): Promise<unknown> {
  const path = join(root, file);
  if (ifThere(() => Deno.statSync(path)) === undefined) return undefined;
  const { real, text } = await oneFile(path, MOST_BYTES);
  if (!isInside(real, root)) throw new Error("it leads out of the project");
  if (relative(root, real).split("/").includes(".git")) throw new Error("it leads to a file of git");
  return jsonWithComments(text);
}

/** A text, a comment, or a comma before the end of a list. */
const PIECE = /"(?:\\.|[^"\\])*"|\/\/[^\n]*|\/\*[^]*?\*\/|,(?=\s*[}\]])/g;

/** VS Code's file may have comments and commas at the end. Nothing else is repaired. @throws {Error} one line */
function jsonWithComments(text: string): unknown {
  const withoutComments = text.replace(PIECE, (piece) => /^\/[/*]/.test(piece) ? "" : piece);
  try {
    return JSON.parse(withoutComments.replace(PIECE, (piece) => piece === "," ? "" : piece));
  } catch {
    throw new Error("it is not JSON");
  }
}
