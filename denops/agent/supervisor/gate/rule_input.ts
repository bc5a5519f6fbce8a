/** The rules that the user has written into an answer to an approval. */
import { type Circumstances, decide } from "../../policy/decide.ts";
import { parseRule, ruleText } from "../../policy/rules.ts";
import { type Access, rulesIn } from "../../protocol/access.ts";
import type { Update } from "../../protocol/ui.ts";
import { messageOf } from "../../shared/errors.ts";
import { circumstancesOf, type GateContext } from "./approval_view.ts";
import { oneLine } from "../screen/visible.ts";

/** Why an answer's rules cannot be added, for the user. All are added, or none if one is invalid. */
export function problemOf(text: string | undefined): string | undefined {
  try {
    for (const rule of rulesIn(text ?? "")) parseRule(rule, "allow", "project");
    return undefined;
  } catch (error) {
    return `The rule was not added, so answer again. ${oneLine(messageOf(error))}`;
  }
}

/** @returns whether the rules are stored, and allow the access */
export async function addRules(
  text: string | undefined,
  access: Access,
  context: GateContext,
  push: (update: Update) => void,
): Promise<boolean> {
  const { rules, chat } = context;
  const tell = (severity: "info" | "warning", text: string) => push({ type: "notice", chat, severity, text });
  try {
    const added: string[] = [];
    for (const rule of rulesIn(text ?? "")) {
      added.push(ruleText(await rules.add(rule, "allow", "project", chat)));
    }
    tell("info", `Always allowed in this project: ${added.join(", ")}`);
    const isAllowed = access.kind === "effects" ||
      decide(access, withoutPermission(circumstancesOf(context, ""))).decision.verdict === "allow";
    if (!isAllowed) tell("warning", "The rule does not match this request: allowed only this once.");
    return isAllowed;
  } catch (error) {
    tell("warning", `Allowed only this once. ${oneLine(messageOf(error))}`);
    return false;
  }
}

/** The rules alone decide whether a new rule fits. */
function withoutPermission(circumstances: Circumstances): Circumstances {
  return { ...circumstances, permission: "default", tools: [] };
}
