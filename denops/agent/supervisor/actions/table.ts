/** All actions. */
import type { Action } from "../../protocol/actions.ts";
import type { ActionContext, Handlers } from "./action.ts";
import { agentLoginActions } from "./agent_login.ts";
import { agentOptionActions } from "./agent_options.ts";
import { approvalActions, ruleActions } from "./approvals.ts";
import { healthAction } from "./health.ts";
import { hookActions } from "./hooks.ts";
import { indexActions } from "./code_index.ts";
import { listActions } from "./lists.ts";
import { loginActions } from "./logins.ts";
import { mcpActions } from "./mcp.ts";
import { modelActions } from "./models.ts";
import { modeActions } from "./modes.ts";
import { sessionActions } from "./sessions.ts";
import { skillActions } from "./skills.ts";
import { sideQuestionActions, turnActions } from "./turns.ts";
import { worktreeActions } from "./worktrees.ts";

export function actionTable(context: ActionContext): Handlers<Action["type"]> {
  return {
    configure: ({ config }) => {
      context.chats.projects.config = config;
    },
    ...turnActions(context),
    ...sideQuestionActions(context),
    ...agentLoginActions(context),
    ...agentOptionActions(context),
    ...approvalActions(context),
    ...ruleActions(context),
    ...hookActions(context),
    ...indexActions(context),
    ...listActions(context),
    ...mcpActions(context),
    ...skillActions(context),
    ...modeActions(context),
    ...modelActions(context),
    ...sessionActions(context),
    ...worktreeActions(context),
    ...loginActions(context),
    ...healthAction(context),
  };
}
