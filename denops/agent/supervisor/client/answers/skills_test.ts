import assert from "node:assert/strict";
import { DENO, userConfig } from "../../../../../tests/support/engine.ts";
import { scratch } from "../../../../../tests/support/project.ts";
import { fileRules } from "../../../policy/rules.ts";
import { projectSkills } from "./skills.ts";

Deno.test("the user hears of a project's skills, and not with another agent, which has its own", async () => {
  await using files = await scratch({
    "project/.claude/skills/build/SKILL.md": "---\nname: build\ndescription: Build it.\n---\n",
  });
  const root = files.path("project");
  const user = userConfig({
    level: DENO,
    root,
    stateDir: files.path("state"),
    baseUrl: "http://127.0.0.1:1",
  });
  const linesOf = async (agent: string | undefined) => {
    const skills = projectSkills({
      roots: [root],
      user: { ...user, ...agent === undefined ? {} : { agent } },
      files: () => fileRules(user, []),
    });
    return skills.lines(await skills.list());
  };
  const own = (await linesOf(undefined)).filter((line) => line.includes("build"));
  assert.deepEqual(own, ["Skills of this project need your approval: build. See :Agent skills."]);
  assert.deepEqual(await linesOf("claude"), []);
});
