/** Large projects. */
import type { Scratch } from "../../tests/support/project.ts";

const FILES_IN_FOLDER = 10;

/** Adds so many small files below `src`, ten to a folder. */
export function makeTree(project: Scratch, files: number): void {
  for (let file = 0; file < files; file += FILES_IN_FOLDER) {
    const folder = project.path("src", `part${file % 97}`, `folder${file}`);
    Deno.mkdirSync(folder, { recursive: true });
    for (let at = 0; at < FILES_IN_FOLDER; at++) {
      Deno.writeTextFileSync(`${folder}/file${at}.ts`, "export {};\n");
    }
  }
}
