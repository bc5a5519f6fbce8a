/** What the user and the agent do in one trial, all of it from the seed. Pure. */

/** How a file's text becomes bytes. */
export interface Format {
  readonly name: string;
  readonly encoding: "utf-8" | "latin1" | "utf-16le";
  readonly bom: boolean;
  readonly ending: "\n" | "\r\n" | "\r";
  /** The last line is ended. */
  readonly ended: boolean;
}

const plain: Format = { name: "unix", encoding: "utf-8", bom: false, ending: "\n", ended: true };

export const FORMATS: readonly Format[] = [
  plain,
  { ...plain, name: "bom", bom: true },
  { ...plain, name: "dos", ending: "\r\n" },
  { ...plain, name: "noeol", ended: false },
  { ...plain, name: "latin1", encoding: "latin1" },
  { ...plain, name: "utf16", encoding: "utf-16le", bom: true },
  { ...plain, name: "mac", ending: "\r" },
  { ...plain, name: "dosbom", ending: "\r\n", bom: true, ended: false },
];

export interface PlannedFile {
  readonly name: string;
  readonly format: Format;
  readonly lines: readonly string[];
  /** A window shows it, a hidden buffer holds it, or nobody has it open. */
  readonly open: "shown" | "hidden" | "closed";
}

export interface PlannedWrite {
  readonly file: string;
  /** What it brings: it stands in no other write of the trial. */
  readonly token: string;
  /** The line of the original text that it changes, or puts something behind. */
  readonly at: string;
  readonly how: "replace" | "insert" | "whole";
  /** Milliseconds from when the model could answer until it does. */
  readonly delay: number;
}

export type Act =
  | {
    readonly do: "type";
    readonly how: Typing;
    readonly file: string;
    readonly at: string;
    readonly token: string;
  }
  | { readonly do: "write" | "fold" | "unfold" | "undo" | "redo"; readonly file: string };

/** "slow" stays in Insert mode for a while. */
export type Typing = "open" | "change" | "append" | "macro" | "slow" | "delete";

export interface TimedAct {
  readonly act: Act;
  /** Milliseconds since the act before it. */
  readonly after: number;
}

export interface Plan {
  readonly files: readonly PlannedFile[];
  readonly writes: readonly PlannedWrite[];
  /** What the user does around each write of the agent's; the last list is done after the turn. */
  readonly acts: readonly (readonly TimedAct[])[];
  readonly saveUnsaved: boolean;
  /** What becomes of the turn in the end. */
  readonly then: readonly ("undo" | "redo")[];
  /** Milliseconds that an approval waits, with the user typing. */
  readonly approval: number;
}

const LINES = 16;

export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const files = Array.from({ length: random.integer(1, 2) }, (_, index): PlannedFile => {
    const empty = random.chance(0.06);
    const format = empty ? plain : random.of(FORMATS);
    // Files of this name ask before they are written.
    const name = `${random.chance(0.15) ? "ask" : "file"}${seed}_${index}.txt`;
    const lines = Array.from({ length: empty ? 0 : LINES }, (_, at) => `line ${at + 1} of ${index} é`);
    const open = random.chance(0.8) ? "shown" : random.of(["hidden", "closed"] as const);
    return { name, format, lines, open };
  });
  let tokens = 0;
  const token = (who: string) => `${who}${seed}x${tokens++}`;
  const writes = Array.from({ length: random.integer(1, 4) }, (): PlannedWrite => {
    const file = random.of(files);
    const how = file.lines.length === 0 || random.chance(0.15)
      ? "whole"
      : random.of(["replace", "insert"] as const);
    return {
      file: file.name,
      token: token("A"),
      at: random.of(file.lines, ""),
      how,
      delay: random.integer(0, 40),
    };
  });
  const acts = Array.from({ length: writes.length + 1 }, (_, at) => {
    const file = files.find(({ name }) => name === writes[at]?.file) ?? random.of(files);
    return Array.from({ length: random.integer(0, 4) }, (): TimedAct => ({
      act: actOn(random.chance(0.8) ? file : random.of(files), random, token),
      after: random.integer(0, 60),
    }));
  });
  const then = random.chance(0.75) ? [] : random.of([["undo"], ["undo", "redo"]] as const);
  return { files, writes, acts, saveUnsaved: random.chance(0.2), then, approval: random.integer(0, 60) };
}

function actOn({ name: file, lines }: PlannedFile, random: Random, token: (who: string) => string): Act {
  const kind = random.next();
  if (kind < 0.3) return { do: "write", file };
  if (kind < 0.85) {
    const how = random.of(["open", "open", "change", "append", "macro", "slow", "slow", "delete"] as const);
    return { do: "type", how, file, at: random.of(lines, ""), token: token("U") };
  }
  return { do: random.of(["fold", "unfold", "undo", "redo"] as const), file };
}

/** Mulberry32: small, and good enough. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 0x9e3779b1 >>> 0;
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = this.#state + 0x6d2b79f5 >>> 0;
    let mixed = Math.imul(this.#state ^ this.#state >>> 15, 1 | this.#state);
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed;
    return ((mixed ^ mixed >>> 14) >>> 0) / 2 ** 32;
  }

  chance(part: number): boolean {
    return this.next() < part;
  }

  /** Both included. */
  integer(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  of<T>(list: readonly T[], otherwise?: T): T {
    const found = list[Math.floor(this.next() * list.length)] ?? otherwise;
    if (found === undefined) throw new Error("there is nothing to choose from");
    return found;
  }
}

export function bytesOf(lines: readonly string[], format: Format): Uint8Array<ArrayBuffer> {
  const body = lines.join(format.ending) + (lines.length > 0 && format.ended ? format.ending : "");
  const text = lines.length > 0 && format.bom ? `\ufeff${body}` : body;
  switch (format.encoding) {
    case "utf-8":
      return new TextEncoder().encode(text);
    case "latin1":
      return Uint8Array.from(text, (character) => character.charCodeAt(0));
    case "utf-16le":
      return Uint8Array.from([...text].flatMap((one) => [one.charCodeAt(0) & 255, one.charCodeAt(0) >> 8]));
  }
}
