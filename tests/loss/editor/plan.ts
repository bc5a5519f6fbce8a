/** What the user and the agent do in one trial, all of it from the seed. Pure. */
import { Random } from "../files/random.ts";

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
  readonly how: "replace" | "insert" | "whole" | "command";
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
  /** What becomes of the turn in the end, and what the user does at that moment. */
  readonly then: readonly { readonly what: "undo" | "redo"; readonly acts: readonly TimedAct[] }[];
  /** Milliseconds that an approval waits, with the user typing. */
  readonly approval: number;
}

const LINES = 16;

export function planOf(seed: number): Plan {
  const random = new Random(seed);
  const files = Array.from({ length: random.int(1, 2) }, (_, index): PlannedFile => {
    const empty = random.chance(0.06);
    const format = empty ? plain : of(random, FORMATS);
    // Files of this name ask before they are written.
    const name = `${random.chance(0.15) ? "ask" : "file"}${seed}_${index}.txt`;
    const lines = Array.from({ length: empty ? 0 : LINES }, (_, at) => `line ${at + 1} of ${index} é`);
    const open = random.chance(0.8) ? "shown" : of(random, ["hidden", "closed"] as const);
    return { name, format, lines, open };
  });
  let tokens = 0;
  const token = (who: string) => `${who}${seed}x${tokens++}`;
  const writes = Array.from({ length: random.int(1, 4) }, (): PlannedWrite => {
    const file = of(random, files);
    const how = file.lines.length === 0 || random.chance(0.15)
      ? "whole"
      : file.format.encoding === "utf-8" && random.chance(0.15)
      ? "command"
      : of(random, ["replace", "insert"] as const);
    return {
      file: file.name,
      token: token("A"),
      at: random.pick(file.lines) ?? "",
      how,
      delay: random.int(0, 40),
    };
  });
  const someActs = (file: PlannedFile) =>
    Array.from({ length: random.int(0, 4) }, (): TimedAct => ({
      act: actOn(random.chance(0.8) ? file : of(random, files), random, token),
      after: random.int(0, 60),
    }));
  const acts = Array.from({ length: writes.length + 1 }, (_, at) => {
    const file = files.find(({ name }) => name === writes[at]?.file) ?? of(random, files);
    return someActs(file);
  });
  const whats = random.chance(0.7) ? [] : of(random, [["undo"], ["undo", "redo"]] as const);
  const then = whats.map((what) => ({ what, acts: someActs(of(random, files)) }));
  return { files, writes, acts, saveUnsaved: random.chance(0.2), then, approval: random.int(0, 60) };
}

function of<T>(random: Random, list: readonly T[]): T {
  const found = random.pick(list);
  if (found === undefined) throw new Error("nothing to choose from");
  return found;
}

function actOn({ name: file, lines }: PlannedFile, random: Random, token: (who: string) => string): Act {
  const kind = random.next();
  if (kind < 0.3) return { do: "write", file };
  if (kind < 0.85) {
    const how = of(random, ["open", "open", "change", "append", "macro", "slow", "slow", "delete"] as const);
    return { do: "type", how, file, at: random.pick(lines) ?? "", token: token("U") };
  }
  return { do: of(random, ["fold", "unfold", "undo", "redo"] as const), file };
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
