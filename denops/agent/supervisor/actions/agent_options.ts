/** The options and models of another agent. */
import type { AgentOption, AgentOptionsResult } from "../../protocol/results/agent_options.ts";
import { messageOf } from "../../shared/errors.ts";
import { agentOf } from "../agents/models/engine_model.ts";
import { LONGEST_NOTICE, oneLine } from "../screen/visible.ts";
import type { ChatSession } from "../sessions/chat_session.ts";
import type { ActionContext, Handlers } from "./action.ts";

/** Characters of an id, which is sent back as it is. */
const LONGEST_ID = 200;

export function agentOptionActions({ chats, push }: ActionContext): Handlers<"agent_options"> {
  return {
    async agent_options({ request, change, ...action }) {
      const { session } = chats.at(action);
      const answer = { type: "agent_options", request } as const;
      try {
        const { model } = await session.project();
        const agent = agentOf(model);
        if (agent === undefined) return push({ ...answer, options: [], asks: false, notes: [] });
        const result = await session.request("agent_options", (sessionId) => ({ sessionId, change }));
        push({ ...answer, title: agent.title, ...displayed(result) });
      } catch (error) {
        const problem = oneLine(messageOf(error), LONGEST_NOTICE);
        push({ ...answer, options: [], asks: false, notes: [], problem });
      }
    },
  };
}

interface AgentModels {
  readonly models: readonly { readonly name: string; readonly text: string }[];
  readonly current: string;
}

/** @throws {Error} one line, if the agent tells none */
export async function agentModels(
  title: string,
  session: Pick<ChatSession, "request">,
): Promise<AgentModels> {
  const { options } = displayed(await session.request("agent_options", (sessionId) => ({ sessionId })));
  const option = options.find(({ category }) => category === "model");
  if (option === undefined) throw new Error(`${title} chooses its model itself.`);
  return {
    current: option.current,
    models: option.values.map(({ value, name, description }) => ({
      name: value,
      text: [name === value ? "" : name, description ?? ""].filter((part) => part !== "").join(": "),
    })),
  };
}

/** The engine's texts are as little trusted as the agent's. */
function displayed({ options, mode, asks, notes }: AgentOptionsResult): AgentOptionsResult {
  const isClean = (id: string) => oneLine(id, LONGEST_ID) === id;
  const described = (description: string | undefined) =>
    description === undefined ? {} : { description: oneLine(description) };
  return {
    options: options.filter(({ id }) => isClean(id)).map((option): AgentOption => ({
      ...option,
      ...described(option.description),
      name: oneLine(option.name),
      category: oneLine(option.category),
      current: oneLine(option.current, LONGEST_ID),
      values: option.values.filter(({ value }) => isClean(value)).map(({ value, name, description }) => ({
        value,
        name: oneLine(name),
        ...described(description),
      })),
    })),
    ...(mode === undefined ? {} : { mode: oneLine(mode) }),
    asks,
    notes: notes.map((note) => oneLine(note, LONGEST_NOTICE)),
  };
}
