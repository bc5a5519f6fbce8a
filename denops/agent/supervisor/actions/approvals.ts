/** Approvals, questions to the user and to Neovim, rules, and the log of approvals. */
import { ruleText } from "../../policy/rules.ts";
import { DRY_RUN_DAYS, type ProposedForm } from "../../policy/proposals/propose.ts";
import { oneLine } from "../screen/visible.ts";
import { logLines } from "../gate/approval_log.ts";
import { chooseProposal, proposalsOf, unwantedRules } from "../gate/proposals.ts";
import { type ActionContext, type ActionOf, answer, type Handlers } from "./action.ts";

export function approvalActions(
  { gate, questions, editor }: ActionContext,
): Handlers<"answer" | "edit_command" | "answer_question" | "reply" | "editor_state"> {
  return {
    answer: (action) => void gate.answer(action.request, action),
    edit_command: ({ request, command }) => gate.edit(request, command),
    answer_question: ({ request, answer }) => questions.answer(request, answer),
    reply: ({ request, result, error }) =>
      editor.answer(request, error === undefined ? { result } : { error }),
    editor_state: (state) => {
      editor.state = state;
    },
  };
}

/** The source of a proposal that the user does not want, beside those of rules. */
const PROPOSAL = "a proposal";

export function ruleActions(
  context: ActionContext,
): Handlers<"rules" | "rule_proposals" | "remove_rule" | "allow_host" | "allow_agent_host" | "log"> {
  const { chats, push, notice } = context;
  return {
    async rules(action) {
      const { client } = await chats.at(action).session.project();
      const rules = client.permissions.rules.rules(action.chat)
        .map((rule) => ({ verdict: rule.verdict, rule: ruleText(rule), source: rule.source }));
      const known = new Set(rules.map(({ rule }) => rule));
      const refused = client.terminals.refused.map((pattern) => ruleText({ kind: "host", pattern }))
        .filter((rule) => !known.has(rule));
      const agents = client.agents.refusedHosts.map((one) => ({ ...one, host: oneLine(one.host) }));
      const { user, root } = client.permissions;
      const unwanted = (await unwantedRules(user.state_dir, root)).rules
        .map((rule) => ({ verdict: `never ${rule.verdict}`, rule: ruleText(rule), source: PROPOSAL }));
      push({ type: "rules", request: action.request, rules: [...rules, ...unwanted], refused, agents });
    },
    rule_proposals: (action) => answer(context, action.request, proposals(context, action)),
    async remove_rule({ rule, source, chat }) {
      const { client: { permissions: { rules, user, root } } } = await chats.of(chat).session.project();
      if (source === PROPOSAL) {
        await (await unwantedRules(user.state_dir, root)).remove(rule);
        return notice(chat, "info", `May be proposed again: ${rule}`);
      }
      if (source === "user") {
        throw new Error(`Cannot remove ${rule}: it comes from your options. Change it there.`);
      }
      await rules.remove(rule, source, chat);
      notice(chat, "info", `Removed: ${rule}`);
    },
    async allow_host({ rule, chat }) {
      const { client } = await chats.of(chat).session.project();
      await client.permissions.rules.add(rule, "allow", "project", chat);
      notice(chat, "info", `Always allowed in this project: ${rule}`);
    },
    async allow_agent_host({ agent, host, chat }) {
      const { client } = await chats.of(chat).session.project();
      client.agents.allowHost(agent, host);
      const forever = `to keep it, add it to the option agents.${agent}.hosts`;
      notice(chat, "info", `Until Neovim exits ${agent} reaches ${oneLine(host)}; ${forever}.`);
    },
    async log(action) {
      const { root, client } = await chats.at(action).session.project();
      const entries = await client.permissions.log.entries();
      const lines = logLines(entries.filter((entry) => entry.root === root));
      push({ type: "log", request: action.request, lines });
    },
  };
}

async function proposals(
  { chats }: ActionContext,
  action: ActionOf<"rule_proposals">,
): Promise<Record<string, unknown>> {
  const { client } = await chats.at(action).session.project();
  const { state_dir: stateDir } = client.permissions.user;
  const context = await client.gateContext(action.chat, undefined);
  if (action.choice !== undefined) await chooseProposal(action.choice, context, stateDir);
  const found = await proposalsOf(context, stateDir);
  const formOf = ({ rules, project, all }: ProposedForm) => ({ rules: rules.map(ruleText), project, all });
  return {
    days: DRY_RUN_DAYS,
    proposals: found.map(({ verdict, answers, wider, ...form }) => ({
      verdict,
      answers,
      ...formOf(form),
      ...wider === undefined ? {} : { wider: formOf(wider) },
    })),
  };
}
