/** SKILL.md as others write it, and what is wrong with it. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { assertEachLinear } from "../../../../tests/support/growth.ts";
import { readSkillFile, skillNameIn, skillText } from "./skill_file.ts";

const file = (settings: string, body = "Do it.") => `---\n${settings}\n---\n\n${body}\n`;

Deno.test("a skill in the form of the specification, with all of its settings", () => {
  const text = file(
    "name: pdf-forms\ndescription: |-\n  Fill forms: of PDF.\n  TRIGGER when a form is named.\n" +
      'license: Apache-2.0\ncompatibility: "Needs Python 3.14"\nmetadata:\n  author: somebody\n  version: "1.0"\n' +
      "allowed-tools: Bash(python:*) Read",
    "# Forms\n\nRead FORMS.md.",
  );
  assert.deepEqual(readSkillFile(text, "pdf-forms"), {
    name: "pdf-forms",
    description: "Fill forms: of PDF. TRIGGER when a form is named.",
    compatibility: "Needs Python 3.14",
    tools: "Bash(python:*) Read",
    body: "# Forms\n\nRead FORMS.md.",
    warnings: [],
  });
});

Deno.test("a name that is not its folder's warns, one that is no name gives way to the folder's", () => {
  const named = (name: string, folder: string) => {
    const { name: used, warnings } = readSkillFile(file(`name: ${name}\ndescription: x`), folder);
    return [used, ...warnings];
  };
  assert.deepEqual(named("pdf", "pdf"), ["pdf"]);
  assert.deepEqual(named("pdf", "other"), ["pdf", "its name is pdf, and its folder's is another"]);
  for (const name of ["PDF Forms", "-pdf", "a--b", "../pdf", "x".repeat(65), "pdf_x", "", "__proto__"]) {
    assert.deepEqual(named(name, "Own").slice(0, 1), ["own"], name);
  }
  assert.throws(() => named("A b", "C d"), /its name must be lower-case/);
});

Deno.test("a skill without a description or settings is none, and long settings are cut", () => {
  assert.throws(() => readSkillFile("Be brief.", "x"), /does not begin with settings/);
  assert.throws(() => readSkillFile(file("name: x"), "x"), /it has no description/);
  assert.throws(() => readSkillFile(file("name: x\ndescription:   "), "x"), /it has no description/);
  const long = readSkillFile(
    file(`name: x\ndescription: ${"d".repeat(2_000)}\ncompatibility: ${"c".repeat(600)}`),
    "x",
  );
  assert.deepEqual([long.description.length, long.compatibility.length], [1_024, 500]);
  assert.deepEqual(long.warnings, [
    "its description has more than 1024 characters",
    "its compatibility has more than 500 characters",
  ]);
});

Deno.test("front matter in any form is read in time in proportion, as a skill or as a line of why not", async () => {
  const bombs = ["&a [*a, ", "  x:\n", "---\n"];
  await assertEachLinear(bombs, (long, size) => () => {
    for (
      const text of [
        file(`description: ${long.repeat(size / long.length)}`),
        `---\n${long.repeat(size / long.length)}`,
      ]
    ) {
      try {
        readSkillFile(text, "x");
      } catch (error) {
        assert.ok(error instanceof Error);
      }
    }
  }, 16 * 1024);
  fc.assert(fc.property(fc.string(), fc.string(), fc.string(), (settings, body, folder) => {
    try {
      const skill = readSkillFile(file(settings, body), folder);
      assert.match(skill.name, /^[a-z\d-]{1,64}$/);
      assert.ok(skill.description.length <= 1_024 && !skill.description.includes("\n"));
    } catch (error) {
      assert.ok(error instanceof Error && !error.message.includes("\n"));
    }
  }));
});

Deno.test("a skill's text names its folder and files, and only its head makes it one", () => {
  const skill = { name: "pdf", compatibility: "Python", body: "Do it." };
  const text = skillText(skill, { version: "0123456789ab", folder: "/s/pdf", files: ["a.md", "b/c.py"] });
  assert.equal(
    text,
    "Skill pdf, version 0123456789ab. Its folder is /s/pdf; the paths in it are relative to that.\n" +
      "Its other files: a.md, b/c.py\nIt needs: Python\n\nDo it.",
  );
  assert.deepEqual([text, `See ${text}`, "Skill pdf, version 1."].map(skillNameIn), [
    "pdf",
    undefined,
    undefined,
  ]);
  const many = Array.from({ length: 500 }, (_, at) => `some-folder/file-${at}.md`);
  assert.match(skillText(skill, { version: "0123456789ab", folder: "/s", files: many }), /, and \d+ more\n/);
});
