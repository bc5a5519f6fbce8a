/** What no mount tree holds: system calls from inside of a command's sandbox, made by LuaJIT in Neovim's own binary. */
import assert from "node:assert/strict";
import type { CommandAccess } from "../../denops/agent/protocol/commands.ts";
import { commandRunner } from "../support/command_sandbox.ts";
import { scratch } from "../support/project.ts";
import { neovimInside } from "./inside.ts";

/** Prints the number of the error, 0 if the call went through. */
function calling(name: string, ...args: readonly (number | string)[]): string {
  const numbers: Readonly<Record<string, readonly [x86: number, arm: number]>> = {
    keyctl: [250, 219],
    add_key: [248, 217],
    request_key: [249, 218],
    ptrace: [101, 117],
    process_vm_readv: [310, 270],
    bpf: [321, 280],
    mount: [165, 40],
    umount2: [166, 39],
    fsopen: [430, 430],
    open_tree: [428, 428],
    io_uring_setup: [425, 425],
    userfaultfd: [323, 282],
    socket: [41, 198],
    socketpair: [53, 199],
    ioctl: [16, 29],
    getpid: [39, 172],
  };
  const number = numbers[name]?.[Deno.build.arch === "x86_64" ? 0 : 1];
  assert.ok(number !== undefined, name);
  const given = args.map((value) => typeof value === "number" ? `ffi.cast("long", ${value})` : value);
  return `local ffi = require("ffi")
ffi.cdef("long syscall(long number, ...);")
local buffer = ffi.new("char[4096]")
local result = ffi.C.syscall(${[number, ...given].join(", ")})
io.stdout:write("errno " .. (result == -1 and ffi.errno() or 0) .. "\\n")
`;
}

const REFUSED = "errno 1";
const DONE = "errno 0";

interface Case {
  readonly name: string;
  readonly lua: string;
  readonly looks: string;
  readonly writes: string;
}

const refused = (name: string, ...args: readonly (number | string)[]): Case => ({
  name,
  lua: calling(name, ...args),
  looks: REFUSED,
  writes: REFUSED,
});

const CASES: readonly Case[] = [
  // KEYCTL_GET_KEYRING_ID of the session's own.
  refused("keyctl", 0, -3, 1),
  refused("add_key", '"user"', '"name"', '"secret"', 6, -3),
  refused("request_key", '"user"', '"name"', 0, 0),
  // PTRACE_TRACEME.
  refused("ptrace", 0, 0, 0, 0),
  refused("process_vm_readv", 1, "buffer", 0, "buffer", 0, 0),
  refused("bpf", 0, "buffer", 72),
  refused("mount", '"none"', '"/tmp"', '"tmpfs"', 0, 0),
  refused("umount2", '"/tmp"', 2),
  refused("fsopen", '"tmpfs"', 0),
  refused("open_tree", -100, '"/"', 1),
  refused("io_uring_setup", 8, "buffer"),
  refused("userfaultfd", 0),
  // AF_VSOCK.
  refused("socket", 40, 1, 0),
  // TIOCSTI.
  refused("ioctl", 0, 0x5412, "buffer"),
  { name: "socket (Unix)", lua: calling("socket", 1, 1, 0), looks: REFUSED, writes: DONE },
  { name: "socketpair", lua: calling("socketpair", 1, 1, 0, "buffer"), looks: DONE, writes: DONE },
  { name: "getpid", lua: calling("getpid"), looks: DONE, writes: DONE },
];

for (const access of ["look", "write", "git"] as const satisfies readonly CommandAccess[]) {
  Deno.test({
    name: `system calls at ${access}: keys, other processes, mounts, sockets that lead out`,
    ignore: Deno.build.os !== "linux",
    async fn() {
      await using project = await scratch(
        Object.fromEntries(CASES.map(({ lua }, index) => [`case${index}.lua`, lua])),
      );
      await using state = await scratch();
      const { lua, places } = await neovimInside();
      const { run } = commandRunner([project.root], state.root, [], { command_read: places });
      const line = CASES.map((_, index) => `${lua} case${index}.lua`).join("\n");
      const { output } = await run(access, line);
      const answers = output.trim().split("\n");
      const expected = CASES.map((one) => access === "look" ? one.looks : one.writes);
      const named = (all: readonly string[]) =>
        all.map((answer, index) => `${CASES[index]?.name}: ${answer}`);
      assert.deepEqual(named(answers), named(expected), output);
    },
  });
}

