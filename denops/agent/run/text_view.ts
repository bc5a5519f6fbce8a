/** Shows a run to people: progress on standard error, the answer on standard output. */
import type { Variables } from "../headless/folders.ts";
import facts from "../protocol/options.json" with { type: "json" };
import { oneLine, prose, visible } from "../supervisor/screen/visible.ts";
import type { EndEvent, RunEvent } from "./events.ts";
import { type Output, writeError } from "./output.ts";

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

const SPINNER = facts.options.find(({ name }) => name === "ui.spinner")?.default;
const FRAMES = Array.isArray(SPINNER) ? SPINNER : [];
const FRAME_MS = 100;
const MARKS = { completed: "✓", failed: "✗", stopped: "■" } as const;
const COLOURS = { dim: 2, red: 31, yellow: 33 } as const;
type Colour = keyof typeof COLOURS;

/** Between them the terminal cuts a text that is too long for its line, instead of breaking it. */
const BEGIN_LINE = "\x1b[?7l";
const END_LINE = "\x1b[?7h";
const ERASE_LINE = "\r\x1b[2K";

export class TextView implements Disposable {
  readonly #output: Output;
  readonly #start = performance.now();
  readonly #hasColours: boolean;
  /** Draws the line with the spinner; undefined unless standard error is a terminal. */
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  /** Titles of running calls by their ids. */
  readonly #running = new Map<string, string>();
  /** The latest message, which is progress only if a call follows it. */
  #message = "";
  /** Titles of refused calls, whose end needs no other line. */
  readonly #refused = new Set<string>();
  #frames = 0;
  #isDrawn = false;

  constructor(output: Output, { NO_COLOR, TERM }: Variables) {
    this.#output = output;
    const isTerminal = Deno.stderr.isTerminal() && TERM !== "dumb";
    this.#hasColours = isTerminal && !NO_COLOR;
    this.#timer = isTerminal ? setInterval(() => this.#draw(), FRAME_MS) : undefined;
    // A signal may end the process before the turn starts.
    globalThis.addEventListener("unload", () => this.#erase());
  }

  show(event: RunEvent): void {
    switch (event.type) {
      case "message":
        return this.#hold(event);
      case "call":
        return this.#call(event);
      case "refused":
        this.#refused.add(event.title);
        return this.#print(refusal(event), "red");
      case "notice":
        return this.#print(oneLine(event.text), event.severity === "info" ? "dim" : "yellow");
      case "retry":
        return this.#print(
          `${oneLine(event.reason)} Trying again (${event.attempt} of ${event.tries}).`,
          "yellow",
        );
      case "files":
        return this.#print(event.files.map(fileLine).join("\n"));
      case "end":
        return this.#end(event);
      case "start":
      case "plan":
        return;
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  #hold({ text, parent }: EventOf<"message">): void {
    if (parent === undefined) this.#message = text;
  }

  #call({ id, title, status, summary, parent }: EventOf<"call">): void {
    if (parent === undefined) this.#printMessage();
    if (status === "running") {
      this.#running.set(id, oneLine(title));
      return;
    }
    this.#running.delete(id);
    // A command whose changes were refused has run.
    if (this.#refused.delete(title)) return;
    const indent = parent === undefined ? "" : "  ";
    const facts = summary === undefined ? "" : `  ${oneLine(summary)}`;
    this.#print(
      `${indent}${MARKS[status]} ${oneLine(title)}${facts}`,
      status === "completed" ? undefined : "red",
    );
  }

  #end({ reason, answer, error, session, cost }: EndEvent): void {
    const isWhole = reason === "done" || reason === "refused";
    if (!isWhole) this.#printMessage();
    this[Symbol.dispose]();
    if (error !== undefined) this.#print(prose(error), "red");
    if (reason === "stopped") this.#print("Stopped.", "yellow");
    const price = cost === undefined ? "" : `, ${cost.toFixed(4)} USD`;
    if (session !== undefined) this.#print(`session ${session}${price}`, "dim");
    // The supervisor has replaced its control characters.
    if (isWhole && answer !== "") this.#output.write(`${answer}\n`);
  }

  #printMessage(): void {
    this.#print(prose(this.#message), "dim");
    this.#message = "";
  }

  #print(text: string, colour?: Colour): void {
    if (text === "") return;
    this.#erase();
    writeError(`${this.#coloured(text, colour)}\n`);
  }

  #coloured(text: string, colour: Colour | undefined): string {
    return colour === undefined || !this.#hasColours ? text : `\x1b[${COLOURS[colour]}m${text}\x1b[0m`;
  }

  #draw(): void {
    const seconds = Math.floor((performance.now() - this.#start) / 1_000);
    const what = [...this.#running.values()].join(", ") || "working";
    const frame = FRAMES[this.#frames++ % FRAMES.length];
    this.#isDrawn = true;
    const text = this.#coloured(`${frame} ${seconds} s  ${what}`, "dim");
    writeError(`${ERASE_LINE}${BEGIN_LINE}${text}${END_LINE}`);
  }

  #erase(): void {
    if (this.#isDrawn) writeError(ERASE_LINE);
    this.#isDrawn = false;
  }
}

function refusal({ title, reason, rules = [] }: EventOf<"refused">): string {
  const options = rules.map((rule) => `--allow ${quoted(oneLine(rule))}`);
  const hint = options.length === 0
    ? ""
    : `; ${options.join(" ")} ${options.length > 1 ? "allow" : "allows"} it`;
  return `✗ refused: ${oneLine(title)} (${oneLine(reason)})${hint}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function fileLine({ path, kind, from, added, removed }: EventOf<"files">["files"][number]): string {
  const name = visible(from === undefined ? path : `${from} → ${path}`);
  return `${kind.padEnd(9)}${name}  +${added} −${removed}`;
}
