/** The enabled tools of a session: its runner's, without those that an option or the user switched off. */
import { oldNames } from "../../calls/old_names.ts";
import type { Memory } from "../permission/memory.ts";

interface NamedTool {
  readonly name: string;
  /** Enabled only on request. */
  readonly special?: boolean;
}

/** Accepts old names too: a tool that was switched off under one stays off. */
export class SessionTools {
  readonly #tools: () => readonly NamedTool[];
  readonly #off: readonly string[];
  readonly #memory: Pick<Memory, "tools">;
  readonly #remember: () => void;

  /**
   * @param tools of this moment @param off by option @param memory the user's choices @param remember stores them
   */
  constructor(
    tools: () => readonly NamedTool[],
    off: readonly string[],
    memory: Pick<Memory, "tools">,
    remember: () => void,
  ) {
    this.#tools = tools;
    this.#off = off;
    this.#memory = memory;
    this.#remember = remember;
  }

  /** @param name of a tool, an external tool, or a part of one */
  isPartOff(name: string): boolean {
    return !(this.#memory.tools.get(name) ?? !this.#off.includes(name));
  }

  /** Whether the whole tool is off. */
  isOff({ name }: NamedTool): boolean {
    const parts = oldNames(name);
    return this.isPartOff(name) || (parts.length > 0 && parts.every((part) => this.isPartOff(part)));
  }

  /** The user switched it on. */
  isAdded(name: string): boolean {
    return this.#memory.tools.get(name) === true;
  }

  /** This changes the prompt's beginning once. */
  toggle(name: string): void {
    const isOn = this.list.find((tool) => tool.name === name)?.on ?? !this.isPartOff(name);
    this.#switch(name, !isOn);
  }

  /** Enabled tools. */
  get names(): readonly string[] {
    return this.#tools().flatMap((tool) => this.isOff(tool) ? [] : [tool.name]);
  }

  /** Enables a tool that the user mentioned, unless it is off. */
  add(name: string): void {
    const tool = this.#tools().find((one) => one.name === name);
    if (tool?.special === true && !this.isOff(tool) && !this.isAdded(name)) this.#switch(name, true);
  }

  #switch(name: string, on: boolean): void {
    for (const one of [name, ...oldNames(name)]) this.#memory.tools.set(one, on);
    this.#remember();
  }

  get list(): readonly { readonly name: string; readonly on: boolean }[] {
    return this.#tools().map((tool) => ({
      name: tool.name,
      on: !this.isOff(tool) && (tool.special !== true || this.isAdded(tool.name)),
    }));
  }
}
