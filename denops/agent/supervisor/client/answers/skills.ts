/** The texts of skills, and the user's approvals of a project's skills. */
import { neovimEnvironment } from "../../system/neovim_environment.ts";
import type { EngineAnswers } from "../../agents/engine.ts";
import { defined } from "../../../shared/records.ts";
import type { SkillFacts } from "../../../protocol/results/skills.ts";
import { describeSkill, ProjectSkills, type Skill } from "../../skills/skills.ts";
import type { ClientContext } from "../context.ts";
import { NO_CHAT, type ProjectPermissions } from "../permissions.ts";

/** None for another agent, which finds skills itself and offers them as its commands. */
export function projectSkills(
  permissions: Pick<ProjectPermissions, "roots" | "user" | "files">,
): ProjectSkills {
  const { roots, user: { config_dir: configDir, state_dir: stateDir, agent } } = permissions;
  const home = () => neovimEnvironment().HOME ?? neovimEnvironment().USERPROFILE;
  return new ProjectSkills({
    ...agent === undefined
      ? { roots, configDir, home }
      : { roots: [], configDir: undefined, home: () => undefined },
    stateDir,
    rules: () => permissions.files(NO_CHAT),
  });
}

export function skillAnswers(client: ClientContext): Pick<EngineAnswers, "skill" | "skill_file"> {
  const { ports: { chatOf }, skills } = client;
  return {
    async skill(sessionId, { name }) {
      const confirm = async (skill: Skill) => {
        const chat = chatOf(sessionId);
        return chat === undefined ? undefined : await confirmSkill(client, chat, sessionId, skill);
      };
      return { text: await skills.text(name, confirm, false) };
    },
    skill_file: async (_, { path }) => defined({ text: await skills.file(path) }),
  };
}

/** Shows the skill's text. @param sessionId undefined if the user asks for it @returns undefined if the turn was stopped */
export async function confirmSkill(
  client: ClientContext,
  chat: number,
  sessionId: string | undefined,
  skill: Skill,
): Promise<boolean | undefined> {
  const context = await client.gateContext(chat, sessionId);
  const reason = "this approves exactly this folder, until it changes";
  const title = `use the project's skill ${skill.file.name}`;
  return await client.ports.gate.confirm(title, reason, context, describeSkill(skill));
}

/** Looks at the skills before a message: the ones for the model, and lines for the user. @throws {Error} one line */
export function skillLook({ skills, ports: { ownerOf, push } }: ClientContext) {
  /** Lines that hold, and the chats that have them. */
  const reported = new Map<string, number>();
  return async (sessionId: string): Promise<SkillFacts[]> => {
    const list = await skills.list();
    const lines = skills.lines(list);
    for (const [text, chat] of [...reported].filter(([text]) => !lines.includes(text))) {
      reported.delete(text);
      push({ type: "notice_over", chat, text });
    }
    const chat = ownerOf(sessionId);
    for (const text of lines) {
      if (chat === undefined || reported.has(text)) continue;
      reported.set(text, chat);
      push({ type: "notice", chat, severity: "info", text });
    }
    return [...skills.offered(list)];
  };
}
