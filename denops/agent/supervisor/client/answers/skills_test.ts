import assert from "node:assert/strict";
import { DENO, userConfig } from "../../../../../tests/support/engine.ts";
import { scratch } from "../../../../../tests/support/project.ts";
import { fileRules } from "../../../policy/rules.ts";
import { projectSkills, skillLines } from "./skills.ts";

Deno.test("a project's skills are told, and none to another agent, which has its own", async () => {
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
  const linesOf = (agent: string | undefined) =>
    skillLines(projectSkills({
      roots: [root],
      user: { ...user, ...agent === undefined ? {} : { agent } },
      files: () => fileRules(user, []),
    }));
  const own = (await linesOf(undefined)).filter((line) => line.includes("build"));
  assert.deepEqual(own, ["Skills of this project need your approval: build. See :Agent skills."]);
  assert.deepEqual(await linesOf("claude"), []);
});
