/** The sandbox of commands, attacked from inside: every attempt must leave what it attacks as it was. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type RunningAgent, startAgent } from "../support/agent.ts";
import { scratch, waitUntil } from "../support/project.ts";
import { IS_FULL } from "../support/sample.ts";

const APPROVE =
  `vim.api.nvim_create_autocmd("User", { pattern = "AgentApprovalRequested", callback = function()
  vim.schedule(function() require("agent").approve() end)
end })`;

interface World {
  readonly root: string;
  readonly outside: string;
  readonly home: string;
  /** Neovim's own socket, and another one of the host. */
  readonly socket: string;
  readonly hostSocket: string;
  readonly port: number;
}

interface Attack {
  readonly name: string;
  line(world: World): string;
  /** What the output must not show. */
  readonly leaks?: RegExp;
  /** True if the attack had an effect. */
  harmed?(world: World): Promise<boolean>;
}

const exists = (path: string) => Deno.lstat(path).then(() => true, () => false);

/** Talks to a Unix socket with what machines have. */
const dial = (path: string) =>
  `python3 -c 'import socket;s=socket.socket(socket.AF_UNIX);s.connect("${path}");print("REACHED")' 2>&1; ` +
  `perl -MIO::Socket::UNIX -e 'print "REACHED" if IO::Socket::UNIX->new(Peer => "${path}")' 2>&1; true`;

/** Files of a bare repository in p, with the objects of another one, and settings that name a program. */
const PLANTED =
  `g() { git -C o -c user.name=a -c user.email=a@b "$@"; }; none=4b825dc642cb6eb9a060e54bf8d69288fbee4904
git init -q o; touch o/f; g add f; g commit -qm a; mkdir -p p/objects/info p/refs; g rev-parse HEAD > p/HEAD
echo "$PWD/o/.git/objects" > p/objects/info/alternates
printf '[diff]\\n\\texternal = "echo RAN; touch ran; :"\\n' > p/config`;

