/** Every tool, in the order in which a model is told of them. */
import type { Tool } from "./define.ts";
import { editFile } from "./edit_file.ts";
import { listDirectory } from "./list_directory.ts";
import { readFile } from "./read_file.ts";
import { writeFile } from "./write_file.ts";

export const TOOLS: readonly Tool[] = [
  readFile,
  listDirectory,
  writeFile,
  editFile,
];
