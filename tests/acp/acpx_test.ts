/** acpx, a client that others wrote, in whole conversations. Every message of both sides is checked. */
import assert from "node:assert/strict";
import { join } from "node:path";
import type { AnyMessage } from "../../denops/agent/deps/acp_sdk.ts";
import { acpxArguments } from "../../scripts/acpx.ts";
import { DEPS } from "../../scripts/environment.ts";
import { GREET, PLUGIN } from "../support/agent.ts";
import { waitForNone } from "../support/processes.ts";
import { waitUntil } from "../support/project.ts";
import { type RunPlace, runPlace } from "../support/run.ts";
import { IS_FULL } from "../support/sample.ts";
import { problemOf } from "./schema.ts";

const SCRIPT = `when First
say I edit.
call read {"path": "src/greet.ts"}
---
call edit {"path": "src/greet.ts", "old_str": "Hello", "new_str": "Hi"}
call write {"path": "docs/notes.md", "content": "x\\n"}
call run {"command": "echo made > made.txt; echo said", "access": "write"}
---
say Done.
`;

/** Seconds for which acpx keeps an agent. */
const KEPT = "1";

interface Acpx extends RunPlace {
  run(...args: readonly string[]): Promise<readonly AnyMessage[]>;
}

async function startAcpx(script: string): Promise<Acpx> {
  const place = await runPlace({ script, project: GREET, config: { rules: { ask: ["write(docs/**)"] } } });
  const agent = `${join(PLUGIN, "bin/agent")} acp`;
  const acpx = await acpxArguments(DEPS);
  return {
    ...place,
    async run(...args) {
      const command = new Deno.Command(Deno.execPath(), {
        args: [...acpx, "--agent", agent, "--format", "json", "--json-strict", "--ttl", KEPT, ...args],
        cwd: place.project.root,
        env: { ...place.environment },
        clearEnv: true,
        stdin: "null",
        stderr: "inherit",
      });
      const { stdout } = await command.output();
      const lines = new TextDecoder().decode(stdout).split("\n").filter((line) => line.startsWith("{"));
      return lines.map((line): AnyMessage => JSON.parse(line)).filter((one) => "jsonrpc" in one);
    },
    async [Symbol.asyncDispose]() {
      await waitForNone(marks(place));
      await place[Symbol.asyncDispose]();
    },
  };
}

/** Of acpx's processes and of its agents. */
function marks({ environment }: RunPlace): readonly string[] {
  return [`HOME=${environment.HOME}`];
}

/** Both sides number their requests from 0, so an answer may be to either of two. */
function problems(messages: readonly AnyMessage[]): readonly string[] {
  const requests = messages.flatMap((one) => "method" in one && "id" in one ? [one] : []);
  return messages.flatMap((message) => {
    if ("method" in message) return problemOf(message, undefined) ?? [];
    const found = requests.filter(({ id }) => id === message.id).map(({ method }) =>
      problemOf(message, method)
    );
    return found.includes(undefined) ? [] : found.join(" or ");
  });
}

function stopReasons(messages: readonly AnyMessage[]): readonly unknown[] {
  return messages.flatMap((one) => {
    const result = "result" in one ? one.result : undefined;
    return typeof result === "object" && result !== null && "stopReason" in result ? [result.stopReason] : [];
  });
}

Deno.test("acpx: an edit, a command and a refusal", async () => {
  await using acpx = await startAcpx(SCRIPT);
  const policy = JSON.stringify({ autoApprove: ["execute"], autoDeny: ["edit"], defaultAction: "deny" });
  const messages = await acpx.run("--no-fs", "--permission-policy", policy, "exec", "First");
  assert.deepEqual(problems(messages), []);
  assert.deepEqual(stopReasons(messages), ["end_turn"]);
  assert.match(await acpx.project.read("src/greet.ts"), /Hi \$\{name\}/);
  assert.equal(await acpx.project.read("made.txt"), "made\n");
  await assert.rejects(acpx.project.read("docs/notes.md"));
  const asked = messages.filter((one) => "method" in one && one.method === "session/request_permission");
  assert.equal(asked.length, 2);
});

/** Each of acpx's programs costs more than a turn. */
Deno.test({
  name: "acpx: a session that is cancelled, and that another agent continues",
  ignore: !IS_FULL,
  async fn() {
    await using acpx = await startAcpx(
      "when First\nsay Begun,\nwait here\nsay never.\n---\nwhen Second\nexpect Second\nsay Continued.",
    );
    await acpx.run("sessions", "new");
    const turn = acpx.run("--approve-all", "prompt", "First");
    await waitUntil("the request", () => acpx.server.requests.length > 0);
    await acpx.run("cancel");
    const messages = await turn;
    assert.deepEqual([problems(messages), stopReasons(messages)], [[], ["cancelled"]]);
    await waitForNone(marks(acpx));
    const continued = await acpx.run("--approve-all", "prompt", "Second");
    assert.deepEqual([problems(continued), stopReasons(continued)], [[], ["end_turn"]]);
    assert.deepEqual(acpx.server.problems, []);
  },
});
