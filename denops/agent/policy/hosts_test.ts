import assert from "node:assert/strict";
import fc from "fast-check";
import { addressProblem, hostProblem, matchesHost, parseHost } from "./hosts.ts";

Deno.test("a pattern names hosts, with the ports of the web or one of its own", () => {
  for (
    const [pattern, name, port, matches] of [
      ["registry.npmjs.org", "registry.npmjs.org", 443, true],
      ["registry.npmjs.org", "REGISTRY.npmjs.org.", 80, true],
      ["registry.npmjs.org", "registry.npmjs.org", 8080, false],
      ["registry.npmjs.org", "npmjs.org", 443, false],
      ["registry.npmjs.org", "registry.npmjs.org.evil.test", 443, false],
      ["*.npmjs.org", "registry.npmjs.org", 443, true],
      ["*.npmjs.org", "a.b.npmjs.org", 443, true],
      ["*.npmjs.org", "npmjs.org", 443, false],
      ["*.npmjs.org", "evilnpmjs.org", 443, false],
      ["localhost:8080", "localhost", 8080, true],
      ["localhost:8080", "localhost", 443, false],
      ["*.test:99", "a.test", 99, true],
      ["127.0.0.1", "127.1", 80, true],
      ["[::1]:8080", "[0:0:0:0:0:0:0:1]", 8080, true],
      ["bücher.de", "xn--bcher-kva.de", 443, true],
    ] as const
  ) assert.equal(matchesHost([pattern], { name, port }), matches, `${pattern} ${name}:${port}`);
});

Deno.test("an exclusion wins over every pattern, and without a port over all ports", () => {
  const allowed = (patterns: readonly string[], port = 443) =>
    matchesHost(patterns, { name: "a.b.test", port });
  assert.ok(allowed(["!c.test", "*.b.test"]));
  assert.ok(!allowed(["*.b.test", "!a.b.test"]));
  assert.ok(!allowed(["!*.test", "a.b.test"]));
  assert.ok(!allowed(["a.b.test:8080", "!a.b.test"], 8080));
  assert.ok(allowed(["a.b.test", "!a.b.test:80"]));
  assert.ok(!allowed(["!c.test"]));
});

Deno.test("a wrong pattern says what is wrong", () => {
  for (
    const [pattern, problem] of [
      ["*", /names no host; a rule network/],
      ["*:80", /names no host/],
      ["https://a.test", /must be a host alone/],
      ["u@a.test", /must be a host alone/],
      ["!a.test", /must be a host alone/],
      ["a b", /is not a host/],
      ["", /is not a host/],
      ["a.*.test", /is not a host/],
      ["*.1.2.3.4", /no hosts are below an address/],
      ["a.test:0", /no valid port/],
      ["a.test:65536", /no valid port/],
    ] as const
  ) {
    assert.match(hostProblem(pattern) ?? "", problem, pattern);
    assert.ok(!matchesHost([pattern], { name: "a.test", port: 80 }), pattern);
  }
});

/** Of this machine or its link, in all forms. */
const LOCAL = [
  "127.0.0.1",
  "127.9.9.9",
  "::1",
  "::ffff:127.0.0.1",
  "::127.0.0.1",
  "64:ff9b::7f00:1",
  "2002:7f00:1::",
]
  .concat("169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255");
const PRIVATE = [
  "10.0.0.1",
  "172.31.0.1",
  "192.168.1.1",
  "100.64.0.1",
  "fd00::1",
  "::ffff:10.0.0.1",
  "198.18.0.1",
];
const PUBLIC = [
  "8.8.8.8",
  "172.32.0.1",
  "2606:4700::1111",
  "::ffff:1.1.1.1",
  "169.253.0.1",
  "223.255.255.255",
];

Deno.test("a name leads to no address of this machine, and only an exact name to a private network", () => {
  const target = { name: "a.b.test", port: 443 };
  const allows = (patterns: readonly string[], address: string) =>
    addressProblem(patterns, target, address) === undefined;
  for (const address of LOCAL) assert.ok(!allows(["a.b.test", "*.test"], address), address);
  for (const address of PRIVATE) {
    assert.ok(!allows(["*.b.test"], address), address);
    assert.ok(allows(["*.b.test", "a.b.test"], address), address);
  }
  for (const address of PUBLIC) assert.ok(allows(["*.b.test"], address), address);
  assert.ok(!allows(["a.b.test"], "a.b.test"));
});

Deno.test("an address that a pattern names is open, and localhost is this machine", () => {
  const problem = (pattern: string, name: string, address: string) =>
    addressProblem([pattern], { name, port: 80 }, address);
  assert.equal(problem("127.0.0.1", "127.0.0.1", "127.0.0.1"), undefined);
  assert.equal(problem("[::1]", "[::1]", "::1"), undefined);
  assert.equal(problem("169.254.169.254", "169.254.169.254", "169.254.169.254"), undefined);
  assert.match(problem("127.0.0.1", "127.0.0.1", "127.0.0.2") ?? "", /this machine/);
  for (const address of ["127.0.0.1", "::1"]) {
    assert.equal(problem("localhost", "localhost", address), undefined);
  }
  assert.match(problem("localhost", "localhost", "169.254.169.254") ?? "", /this machine/);
});

const LABEL = fc.stringMatching(/^[a-z][a-z0-9]{0,5}$/);
const NAME = fc.array(LABEL, { minLength: 1, maxLength: 4 }).map((labels) => labels.join("."));
const PORT = fc.integer({ min: 1, max: 65_535 });

Deno.test("text of any kind throws nothing, and only valid patterns match", () => {
  const host = fc.oneof(fc.string(), NAME, fc.ipV4(), fc.ipV6(), fc.ipV6().map((text) => `[${text}]:80`));
  fc.assert(fc.property(host, host, PORT, host, (pattern, name, port, address) => {
    const isMatch = matchesHost([pattern], { name, port });
    if (isMatch) assert.equal(hostProblem(pattern), undefined);
    addressProblem([pattern], { name, port }, address);
  }));
});

Deno.test("a name below a wildcard matches, the wildcard's name and longer words do not", () => {
  fc.assert(fc.property(NAME, NAME, LABEL, PORT, (above, below, word, port) => {
    const patterns = [`*.${above}:${port}`];
    assert.ok(matchesHost(patterns, { name: `${below}.${above}`, port }));
    assert.ok(!matchesHost(patterns, { name: above, port }));
    assert.ok(!matchesHost(patterns, { name: `${word}${above}`, port }) || above.startsWith("."));
    assert.ok(!matchesHost([...patterns, `!${below}.${above}`], { name: `${below}.${above}`, port }));
  }));
});

Deno.test("an address of IPv4 is judged alike in every form", () => {
  fc.assert(fc.property(fc.ipV4(), (address) => {
    const judge = (form: string) =>
      addressProblem(["*.test"], { name: "a.test", port: 80 }, form) === undefined;
    const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
    const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
    for (const form of [`::ffff:${address}`, `64:ff9b::${hex}`, `2002:${hex}::`]) {
      assert.equal(judge(form), judge(address), form);
    }
  }));
});

Deno.test("a pattern is read in one way", () => {
  assert.deepEqual(parseHost("*.A.test:80"), { name: "a.test", below: true, port: "80" });
  assert.deepEqual(parseHost("[::1]:8080"), { name: "[::1]", below: false, port: "8080" });
});
