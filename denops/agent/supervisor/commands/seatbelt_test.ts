import assert from "node:assert/strict";
import fc from "fast-check";
import { seatbeltArguments } from "./seatbelt.ts";

type SeatbeltPlaces = Parameters<typeof seatbeltArguments>[0];

const GIT = { bound: ["/p/.git"], guarded: ["/p/.git/hooks", "/p/.git/config"] };

function places(changes: Partial<SeatbeltPlaces> = {}): SeatbeltPlaces {
  return {
    level: "write",
    roots: ["/p"],
    home: "/Users/u",
    readable: ["~/keep"],
    maskedFolders: ["/Users/u/state"],
    maskedFiles: ["/p/.env"],
    writable: ["/cache"],
    network: false,
    ...changes,
  };
}

/** The rules in order, with the paths that their parameters stand for. */
function rules(changes: Partial<SeatbeltPlaces> = {}, git: typeof GIT = GIT): readonly string[] {
  const { profile, paths } = parts(seatbeltArguments(places(changes), git));
  return profile.split("\n").map((line) =>
    line.replace(/\(param "(\w+)"\)/g, (_, name: string) => JSON.stringify(paths.get(name)))
  );
}

function parts(args: readonly string[]) {
  const [flag, profile = "", ...rest] = args;
  assert.equal(flag, "-p");
  assert.equal(rest.pop(), "--");
  const paths = new Map(rest.map((argument) => {
    const [, name = "", path = ""] = /^-D(\w+)=(.*)$/s.exec(argument) ?? [];
    assert.notEqual(name, "", argument);
    return [name, path] as const;
  }));
  assert.equal(paths.size, rest.length, "each parameter has a name of its own");
  return { profile, paths };
}

Deno.test("what is not allowed is denied, and nothing is allowed without a limit but reading", () => {
  const lines = rules();
  assert.deepEqual(lines.slice(0, 2), ["(version 1)", "(deny default)"]);
  assert.deepEqual(lines.filter((line) => /^\(allow [a-z *-]+\)$/.test(line)), [
    "(allow process-exec process-fork)",
    "(allow sysctl-read mach-host* user-preference-read pseudo-tty)",
    "(allow ipc-posix-sem)",
    "(allow file-read*)",
  ]);
  assert.ok(lines.every((line) => !/allow default|allow file-write\*\)/.test(line)));
});

Deno.test("writing: the roots, the folders of the options, devices and temporary folders; not git's hooks", () => {
  const lines = rules({ roots: ["/p", "/q"] });
  const writes = lines.filter((line) => line.startsWith("(allow file-write"));
  const paths = writes.flatMap((line) =>
    [...line.matchAll(/\((?:subpath|literal) "([^"]+)"\)/g)].map(([, p]) => p)
  );
  assert.deepEqual(paths, [
    ...["/dev/null", "/dev/zero", "/dev/tty", "/dev/ptmx", "/dev/stdout", "/dev/stderr"],
    ...["/private/tmp", "/private/var/tmp", "/private/var/folders"],
    ...["/p", "/q", "/cache"],
  ]);
  const guard = lines.indexOf('(deny file-write* (subpath "/p/.git/hooks") (subpath "/p/.git/config"))');
  assert.ok(guard > lines.indexOf(writes.at(-1) ?? ""), "the later rule counts");
  assert.ok(lines.includes('(deny file-write-unlink (literal "/p/.git"))'));
});

Deno.test("secrets are denied last, so that nothing opens them again", () => {
  const last = rules().at(-1);
  assert.equal(last, '(deny file-read* file-write* (subpath "/Users/u/state") (subpath "/p/.env"))');
});

Deno.test("of the home folder only toolchains are read, the project, and what the options name", () => {
  const lines = rules();
  const hidden = lines.indexOf('(deny file-read-data (subpath "/Users") (subpath "/private/var/root"))');
  const shown = lines.findIndex((line) =>
    line.startsWith("(allow file-read*") && line.includes("/Users/u/.rustup")
  );
  const own = lines.indexOf('(allow file-read* (subpath "/p") (subpath "/Users/u/keep"))');
  assert.ok(hidden > 0 && shown > hidden && own > shown, lines.join("\n"));
  assert.ok(lines.every((line) => !line.startsWith("(allow") || !/\.ssh|\.aws|"\/Users\/u"/.test(line)));
});

Deno.test("a look writes nothing but temporary files", () => {
  const writes = rules({ level: "look" }).filter((line) => line.startsWith("(allow file-write"));
  assert.ok(writes.length > 0 && writes.every((line) => !line.includes('"/p"') && !line.includes("/cache")));
});

Deno.test("the network is off unless it was granted, and then reaches no sockets of other programs", () => {
  assert.deepEqual(rules().filter((line) => /network|system-socket/.test(line)), []);
  const granted = rules({ network: true }).filter((line) => /network-|system-socket/.test(line));
  assert.deepEqual(granted, [
    "(allow system-socket)",
    '(allow network-outbound (remote ip "*:*") (literal "/private/var/run/mDNSResponder"))',
    '(allow network-inbound network-bind (local ip "*:*"))',
  ]);
});

Deno.test("an empty list allows and denies nothing", () => {
  const lines = rules({ writable: [], maskedFolders: [], maskedFiles: [] }, { bound: [], guarded: [] });
  const denied = lines.filter((line) => line.startsWith("(deny ") && !/default|\/Users"|"\/etc\//.test(line));
  assert.deepEqual(denied, []);
});

Deno.test("no name of a folder becomes a part of the profile", () => {
  const evil = [
    '/p") (allow default) ("',
    '/p\\") (allow file-write*) (subpath \\"/',
    '/p"))\n(allow default)',
    "/p; (allow default)",
    '/p (param "PATH_0")',
    "/p=/etc",
    "/p\\",
  ];
  const profileOf = (changes: Partial<SeatbeltPlaces>, git: typeof GIT) =>
    parts(seatbeltArguments(places(changes), git)).profile;
  const path = fc.oneof(fc.constantFrom(...evil), fc.string().map((name) => `/${name}`));
  fc.assert(fc.property(path, path, path, path, (root, writable, masked, guarded) => {
    const changes = { roots: [root], writable: [writable], maskedFolders: [masked], maskedFiles: [masked] };
    const git = { bound: [guarded], guarded: [guarded] };
    const plain = { roots: ["/a"], writable: ["/b"], maskedFolders: ["/c"], maskedFiles: ["/c"] };
    assert.equal(profileOf(changes, git), profileOf(plain, { bound: ["/d"], guarded: ["/d"] }));
    const { paths } = parts(seatbeltArguments(places(changes), git));
    const own = [...paths.values()].filter((value) => [root, writable, guarded, masked].includes(value));
    for (const one of [root, writable, guarded, masked]) assert.ok(own.includes(one));
  }));
});
