/** Tests that share an agent: its start takes longer than most of its turns. Its client offers files, forms and notices. */
import assert from "node:assert/strict";
import { git } from "../support/project.ts";
import { type AcpProcess, startAcp } from "./client.ts";

const OPTIONS = {
  project: {
    "src/a.ts": "const one = 1;\nconst two = 2;\n",
    ".agents/commands/tidy.md":
      "---\ndescription: Tidies up\nargument-hint: FILE\n---\nTidy $ARGUMENTS now.\n",
  },
  config: {
    models: { scripted: { vision: true } },
    rules: { ask: ["write(docs/**)", "run(uname)"], deny: ["write(locked.txt)"] },
  },
  capabilities: {
    fs: { readTextFile: true, writeTextFile: true },
    session: { notices: {} },
    elicitation: { form: {} },
    // Never used: commands run in our sandbox.
    terminal: true,
  },
};

let started: Promise<AcpProcess> | undefined;

Deno.test.afterAll(async () => {
  await (await started)?.[Symbol.asyncDispose]();
});

/** Each test begins with the project's first commit and an agent that has shown nothing. */
export function test(name: string, body: (acp: AcpProcess) => Promise<void>): void {
  Deno.test(name, async () => {
    const acp = await (started ??= startAcp(OPTIONS));
    await git(acp.project.root, "checkout", "-q", "--force", ".");
    for (const list of [acp.seen, acp.permissions, acp.methods, acp.problems]) list.length = 0;
    await body(acp);
    assert.deepEqual(acp.problems, []);
    assert.deepEqual(acp.server.problems, []);
    assert.deepEqual(acp.methods.filter((method) => method.startsWith("terminal/")), []);
  });
}
