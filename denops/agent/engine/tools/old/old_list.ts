/** The tools as offered before version 2 of the list: sessions that began with them keep them. */
import type { EditForm } from "../../../protocol/options/efforts.ts";
import { familyOf } from "../../../models/families.ts";
import { nameNow } from "../../calls/old_names.ts";
import type { ToolSpec } from "../../log/model_request.ts";
import OLD from "./old_specs.json" with { type: "json" };

interface OldFacts {
  readonly model: string;
  /** Names of the tools that the client supports. */
  readonly offered: readonly string[];
  readonly form: EditForm;
  readonly small: boolean;
  isPartOff(name: string): boolean;
}

export function oldList({ model, offered, form, small, isPartOff }: OldFacts): readonly ToolSpec[] {
  const specs: readonly ToolSpec[] = OLD.specs;
  return specs.filter(({ name }) =>
    offered.includes(nameNow(name)) && !isPartOff(name) && (!small || OLD.basic.includes(name))
  ).map((spec) => nameNow(spec.name) === "edit" ? editSpec(spec, form, familyOf(model) === "gpt") : spec);
}

/** GPT was offered two forms. */
function editSpec(replace: ToolSpec, form: EditForm, isGpt: boolean): ToolSpec {
  if (form === "whole") return OLD.edit.whole;
  return form === "patch" ? isGpt ? OLD.edit.both : OLD.edit.patch : replace;
}
