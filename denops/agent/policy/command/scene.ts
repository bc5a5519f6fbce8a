/** What a judge of one program sees and may ask for. Types only, so that judges need not know who calls them. */
import type { Judgement, Severity } from "./severity.ts";
import type { Places } from "./places.ts";

/** What stands on a command's input, as far as the line says. */
export type Input =
  | { readonly kind: "nothing" }
  | { readonly kind: "unknown" }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "file"; readonly path: string };

/** In which language a program takes its code. */
export type Language = "shell" | "code";

/** What matters for the line as a whole, not only for the command that did it. */
export type Fact =
  | { readonly kind: "downloads" }
  | { readonly kind: "decodes" }
  | { readonly kind: "runs unknown text" }
  | { readonly kind: "downloads to"; readonly path: string }
  | { readonly kind: "writes to"; readonly path: string; readonly text: string | undefined }
  | { readonly kind: "runs file"; readonly path: string; readonly language: Language };

export interface Inner {
  readonly input?: Input;
  /** Relative to the folder of the outer command. */
  readonly folder?: string;
}

export interface InnerText extends Inner {
  /** $0, $1, …; for eval the caller's own. */
  readonly positional?: readonly string[] | "same";
}

export interface Scene {
  /** The folders the command may run in, relative to the project; "" is the project itself. */
  readonly folders: readonly string[];
  readonly places: Places;
  readonly input: Input;
  /** Judges another command that this one starts. */
  run(words: readonly string[], inner?: Inner): void;
  /** Judges text that this command gives to a shell. */
  shell(text: string, inner?: InnerText): void;
  /** How dangerous it would be to run this; nothing of it is kept. */
  suppose(what: readonly string[] | string): Severity;
  note(fact: Fact): void;
}

/** @param name the program's, without folder */
export type Judge = (args: readonly string[], scene: Scene, name: string) => Judgement;
