/** A session's modes and config options, as the user may choose them. Pure. */
import type { SessionConfigOption, SessionModeState } from "../deps/acp_sdk.ts";
import { SESSION_PERMISSIONS, type SessionPermission } from "../protocol/access.ts";
import type { ActionInput } from "../protocol/actions.ts";
import type { ModeFacts } from "../protocol/modes.ts";
import { CHOOSABLE_EFFORTS } from "../protocol/options/efforts.ts";

export interface SessionChoices {
  readonly modes: readonly ModeFacts[];
  readonly mode: string;
  /** Empty until the provider has listed them. */
  readonly models: readonly { readonly name: string; readonly text: string }[];
  /** "" if no model is configured. */
  readonly model: string;
  readonly effort: string;
  readonly permission: SessionPermission;
}

/** Clients are told in the description that rules answer first. */
const PERMISSIONS: Readonly<Record<SessionPermission, readonly [name: string, description: string]>> = {
  ask: ["Ask always", "Asks about every write and command, whatever your rules allow."],
  default: ["By your rules", "The rules of agent.nvim answer first. You are asked about the rest."],
  commands: ["Run commands", "Runs commands in the sandbox without asking, unless a rule forbids it."],
  sensitive: ["Write sensitive files", "Writes sensitive files without asking, unless a rule forbids it."],
  both: ["Commands and sensitive files", "Asks about neither, unless a rule forbids it."],
};

export function modeState({ modes, mode }: SessionChoices): SessionModeState {
  return {
    currentModeId: mode,
    availableModes: modes.map(({ name: id, title: name, description }) => ({ id, name, description })),
  };
}

export function configOptions(choices: SessionChoices): SessionConfigOption[] {
  const { modes, mode, models, model, effort, permission } = choices;
  const listed = models.some(({ name }) => name === model) ? models : [{ name: model, text: "" }, ...models];
  return [
    {
      ...{ type: "select", id: "mode", name: "Mode", category: "mode", currentValue: mode },
      options: modes.map(({ name: value, title: name, description }) => ({ value, name, description })),
    },
    ...model === "" ? [] : [{
      ...{ type: "select", id: "model", name: "Model", category: "model", currentValue: model } as const,
      options: listed.map(({ name, text }) => ({
        ...{ value: name, name },
        ...(text === "" ? {} : { description: text }),
      })),
    }],
    {
      ...{ type: "select", id: "effort", name: "Effort", category: "thought_level", currentValue: effort },
      options: CHOOSABLE_EFFORTS.map((value) => ({ value, name: value })),
    },
    {
      ...{ type: "select", id: "permission", name: "Approvals", category: "_approvals" },
      currentValue: permission,
      options: SESSION_PERMISSIONS.map((value) => {
        const [name, description] = PERMISSIONS[value];
        return { value, name, description };
      }),
    },
  ];
}

/** Undefined for an unknown option or value. */
export function choiceAction(
  place: { readonly chat: number; readonly root: string },
  option: string,
  value: unknown,
): ActionInput | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  switch (option) {
    case "mode":
      return { type: "mode", ...place, mode: value };
    case "model":
      return { type: "model", ...place, model: value };
    case "effort": {
      const effort = CHOOSABLE_EFFORTS.find((one) => one === value);
      return effort && { type: "effort", ...place, effort };
    }
    case "permission": {
      const permission = SESSION_PERMISSIONS.find((one) => one === value);
      return permission && { type: "permission", ...place, permission };
    }
  }
  return undefined;
}