const ATTACKS: readonly Attack[] = [
  { name: "write outside", line: ({ outside }) => `echo evil > ${outside}/secret.txt`, harmed: isChanged },
  {
    name: "write outside through a link",
    line: ({ outside }) => `ln -s ${outside} link; echo evil > link/secret.txt`,
    harmed: isChanged,
  },
  {
    name: "create outside",
    line: ({ outside }) => `touch ${outside}/new`,
    harmed: ({ outside }) => exists(join(outside, "new")),
  },
  { name: "delete outside", line: ({ outside }) => `rm -rf ${outside}/*`, harmed: isChanged },
  {
    name: "change a mode outside",
    line: ({ outside }) => `chmod 777 ${outside}/secret.txt`,
    harmed: async ({ outside }) =>
      ((await Deno.stat(join(outside, "secret.txt"))).mode ?? 0) % 0o1000 === 0o777,
  },
  {
    name: "write the home folder",
    line: ({ home }) => `echo evil >> ${home}/.bashrc`,
    harmed: ({ home }) => exists(join(home, ".bashrc")),
  },
  {
    name: "write /etc",
    line: () => "touch /etc/agent-was-here",
    harmed: () => exists("/etc/agent-was-here"),
  },
  {
    name: "write /usr/local",
    line: () => "touch /usr/local/agent-was-here",
    harmed: () => exists("/usr/local/agent-was-here"),
  },
  {
    name: "remount writable",
    line: ({ outside }) =>
      `mount -o remount,rw / ; mount --bind ${outside} . ; echo evil > ${outside}/secret.txt`,
    harmed: isChanged,
  },
  {
    name: "a user namespace of its own",
    line: ({ outside }) => `unshare -Urm sh -c 'mount -o remount,rw /; echo evil > ${outside}/secret.txt'`,
    harmed: isChanged,
  },
  {
    name: "write through /proc/1/root",
    line: ({ outside }) => `echo evil > /proc/1/root${outside}/secret.txt`,
    harmed: isChanged,
  },
  { name: "read an SSH key", line: ({ home }) => `cat ${home}/.ssh/id_ed25519 ~/.ssh/*`, leaks: /PRIVATE/ },
  {
    name: "read an SSH key through a link",
    line: ({ home }) => `ln -s ${home}/.ssh/id_ed25519 k; cat k; cp ${home}/.ssh/id_ed25519 copy; cat copy`,
    leaks: /PRIVATE/,
  },
  { name: "read a token file", line: ({ home }) => `cat ${home}/.npmrc`, leaks: /TOKEN-IN-NPMRC/ },
  {
    name: "read the project's .env",
    line: () => "cat .env; cat ./.en*; grep -r PASSWORD . ; cp .env x; cat x",
    leaks: /hunter2/,
  },
  { name: "read the .env of a folder below", line: () => "cat sub/.env.local", leaks: /hunter2/ },
  {
    name: "read .env through git's work tree",
    line: () => "git diff --no-index /dev/null .env",
    leaks: /hunter2/,
  },
  {
    name: "read the environment of the supervisor",
    line: () => "cat /proc/*/environ | tr '\\0' '\\n'",
    leaks: /TEST_API_KEY|sk-test/,
  },
  {
    name: "read the plugin's state",
    line: () => "find / -name 'approvals.jsonl' -exec cat {} + 2>/dev/null",
    leaks: /allowed/,
  },
  {
    name: "write a git hook",
    line: ({ root }) => `echo evil > ${root}/.git/hooks/pre-commit`,
    harmed: ({ root }) => exists(join(root, ".git/hooks/pre-commit")),
  },
  {
    name: "write a git hook through a link",
    line: () => "ln -s .git/hooks h; echo evil > h/pre-commit",
    harmed: ({ root }) => exists(join(root, ".git/hooks/pre-commit")),
  },
  {
    name: "change git's configuration",
    line: () => "git config core.pager 'sh -c evil'; echo '[core]' >> .git/config",
    harmed: async ({ root }) =>
      /evil|\[core\][\s\S]*\[core\]/.test(await Deno.readTextFile(join(root, ".git/config"))),
  },
  {
    name: "point git elsewhere by commondir",
    line: () => "mkdir -p evil/hooks; echo ../evil > .git/commondir; sleep 0",
    harmed: ({ root }) => exists(join(root, ".git/commondir")),
  },
  {
    name: "move .git away and make another",
    line: () => "mv .git old; mkdir -p .git/hooks; echo evil > .git/hooks/pre-commit",
    harmed: ({ root }) => exists(join(root, ".git/hooks/pre-commit")),
  },
  {
    name: "have git take a planted folder for a bare repository, and run what its settings name",
    line: () =>
      `${PLANTED}; cd p; git diff $none HEAD; git log -p --ext-diff; cd ..; git -C p diff $none HEAD`,
    leaks: /^RAN/m,
    harmed: ({ root }) => exists(join(root, "ran")),
  },
  { name: "reach Neovim's socket", line: ({ socket }) => dial(socket), leaks: /REACHED/ },
  { name: "reach another socket of the host", line: ({ hostSocket }) => dial(hostSocket), leaks: /REACHED/ },
  {
    name: "reach a TCP port on loopback",
    line: ({ port }) =>
      `exec 3<>/dev/tcp/127.0.0.1/${port} && echo REACHED; curl -s http://127.0.0.1:${port}/api/tags`,
    leaks: /REACHED|models/,
  },
  { name: "reach the network", line: () => "exec 3<>/dev/tcp/1.1.1.1/53 && echo REACHED", leaks: /REACHED/ },
  {
    name: "see other processes",
    line: () => "ls /proc | grep -c '^[0-9]' | awk '{ if ($1 > 12) print \"MA\" \"NY\" }'; ps ax",
    leaks: /MANY|--embed|standalone\.ts|engine\/main/,
  },
  {
    name: "kill other processes",
    line: () => "kill -9 -1; for p in $(seq 2 65536); do kill -9 $p 2>/dev/null; done; true",
  },
  { name: "a fork bomb", line: () => ":(){ :|:& };:" },
  {
    name: "write the plugin's own code",
    line: () => `echo evil >> ${new URL("../../plugin/agent.lua", import.meta.url).pathname}`,
    harmed: async () =>
      /evil/.test(await Deno.readTextFile(new URL("../../plugin/agent.lua", import.meta.url))),
  },
  {
    name: "a device",
    line: () => "dd if=/dev/zero of=/dev/sda bs=1 count=1; mknod d b 8 0 && dd if=d bs=1 count=1",
    leaks: /1 byte.*copied[\s\S]*1 byte.*copied/,
  },
];

