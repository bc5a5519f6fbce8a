/** The context of one command for its judge, and the judge's result. */
import type { Places } from "./places.ts";
import type { Judgement, Risk } from "./severity.ts";

/** A command's input, as far as the line shows it. */
export type Input =
  | { readonly kind: "nothing" }
  | { readonly kind: "text"; readonly text: string }
  /** Names of files, as find and ls print them. */
  | { readonly kind: "names"; readonly names: readonly string[] }
  | { readonly kind: "unknown" };

/** Findings about the whole line. */
export type Fact = "downloads" | "decodes" | "runs unknown text";

export interface Scene {
  readonly places: Places;
  /** Where it runs, relative to the project's root; starts with UNKNOWN if unknown. */
  readonly folder: string;
  readonly input: Input;
  note(fact: Fact): void;
  /** Records a file that the line creates. */
  made(path: string): void;
  /** The judgement of running this file. */
  runs(path: string): Judgement;
  /** Judges a command that this one starts. */
  run(words: readonly string[], input?: Input): void;
  /** Judges text that this command gives to a shell. */
  shell(text: string, input?: Input): void;
  /** The risk of a command, without recording it. */
  suppose(command: string | readonly string[]): Risk;
}

export type Judge = (args: readonly string[], scene: Scene, name: string) => Judgement;
