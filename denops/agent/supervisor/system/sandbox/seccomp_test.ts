import assert from "node:assert/strict";
import fc from "fast-check";
import { REFUSED } from "./refused_calls.ts";
import { type Architecture, seccompFilter } from "./seccomp.ts";

const ALLOWED = 0x7fff0000;
const NOT_PERMITTED = 0x00050001;
const AUDIT: Readonly<Record<Architecture, number>> = { x86_64: 0xc000003e, aarch64: 0xc00000b7 };
const SOCKET: Readonly<Record<Architecture, number>> = { x86_64: 41, aarch64: 198 };
const IOCTL: Readonly<Record<Architecture, number>> = { x86_64: 16, aarch64: 29 };

interface Call {
  readonly audit: number;
  readonly number: number;
  readonly args?: readonly bigint[];
}

/** Runs the bytes as the kernel would: classic BPF over struct seccomp_data. */
function run(filter: Uint8Array, { audit, number, args = [] }: Call): number {
  const data = new DataView(new ArrayBuffer(64));
  data.setUint32(0, number >>> 0, true);
  data.setUint32(4, audit >>> 0, true);
  args.forEach((value, index) => data.setBigUint64(16 + 8 * index, BigInt.asUintN(64, value), true));
  const program = new DataView(filter.buffer, filter.byteOffset, filter.byteLength);
  assert.equal(filter.length % 8, 0);
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const code = program.getUint16(at * 8, true);
    const [yes, no] = [program.getUint8(at * 8 + 2), program.getUint8(at * 8 + 3)];
    const value = program.getUint32(at * 8 + 4, true);
    if (code === 0x20) accumulator = data.getUint32(value, true);
    else if (code === 0x15) at += accumulator === value ? yes : no;
    else if (code === 0x35) at += accumulator >= value ? yes : no;
    else if (code === 0x06) return value;
    else assert.fail(`an instruction that is not known: ${code}`);
  }
  assert.fail("the program runs off its end");
}

const MACHINES: readonly Architecture[] = ["x86_64", "aarch64"];

for (const architecture of MACHINES) {
  const audit = AUDIT[architecture];
  const looks = seccompFilter({ architecture, unixSockets: false });
  const writes = seccompFilter({ architecture, unixSockets: true });

  Deno.test(`the filter refuses each call of its list, whatever its arguments (${architecture})`, () => {
    for (const [name, x86, arm] of REFUSED) {
      const number = architecture === "x86_64" ? x86 : arm;
      for (const filter of [looks, writes]) {
        assert.equal(run(filter, { audit, number, args: [1n, 2n, 3n] }), NOT_PERMITTED, name);
      }
    }
  });

  Deno.test(`all other calls pass (${architecture})`, () => {
    const known = new Set(REFUSED.map(([, x86, arm]) => architecture === "x86_64" ? x86 : arm));
    for (let number = 0; number < 600; number++) {
      if (known.has(number) || number === SOCKET[architecture] || number === IOCTL[architecture]) continue;
      assert.equal(run(looks, { audit, number }), ALLOWED, String(number));
    }
  });

  Deno.test(`Unix sockets are made at some levels only, sockets to a machine's host at none (${architecture})`, () => {
    const made = (filter: Uint8Array, family: bigint) =>
      run(filter, { audit, number: SOCKET[architecture], args: [family, 1n, 0n] }) === ALLOWED;
    assert.deepEqual([1n, 2n, 10n, 16n, 40n].map((family) => made(looks, family)), [
      false,
      true,
      true,
      true,
      false,
    ]);
    assert.deepEqual([1n, 2n, 10n, 16n, 40n].map((family) => made(writes, family)), [
      true,
      true,
      true,
      true,
      false,
    ]);
    // The kernel takes the lower half of an argument for the family.
    assert.equal(made(looks, 0xabcd_0000_0001n), false);
  });

  Deno.test(`nothing is typed into a terminal (${architecture})`, () => {
    const allowed = (request: bigint) =>
      run(writes, { audit, number: IOCTL[architecture], args: [0n, request] }) === ALLOWED;
    assert.deepEqual([0x5412n, 0x541cn, 0x1_0000_5412n, 0x5401n, 0x5413n].map(allowed), [
      false,
      false,
      false,
      true,
      true,
    ]);
  });

  Deno.test(`calls by another machine's numbers are refused (${architecture})`, () => {
    for (const other of [0x40000003, 0x40000028, AUDIT[architecture === "x86_64" ? "aarch64" : "x86_64"]]) {
      assert.equal(run(looks, { audit: other, number: 1 }), NOT_PERMITTED);
    }
    if (architecture === "x86_64") {
      assert.equal(run(looks, { audit, number: 0x40000000 + 41, args: [1n] }), NOT_PERMITTED);
    }
  });

  Deno.test(`the filter answers any call (${architecture})`, () => {
    const number = fc.integer({ min: 0, max: 0xffffffff });
    fc.assert(fc.property(number, number, fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (a, n, value) => {
      const answer = run(looks, { audit: a, number: n, args: [value, value] });
      assert.ok(answer === ALLOWED || answer === NOT_PERMITTED);
      if (a !== audit) assert.equal(answer, NOT_PERMITTED);
    }));
  });
}