Deno.test({
  name: "with the network no Unix socket is made: the machine's abstract ones would be in reach",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using project = await scratch({ "case.lua": calling("socket", 1, 1, 0) });
    await using state = await scratch();
    const { lua, places } = await neovimInside();
    const { run } = commandRunner([project.root], state.root, [], { command_read: places });
    for (const access of ["look+network", "write+network", "git+network"] as const) {
      assert.equal((await run(access, `${lua} case.lua`)).output.trim(), REFUSED, access);
    }
  },
});

Deno.test({
  name: "the kernel's settings cannot be written, not even by root",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using project = await scratch();
    await using state = await scratch();
    const { run } = commandRunner([project.root], state.root);
    const same =
      "f=/proc/sys/vm/swappiness; cat $f > $f && echo WROTE; echo x > /proc/self/comm && echo WROTE";
    for (const access of ["look", "git"] as const) {
      const { output } = await run(access, `${same}; echo seen > /dev/stderr; echo seen > /proc/self/fd/1`);
      assert.doesNotMatch(output, /WROTE/, access);
      assert.equal(output.match(/^seen$/gm)?.length, 2, output);
    }
  },
});

Deno.test({
  name: "a command hides none of its output, and its folder is a claim beside it",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using project = await scratch({ "sub/a.txt": "" });
    await using state = await scratch();
    const { run } = commandRunner([project.root], state.root);
    const marked = await run(
      "look",
      `printf 'before \\001mark\\001/etc\\nafter\\n'; printf 'x' >&5; echo end`,
    );
    assert.match(marked.output, /before mark\/etc\nafter\n/);
    assert.match(marked.output, /Bad file descriptor[\s\S]*end\n$/);
    assert.equal(marked.folder, project.root);
    const moved = await run("look", "cd sub; exit 7");
    assert.deepEqual([moved.end, moved.folder], [{ type: "exited", code: 7 }, project.path("sub")]);
    const claimed = await run("look", "PWD=/etc; exit 0");
    assert.equal(claimed.output, "");
    const gone = await run("look", "exec echo replaced");
    assert.deepEqual([gone.output, gone.folder], ["replaced\n", undefined]);
  },
});

Deno.test({
  name: "memory and the size of files have limits; core files are none",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using project = await scratch({
      "hoard.lua": `local all = {}
        while true do table.insert(all, #all .. ("x"):rep(2e7)) vim.uv.sleep(5) end`,
    });
    await using state = await scratch();
    const { lua, places } = await neovimInside();
    const { run } = commandRunner([project.root], state.root, [], { command_read: places });
    const big = await run("write", "truncate -s 9G big && echo MADE");
    assert.doesNotMatch(big.output, /MADE/);
    const many = `for i in 1 2 3; do ${lua} hoard.lua & done; wait`;
    const mostMemory = 500 * 1024 ** 2;
    assert.deepEqual((await run("look", many, { mostMemory })).end, {
      type: "too_much_memory",
      limit: mostMemory,
    });
    const limits = await run("look", "ulimit -c; ulimit -f; df -B1 --output=size /tmp /run ~ | tail -n +2");
    assert.match(limits.output, /^0\n8388608\n *2147483648\n *268435456\n *2147483648\n$/);
  },
});

Deno.test({
  name: "what was judged as one that sees nothing denied does not run where that cannot be hidden any more",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await using project = await scratch();
    await using state = await scratch();
    const { sandbox } = commandRunner([project.root], state.root);
    const denied = ["**/*.key"];
    const placed = { access: "look", cwd: project.root } as const;
    assert.ok((await sandbox.specify(placed, denied, true)).input);
    for (let folder = 0; folder < 40; folder++) {
      await Deno.mkdir(project.path(`f${folder}`));
      for (let file = 0; file < 40; file++) {
        await Deno.writeTextFile(project.path(`f${folder}/${file}.key`), "");
      }
      // What is not denied beside them keeps the folder from being hidden whole.
      await Deno.writeTextFile(project.path(`f${folder}/a.txt`), "");
    }
    await assert.rejects(sandbox.specify(placed, denied, true), /can no longer be hidden/);
    assert.ok((await sandbox.specify(placed, denied, false)).input, "whoever has agreed to it may");
  },
});
