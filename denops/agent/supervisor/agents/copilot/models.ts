/**
 * The models that Copilot lists for an account, with their wire formats. Source: the answer of `/models` in
 * codecompanion.nvim (tests/adapters/http/stubs/model_list/copilot.json), Zed (crates/copilot_chat).
 */
import * as z from "../../../deps/zod.ts";
import type { ListedModel } from "../../../protocol/config.ts";
import { modelsOf } from "../../../models/model_list.ts";
import { type ModelWire, PRESETS, WIRE_FACTS, type WireName, WIRES } from "../../../protocol/providers.ts";
import { LONGEST_NAME, oneLine } from "../../screen/visible.ts";

/** Fields beyond those of every model list. */
const Listed = z.looseObject({
  /** Whether editors offer it. */
  model_picker_enabled: z.boolean().optional(),
  is_chat_default: z.boolean().optional(),
  policy: z.object({ state: z.string() }).nullish(),
  supported_endpoints: z.array(z.string()).nullish(),
});
const List = z.object({ data: z.array(z.unknown()) });

export interface CopilotModel extends ListedModel {
  /** Undefined: no supported wire format. */
  readonly wire: WireName | undefined;
  readonly isOffered: boolean;
  readonly isDefault: boolean;
  /** The user has to accept its terms at GitHub first, or the organisation forbids it. */
  readonly isForbidden: boolean;
}

/** Omits unreadable models and those that are not for chat. Undefined: not a list. */
export function copilotModels(body: unknown): readonly CopilotModel[] | undefined {
  return List.safeParse(body).data?.data.flatMap((each) => {
    const listed = Listed.safeParse(each).data;
    if (listed === undefined) return [];
    // Includes models that are not offered or are disabled.
    const { model_picker_enabled: _, policy: __, ...rest } = listed;
    const [model] = modelsOf({ data: [rest] }) ?? [];
    return model === undefined ? [] : [{ ...model, ...copilotFacts(listed) }];
  });
}

function copilotFacts({ policy, supported_endpoints, ...listed }: z.infer<typeof Listed>) {
  const paths = supported_endpoints ?? [];
  return {
    wire: paths.length === 0
      ? PRESETS.copilot?.wire
      : WIRES.find((wire) => paths.includes(WIRE_FACTS[wire].path)),
    isOffered: listed.model_picker_enabled === true,
    isDefault: listed.is_chat_default === true,
    isForbidden: policy !== undefined && policy !== null && policy.state !== "enabled",
  };
}

/** Its wire format, if that differs from the provider's. */
export function otherWire({ name, wire }: CopilotModel): readonly ModelWire[] {
  if (wire === undefined || wire === PRESETS.copilot?.wire) return [];
  return [{ models: `^${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}$`, wire }];
}

function isUsable({ wire, isForbidden }: CopilotModel): boolean {
  return wire !== undefined && !isForbidden;
}

/** The default of Copilot among the models that can work as an agent, otherwise the first of these. */
export function defaultModel(models: readonly CopilotModel[]): CopilotModel | undefined {
  const fit = models.filter((model) => isUsable(model) && model.isOffered && model.tools === true);
  return fit.find(({ isDefault }) => isDefault) ?? fit[0];
}

/** Number of names in a message. */
const SHOWN = 8;

/** Why it is unusable, one line; undefined if it is usable. */
export function modelProblem(name: string, models: readonly CopilotModel[]): string | undefined {
  const model = models.find((one) => one.name === name);
  if (model?.isForbidden) {
    return `Copilot does not let this account use ${name}. Enable it at https://github.com/settings/copilot/features, or ask your organisation.`;
  }
  if (model !== undefined) {
    return isUsable(model)
      ? undefined
      : `Cannot use ${name}: Copilot serves it in an unknown way. Choose another model.`;
  }
  const names = models.filter((one) => isUsable(one) && one.isOffered)
    .map((one) => oneLine(one.name, LONGEST_NAME));
  const more = names.length > SHOWN ? ` and ${names.length - SHOWN} more` : "";
  return `copilot has no model "${oneLine(name, LONGEST_NAME)}". It has ${
    names.slice(0, SHOWN).join(", ")
  }${more}.`;
}
