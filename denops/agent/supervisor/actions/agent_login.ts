/** Logins at another agent. The user sees a command before it runs on their machine; none comes from the project. */
import { judgeVariable } from "../../policy/command/wrappers.ts";
import type { UserConfig } from "../../protocol/config.ts";
import { foreignAgent } from "../../protocol/options/foreign_agents.ts";
import type { AgentLoginMethod, ShownLogin } from "../../protocol/results/agent_login.ts";
import { messageOf } from "../../shared/errors.ts";
import { agentOf } from "../agents/models/engine_model.ts";
import { agentProgram } from "../foreign/program.ts";
import { LONGEST_NOTICE, oneLine } from "../screen/visible.ts";
import { trustedPath } from "../system/environment.ts";
import { neovimEnvironment } from "../system/neovim_environment.ts";
import { findProgram } from "../system/sandbox.ts";
import type { ActionContext, Handlers } from "./action.ts";

const LONGEST_ID = 100;
/** Characters that a login adds to the agent's command, or asks to set: the user reads all of them. */
const LONGEST_ADDITION = 300;
/** Neither paths, addresses nor settings, which can make the agent's program run others. */
const PLAIN_ARGUMENT = /^[\w.,=@+-]+$/;
const PLAIN_VALUE = /^[\w-]*$/;

export function agentLoginActions({ chats, push }: ActionContext): Handlers<"agent_login"> {
  return {
    async agent_login({ request, method, ...action }) {
      const answer = { type: "agent_login", request } as const;
      try {
        const { session } = chats.at(action);
        const { model, user, roots } = await session.project();
        const agent = agentOf(model);
        if (agent === undefined) throw new Error("This session has no other agent.");
        const { methods } = await session.request("agent_login", (sessionId) => ({ sessionId, method }));
        const logins = await loginsOf(agent.name, methods, { user, roots });
        push({ ...answer, title: agent.title, logins });
      } catch (error) {
        push({ ...answer, title: "", logins: [], problem: oneLine(messageOf(error), LONGEST_NOTICE) });
      }
    },
  };
}

/** The known login of the agent first. @throws {Error} one line, if the agent is missing */
async function loginsOf(
  name: string,
  methods: readonly AgentLoginMethod[],
  { user, roots }: { readonly user: Pick<UserConfig, "agents">; readonly roots: readonly string[] },
): Promise<readonly ShownLogin[]> {
  const row = foreignAgent(name, user.agents);
  if (row === undefined) return [];
  const [, ...args] = row.cmd;
  const cmd = [await agentProgram(row, roots), ...args];
  const [program = "", ...words] = row.login ?? [];
  const own = program === "" ? undefined : await findProgram(program, roots);
  const path = trustedPath(neovimEnvironment().PATH ?? "", roots).join(":");
  return [
    ...own === undefined
      ? []
      : [{ id: "", name: oneLine([program, ...words].join(" ")), command: [own, ...words], path }],
    ...methods.filter(isHarmless).map((method): ShownLogin => {
      const { id, type } = method;
      const text = [method.name, method.description ?? ""].filter((part) => part !== "").join(": ");
      const facts = { id, name: oneLine(text) };
      if (type === "terminal") {
        // An empty record has a key in Lua.
        const env = Object.keys(method.env).length === 0 ? {} : { env: method.env };
        return { ...facts, command: [...cmd, ...method.args], path, ...env };
      }
      return type === "variables" ? { ...facts, variables: method.variables } : facts;
    }),
  ];
}

/** The user can read all of the command, and nothing in it makes its program run something else. */
function isHarmless({ id, args, env, variables }: AgentLoginMethod): boolean {
  const names = [...Object.keys(env), ...variables];
  return oneLine(id, LONGEST_ID) === id &&
    [...args, ...names, ...Object.values(env)].join(" ").length <= LONGEST_ADDITION &&
    args.every((word) => PLAIN_ARGUMENT.test(word)) && names.every((name) => /^\w+$/.test(name)) &&
    Object.entries(env).every(([name, value]) =>
      PLAIN_VALUE.test(value) && judgeVariable(`${name}=${value}`).severity === "none"
    );
}
