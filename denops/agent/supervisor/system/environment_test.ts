import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { commandEnvironment, trustedPath } from "./environment.ts";

const OWN = { PATH: "/usr/bin", HOME: "/home/u", USER: "u", LANG: "de_DE.UTF-8" };

Deno.test("nothing passes but the usual and what the user names", () => {
  const secrets = ["ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "NVIM", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND"];
  fc.assert(
    fc.property(
      fc.dictionary(
        fc.oneof(fc.string({ minLength: 1 }), fc.constantFrom(...secrets)),
        fc.constant("s3cret"),
      ),
      fc.constantFrom("look", "write", "git", undefined),
      (more, level) => {
        const env = commandEnvironment([], level, { ...more, ...OWN });
        const leaked = Object.entries(env).filter(([name, value]) =>
          value === "s3cret" && !name.startsWith("LC_") && !["LOGNAME", "TZ"].includes(name)
        );
        assert.deepEqual(leaked, []);
      },
    ),
  );
  assert.equal(commandEnvironment(["MY_FLAG"], "look", { ...OWN, MY_FLAG: "1" }).MY_FLAG, "1");
});

Deno.test("programs speak English and the rest is as the user has it", () => {
  const env = commandEnvironment([], "look", { ...OWN, LC_ALL: "fr_FR.UTF-8", LC_TIME: "de_DE.UTF-8" });
  assert.equal(env.LC_ALL, undefined);
  assert.equal(env.LANG, "fr_FR.UTF-8");
  assert.equal(env.LC_TIME, "de_DE.UTF-8");
  assert.equal(env.LC_MESSAGES, "C");
});

Deno.test("git takes no folder for a bare repository by itself, beside the settings that the user hands it", () => {
  const bare = (env: Record<string, string>, index: number) => [
    env.GIT_CONFIG_COUNT,
    env[`GIT_CONFIG_KEY_${index}`],
    env[`GIT_CONFIG_VALUE_${index}`],
  ];
  assert.deepEqual(bare(commandEnvironment([], "git", OWN), 0), ["1", "safe.bareRepository", "explicit"]);
  const more = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"];
  const own = { ...OWN, GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: "core.abbrev", GIT_CONFIG_VALUE_0: "9" };
  const env = commandEnvironment(more, "git", own);
  assert.deepEqual(bare(env, 1), ["2", "safe.bareRepository", "explicit"]);
  assert.equal(env.GIT_CONFIG_KEY_0, "core.abbrev");
});

Deno.test("programs of the supervisor's own are not looked for in a project, also not through a link", async () => {
  const folder = await Deno.realPath(await Deno.makeTempDir({ prefix: "agent-path-" }));
  try {
    const root = join(folder, "project");
    await Deno.mkdir(join(root, ".venv/bin"), { recursive: true });
    await Deno.mkdir(join(folder, "bin"));
    await Deno.symlink(join(root, ".venv/bin"), join(folder, "link"));
    const path = [join(root, ".venv/bin"), join(folder, "link"), "bin", "", join(folder, "bin")].join(":");
    assert.deepEqual(trustedPath(path, [root]), [join(folder, "bin")]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
