import type { ToolSpec } from "../../log/model_request.ts";
import { fitValue } from "../../calls/fit_value.ts";
import { propertiesOf, requiredOf } from "../../calls/json_schema.ts";
import { oldNames, oldTool } from "../../calls/old_names.ts";
import { bareName, ToolNames } from "../../calls/tool_names.ts";

/** A call that was found in a text. */
export interface TextCall {
  readonly name: string;
  /** JSON text of an object, or the original text if it cannot be parsed; that is not JSON. */
  readonly arguments: string;
}

export class KnownTools {
  /** Includes old tool names, which models have learnt. */
  readonly names: readonly string[];
  readonly #names: ToolNames<{ readonly name: string; readonly spec: ToolSpec }>;

  constructor(specs: readonly ToolSpec[]) {
    const own = specs.map(({ name }) => name);
    const known = specs.flatMap((spec) => [
      { name: spec.name, spec },
      ...oldNames(spec.name).filter((name) => !own.includes(name)).map((name) => ({
        name,
        spec: underOldName(spec, name),
      })),
    ]);
    this.names = known.map(({ name }) => name);
    this.#names = new ToolNames(known);
  }

  /** The closest tool: `functions.Ask-User:0` is `ask_user`, unless another tool is as close. */
  closest(written: string): ToolSpec | undefined {
    return this.#names.closest(written)?.spec;
  }

  /** The closest name, possibly an old one. */
  nameOf(written: string): string | undefined {
    return this.#names.closest(written)?.name;
  }

  /** Undefined if the name is not a valid name. */
  call(written: string, args: Readonly<Record<string, unknown>>): TextCall | undefined {
    const { name = bareName(written), spec } = this.#names.closest(written) ?? {};
    if (!NAME.test(name)) return undefined;
    return { name, arguments: JSON.stringify(spec === undefined ? args : fitValue(args, spec.parameters)) };
  }

  /** An unreadable call: it gets an answer, and never runs. */
  unread(written: string, text: string): TextCall | undefined {
    const name = this.nameOf(written) ?? bareName(written);
    return NAME.test(name) ? { name, arguments: `${UNREAD} ${text.slice(0, LONGEST_SHOWN)}` } : undefined;
  }
}

/** Removes the arguments that an old name implies. */
function underOldName(spec: ToolSpec, name: string): ToolSpec {
  const oldKeys = Object.keys(oldTool(name)?.args ?? {});
  if (oldKeys.length === 0) return spec;
  const properties = Object.entries(propertiesOf(spec)).filter(([key]) => !oldKeys.includes(key));
  const required = requiredOf(spec).filter((key) => !oldKeys.includes(key));
  return {
    ...spec,
    parameters: { ...spec.parameters, properties: Object.fromEntries(properties), required },
  };
}

/** JSON never begins with this. */
const UNREAD = "[cut off or broken]";

/** @param text a call's arguments */
export function isUnread(text: string): boolean {
  return text.startsWith(UNREAD);
}

const NAME = /^[\w.-]{1,64}$/;
/** Characters of an unreadable call. */
const LONGEST_SHOWN = 200;

/**
 * Parses an unquoted argument; its schema decides whether it is text. One line break at its beginning and one
 * at its end belong to the surrounding marks, as in the templates of Qwen3-Coder and GLM.
 */
export function argument(raw: string): string {
  return raw.replace(/^\r?\n/, "").replace(/\r?\n$/, "");
}
