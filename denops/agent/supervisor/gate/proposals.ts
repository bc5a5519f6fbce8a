/** Proposals of rules from the approval log, and the user's choices about them. */
import { type ProposalOptions, proposeRules, type RuleProposal } from "../../policy/proposals/propose.ts";
import type { LoggedCase } from "../../policy/proposals/cases.ts";
import { parseRule } from "../../policy/rules.ts";
import type { ProposalChoice } from "../../protocol/results/rule_proposals.ts";
import { pauses } from "../../shared/pauses.ts";
import { circumstancesOf, type GateContext } from "./approval_view.ts";
import { loggedCases } from "./logged_requests.ts";
import { RuleFile } from "./rule_file.ts";

/** Chats are numbered from 1: rules of sessions do not count. */
const NO_CHAT = 0;

/** Works in slices, because the screen and the model's stream must not wait. */
export async function proposalsOf(
  context: GateContext,
  stateDir: string,
): Promise<readonly RuleProposal[]> {
  const { root, rules: book, log } = context;
  const [cases, unwanted] = await Promise.all([
    log.entries().then(loggedCases),
    unwantedRules(stateDir, root),
  ]);
  const [rules, everywhere] = [book.rules(NO_CHAT), book.everywhere];
  return await inSlices(cases, {
    root,
    base: circumstancesOf(context, ""),
    rulesOf: (of) => of === root ? rules : everywhere,
    unwanted: unwanted.rules,
    now: Date.now(),
  });
}

/** @see proposeRules */
export async function inSlices(
  cases: readonly LoggedCase[],
  options: ProposalOptions,
): Promise<readonly RuleProposal[]> {
  const pause = pauses();
  const run = proposeRules(cases, options);
  for (let step = run.next();; step = run.next()) {
    if (step.done === true) return step.value;
    await pause();
  }
}

/** Adds the rules of a proposal, all or none, or notes that the user does not want them. @throws {Error} one line */
export async function chooseProposal(
  { rules: texts, verdict, to }: ProposalChoice,
  { root, rules, chat }: Pick<GateContext, "root" | "rules" | "chat">,
  stateDir: string,
): Promise<void> {
  const found = texts.map((text) => parseRule(text, verdict, "project"));
  if (to !== "nowhere") {
    for (const text of texts) await rules.add(text, verdict, to, chat);
    return;
  }
  const unwanted = await unwantedRules(stateDir, root);
  for (const rule of found) await unwanted.add(rule);
}

/** The proposals that the user does not want again. */
export async function unwantedRules(stateDir: string, root: string): Promise<RuleFile> {
  return await RuleFile.ofProject(stateDir, "unwanted_rules", root);
}