async function isChanged({ outside }: World): Promise<boolean> {
  return await Deno.readTextFile(join(outside, "secret.txt")).catch(() => "gone") !== "outside\n";
}

interface Scene extends AsyncDisposable {
  readonly agent: RunningAgent;
  readonly world: World;
}

async function openScene(): Promise<Scene> {
  await using stack = new AsyncDisposableStack();
  const outside = stack.use(await scratch({ "secret.txt": "outside\n" }));
  const listener = stack.use(Deno.listen({ transport: "unix", path: outside.path("host.sock") }));
  const agent = stack.use(
    await startAgent({
      script: "say Nothing yet.",
      project: {
        "README.md": "# demo\n",
        ".env": "PASSWORD=hunter2\n",
        "sub/.env.local": "PASSWORD=hunter2\n",
      },
      lua: APPROVE,
      // A hook that is there has been written.
      mined: false,
    }),
  );
  const { nvim, server, project } = agent;
  const home = await nvim.lua<string>("return vim.env.HOME");
  await Deno.mkdir(join(home, ".ssh"), { recursive: true });
  await Deno.writeTextFile(join(home, ".ssh/id_ed25519"), "PRIVATE KEY\n");
  await Deno.writeTextFile(join(home, ".npmrc"), "//registry/:_authToken=TOKEN-IN-NPMRC\n");
  const world: World = {
    root: project.root,
    outside: outside.root,
    home,
    socket: await nvim.lua<string>("return vim.v.servername"),
    hostSocket: listener.addr.transport === "unix" ? listener.addr.path : "",
    port: Number(new URL(server.url).port),
  };
  const owned = stack.move();
  return { agent, world, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

let scene: Scene | undefined;

Deno.test.afterAll(async () => {
  await scene?.[Symbol.asyncDispose]();
});

/** On the files themselves, with all that a command may be given but the network; and over an overlay of them. */
const WAYS = [
  { access: "git", who: "a command" },
  { access: "write", who: "a rehearsed command" },
] as const;

for (const [way, { access, who }] of WAYS.entries()) {
  // A run of all tests tries every other attack, in turn one of the ways; `deno task attack` tries all in both.
  for (
    const { name, line, leaks, harmed } of ATTACKS.filter((_, at) =>
      IS_FULL || at % (2 * WAYS.length) === 3 * way
    )
  ) {
    Deno.test({
      name: `${who} tries to: ${name}`,
      ignore: Deno.build.os !== "linux",
      async fn() {
        scene ??= await openScene();
        const { agent: { nvim, server }, world } = scene;
        const before = server.requests.length;
        const command = line(world);
        const call = JSON.stringify({ command, timeout: 10, access });
        server.play(`call run_terminal_command ${call}\n---\nsay Tried.`);
        await nvim.command("Agent! try");
        await waitUntil("the result to reach the model", () => server.requests.length >= before + 2);
        await nvim.waitFor(`require("agent").status():find("ready$")`);
        const output = server.requests.at(-1)?.text ?? "";
        assert.doesNotMatch(output, /not approved|cannot run/i, "the command was run");
        if (leaks !== undefined) assert.doesNotMatch(output, leaks);
        if (harmed !== undefined) assert.equal(await harmed(world), false, output);
        assert.equal(await isChanged(world), false, output);
        assert.equal(await nvim.lua("return 1 + 1"), 2, "Neovim is alive");
      },
    });
  }
}
