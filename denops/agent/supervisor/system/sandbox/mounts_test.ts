import assert from "node:assert/strict";
import fc from "fast-check";
import { bwrapArguments, type Mount } from "./mounts.ts";

const KINDS = [
  "read",
  "write",
  "scratch",
  "small_scratch",
  "closed_folder",
  "hidden_folder",
  "hidden_file",
] as const;
const path = fc.array(fc.constantFrom("a", "b", "-c", "d e", "--bind"), { minLength: 1, maxLength: 4 })
  .map((parts) => `/${parts.join("/")}`);
const mount: fc.Arbitrary<Mount> = fc.oneof(
  fc.record({ kind: fc.constantFrom(...KINDS), path }),
  fc.record({ kind: fc.constant("link" as const), path, target: path }),
);

/** Where each argument that mounts puts something, in order. */
function places(mounts: readonly Mount[]): readonly string[] {
  const args = [...bwrapArguments({ network: false, cwd: "/p", mounts })];
  const found: string[] = [];
  for (let option = args.shift(); option !== undefined; option = args.shift()) {
    if (option === "--ro-bind" || option === "--bind" || option === "--symlink") {
      args.shift();
      found.push(args.shift() ?? "");
    } else if (option === "--tmpfs") found.push(args.shift() ?? "");
    else if (
      ["--cap-drop", "--perms", "--size", "--remount-ro", "--proc", "--dev", "--chdir"].includes(option)
    ) {
      args.shift();
    } else assert.match(option, /^--(unshare|disable|die|new)/);
  }
  return found;
}

Deno.test("each place is mounted once, after the folders that it is in", () => {
  fc.assert(fc.property(fc.array(mount), (mounts) => {
    const order = places(mounts);
    assert.deepEqual(order.toSorted(), [...new Set(mounts.map((one) => one.path))].sort());
    for (const [index, one] of order.entries()) {
      assert.ok(!order.slice(0, index).some((before) => before.startsWith(`${one}/`)), one);
    }
  }));
});

Deno.test("of several mounts of one place the last one counts", () => {
  const args = bwrapArguments({
    network: false,
    cwd: "/p",
    mounts: [{ kind: "write", path: "/p/.git" }, { kind: "hidden_folder", path: "/p/.git" }],
  });
  assert.ok(!args.includes("--bind"));
  assert.equal(args[args.indexOf("--tmpfs") + 1], "/p/.git");
});

Deno.test("a hidden folder is empty and stays so; a hidden file is nothing", () => {
  const line = (one: Mount) => bwrapArguments({ network: false, cwd: "/", mounts: [one] }).join(" ");
  assert.match(line({ kind: "hidden_folder", path: "/p/k" }), /--tmpfs \/p\/k --remount-ro \/p\/k /);
  assert.match(line({ kind: "hidden_file", path: "/p/.env" }), /--ro-bind \/dev\/null \/p\/\.env /);
});

Deno.test("a closed folder is closed when all that is in it is mounted", () => {
  const mounts: readonly Mount[] = [{ kind: "closed_folder", path: "/h/code" }, {
    kind: "write",
    path: "/h/code/p",
  }];
  const line = bwrapArguments({ network: false, cwd: "/", mounts }).join(" ");
  assert.match(line, /--tmpfs \/h\/code --bind \/h\/code\/p \/h\/code\/p --remount-ro \/h\/code /);
});

Deno.test("there is a network only where it was asked for, and never a name space of the host's but that", () => {
  const of = (network: boolean) => bwrapArguments({ network, cwd: "/", mounts: [] });
  assert.ok(of(false).includes("--unshare-net"));
  assert.ok(!of(true).includes("--unshare-net"));
  for (const network of [true, false]) {
    for (const name of ["user", "pid", "ipc", "uts"]) {
      assert.ok(of(network).includes(`--unshare-${name}`), name);
    }
  }
});
