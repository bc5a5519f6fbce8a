/** Shows a run to programs: one event a line. Standard error gets problems, for people. */
import { oneLine } from "../supervisor/screen/visible.ts";
import type { RunEvent } from "./events.ts";
import { type Output, writeError } from "./output.ts";

export class JsonView implements Disposable {
  readonly #output: Output;

  constructor(output: Output) {
    this.#output = output;
  }

  show(event: RunEvent): void {
    this.#output.write(`${JSON.stringify(event)}\n`);
    if (event.type === "end" && event.error !== undefined) writeError(`${oneLine(event.error)}\n`);
    if (event.type === "notice" && event.severity !== "info") writeError(`${oneLine(event.text)}\n`);
  }

  [Symbol.dispose](): void {}
}
