/** Lists the skills, approves them, and switches them off. */
import { join } from "node:path";
import type { ShownSkill } from "../../protocol/results/skills.ts";
import { confirmSkill } from "../client/answers/skills.ts";
import { oneLine } from "../screen/visible.ts";
import { SKILL_FILE } from "../skills/skill_folder.ts";
import { describeSkill, type Skill } from "../skills/skills.ts";
import type { ActionContext, Handlers } from "./action.ts";

/** For English. */
const CHARACTERS_A_TOKEN = 4;

export function skillActions({ chats, push }: ActionContext): Handlers<"skills"> {
  return {
    async skills({ request, chat, change, ...action }) {
      const { session } = chats.at({ ...action, chat });
      const { client } = await session.project();
      const { skills, composer } = client;
      if (change?.to === "approve") {
        await skills.approve(change.label, (skill) => confirmSkill(client, chat, undefined, skill));
      } else if (change !== undefined) await skills.switch(change.label, change.to === "on");
      const { id: sessionId, engine } = session;
      // A session that has not begun yet begins with them.
      if (change !== undefined && sessionId !== undefined) {
        await engine?.request("reread_rules", { sessionId });
      }
      const list = await skills.list();
      const { prompts } = await composer.prompts(chat);
      push({
        type: "skills",
        request,
        skills: list.skills.map((skill) => shownSkill(skill, prompts.has(skill.file.name))),
        problems: list.problems,
      });
    },
  };
}

function shownSkill(skill: Skill, hidden: boolean): ShownSkill {
  const { file: { name, description, body }, label, folder, state } = skill;
  return {
    name,
    label: oneLine(label),
    path: join(folder, SKILL_FILE),
    state,
    listed: Math.ceil((name.length + description.length) / CHARACTERS_A_TOKEN),
    whole: Math.ceil(body.length / CHARACTERS_A_TOKEN),
    text: describeSkill(skill),
    hidden,
  };
}
