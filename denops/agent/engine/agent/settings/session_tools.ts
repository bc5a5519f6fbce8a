/** Which tools a session has: all of its runner's but those that are off by option or by the user's choice. */
import { oldNames } from "../../calls/old_names.ts";
import type { Memory } from "../permission/memory.ts";

interface NamedTool {
  readonly name: string;
  /** It is on only where somebody asks for it. */
  readonly special?: boolean;
}

/** Old names count too: what was switched off under one of them stays off. */
export class SessionTools {
  readonly #tools: readonly NamedTool[];
  readonly #off: readonly string[];
  readonly #memory: Pick<Memory, "tools">;
  readonly #remember: () => void;

  /** @param off by option @param memory what the user has chosen @param remember stores it */
  constructor(
    tools: readonly NamedTool[],
    off: readonly string[],
    memory: Pick<Memory, "tools">,
    remember: () => void,
  ) {
    this.#tools = tools;
    this.#off = off;
    this.#memory = memory;
    this.#remember = remember;
  }

  /** @param name of a tool, also of one that comes from elsewhere, or of a part of one */
  isPartOff(name: string): boolean {
    return !(this.#memory.tools.get(name) ?? !this.#off.includes(name));
  }

  /** The whole of it. */
  isOff({ name }: NamedTool): boolean {
    const parts = oldNames(name);
    return this.isPartOff(name) || (parts.length > 0 && parts.every((part) => this.isPartOff(part)));
  }

  /** The user has switched it on. */
  isAdded(name: string): boolean {
    return this.#memory.tools.get(name) === true;
  }

  /** The prompt's earlier bytes change once. */
  toggle(name: string): void {
    const isOn = this.list.find((tool) => tool.name === name)?.on ?? !this.isPartOff(name);
    this.#switch(name, !isOn);
  }

  /** Those that are not off. */
  get names(): readonly string[] {
    return this.#tools.flatMap((tool) => this.isOff(tool) ? [] : [tool.name]);
  }

  /** What the user asks for by name, and is not off. */
  add(name: string): void {
    const tool = this.#tools.find((one) => one.name === name);
    if (tool?.special === true && !this.isOff(tool) && !this.isAdded(name)) this.#switch(name, true);
  }

  #switch(name: string, on: boolean): void {
    for (const one of [name, ...oldNames(name)]) this.#memory.tools.set(one, on);
    this.#remember();
  }

  get list(): readonly { readonly name: string; readonly on: boolean }[] {
    return this.#tools.map((tool) => ({
      name: tool.name,
      on: !this.isOff(tool) && (tool.special !== true || this.isAdded(tool.name)),
    }));
  }
}
