/** A host that another agent was refused is opened to it alone, by the user. */
import assert from "node:assert/strict";
import { AgentHosts } from "../../denops/agent/supervisor/foreign/hosts.ts";
import { waitForChat } from "../support/chat.ts";
import { hostedShell } from "../support/foreign/hosted_shell.ts";
import { menuPicker } from "../support/foreign/menus.ts";
import { agentProgram } from "../support/foreign/program.ts";
import { sharedAgent } from "../support/shared_agent.ts";

const ignore = Deno.build.os !== "linux";

function pageServer(): { readonly port: number; readonly server: Deno.HttpServer<Deno.NetAddr> } {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("page"),
  );
  return { port: server.addr.port, server };
}

Deno.test({
  name: "a refused host is open to the running agent once the user has allowed it, unless a rule denies it",
  ignore,
  async fn() {
    const { port, server } = pageServer();
    await using _server = { [Symbol.asyncDispose]: () => server.shutdown() };
    const hosts: string[] = [];
    await using agent = await hostedShell({ "a.txt": "a\n" }, { hosts });
    const name = `localhost:${port}`;
    const ask = async () => (await agent.run(`curl -sm 20 --noproxy "" http://${name}/`)).trim();
    await agent.begin();
    assert.match(await ask(), /^Refused/);
    const { notes } = await agent.end();
    const rule = `the rule host(${name})`;
    assert.deepEqual(notes, [
      `Refused hosts: ${name}. \`:Agent rules\` allows one to Shell, ${rule} to all commands.`,
    ]);
    assert.deepEqual(agent.host.refusedHosts, [{ agent: "shell", host: name, title: "Shell" }]);
    assert.throws(() => agent.host.allowHost("shell", "example.org"), /^Error: Cannot allow example.org/);
    assert.throws(() => agent.host.allowHost("other", name), /^Error: Cannot allow/);
    agent.host.allowHost("shell", name);
    assert.equal(await ask(), "page");
    assert.deepEqual(agent.host.refusedHosts, []);
    hosts.push(`!${name}`);
    assert.match(await ask(), /^Refused/);
  },
});

Deno.test("an agent that asks for any host fills no list, and no text that is no host is in it", () => {
  const hosts = new AgentHosts();
  for (let at = 0; at < 10_000; at++) hosts.refuse("a", `h${at}.example:443`);
  assert.equal(hosts.refused.length, 20);
  assert.equal(hosts.refused.at(-1)?.host, "h0.example");
  hosts.refuse("b", "x.example:443");
  assert.deepEqual(hosts.refused[0], { agent: "b", host: "x.example" });
  const others = new AgentHosts();
  for (const host of ["*:80", "a b:80", "!x.example:443", "", "x/y:80"]) others.refuse("a", host);
  assert.deepEqual(others.refused, []);
});

Deno.test({
  name: "the rules name refused hosts of an agent; only a yes opens one",
  ignore,
  async fn() {
    const { port, server } = pageServer();
    await using _server = { [Symbol.asyncDispose]: () => server.shutdown() };
    await using program = await agentProgram();
    const look = `curl -sm 20 --noproxy "" http://localhost:${port}/`;
    await program.plays("look", { show: look });
    await using agent = await sharedAgent({
      script: "",
      options: `sessions = { title = false }, agent = "scripted", agents = { ${program.row} }`,
      hasOwnState: true,
    });
    const { nvim } = agent;
    const menu = await menuPicker(nvim);
    await nvim.command("Agent play look");
    await waitForChat(nvim, `Refused hosts: localhost:${port}. \`:Agent rules\` allows one to Scripted`);
    const row = `add   localhost:${port}  for Scripted alone (it was refused)`;
    const [rules, question] = await menu("Agent rules", row, "Do not allow it");
    assert.deepEqual([rules?.prompt, rules?.lines], ["Rules (choose one to remove or add it)", [row]]);
    assert.equal(question?.prompt, `Scripted wanted to reach localhost:${port}`);
    await menu("Agent rules", row, "Allow it until Neovim exits");
    await waitForChat(nvim, `Until Neovim exits scripted reaches localhost:${port}`);
    await nvim.command("Agent play look");
    await nvim.waitForScreen(/^[^\n]*│ page +│/m);
  },
});
