import type { ToolSpec } from "../../log/model_request.ts";
import { fitValue } from "../../calls/fit_value.ts";
import { propertiesOf, requiredOf } from "../../calls/json_schema.ts";
import { oldNames, oldTool } from "../../calls/old_names.ts";
import { bareName, ToolNames } from "../../calls/tool_names.ts";

/** A call as it stood in a text. */
export interface TextCall {
  readonly name: string;
  /** JSON text of an object; what the model wrote if that could not be read: it is no JSON then. */
  readonly arguments: string;
}

export class KnownTools {
  /** With the old ones of the same tools, which models have learnt. */
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

  /** The tool that is meant: `functions.Ask-User:0` is `ask_user`, if no other tool is as near. */
  named(written: string): ToolSpec | undefined {
    return this.#names.named(written)?.spec;
  }

  /** The name that is meant, which may be an old one. */
  nameOf(written: string): string | undefined {
    return this.#names.named(written)?.name;
  }

  /** Undefined if the name is no name at all. */
  call(written: string, args: Readonly<Record<string, unknown>>): TextCall | undefined {
    const { name = bareName(written), spec } = this.#names.named(written) ?? {};
    if (!NAME.test(name)) return undefined;
    return { name, arguments: JSON.stringify(spec === undefined ? args : fitValue(args, spec.parameters)) };
  }

  /** A call that was begun and cannot be read: it is answered, and never run. */
  unread(written: string, text: string): TextCall | undefined {
    const name = this.nameOf(written) ?? bareName(written);
    return NAME.test(name) ? { name, arguments: `${UNREAD} ${text.slice(0, LONGEST_SHOWN)}` } : undefined;
  }
}

/** Without the arguments that the name itself says. */
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

/** No JSON begins so. */
const UNREAD = "[cut off or broken]";

/** Of a call's arguments. */
export function isUnread(text: string): boolean {
  return text.startsWith(UNREAD);
}

const NAME = /^[\w.-]{1,64}$/;
/** Characters of a call that cannot be read. */
const LONGEST_SHOWN = 200;

/**
 * An argument that was written as text, without quotes: its schema decides whether it is text. One line break at its
 * beginning and one at its end belong to the marks around it, as the templates of Qwen3-Coder and GLM have it.
 */
export function argument(raw: string): string {
  return raw.replace(/^\r?\n/, "").replace(/\r?\n$/, "");
}
