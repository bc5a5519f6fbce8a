/**
 * The system call filter of commands, as classic BPF bytes for bwrap's `--seccomp`. Pure.
 *
 * A mount tree cannot block these: keys of the kernel's keyring and the memory of other processes are not
 * files, sockets pass read-only mounts, and injected characters reach the terminal.
 *
 * Sources: linux/seccomp.h, linux/filter.h, linux/audit.h; call numbers from asm/unistd_64.h for x86-64 and
 * asm-generic/unistd.h for arm64.
 */

import { MOUNT_CALLS, REFUSED } from "./refused_calls.ts";

export type Architecture = "x86_64" | "aarch64";

interface FilterOptions {
  readonly architecture: Architecture;
  /** Allows Unix sockets; connected pairs are always allowed. */
  readonly unixSockets: boolean;
  /** Allows mounts in user namespaces of its own. */
  readonly mounts?: boolean;
}

const NUMBERS = {
  x86_64: { audit: 0xc000003e, socket: 41, ioctl: 16 },
  aarch64: { audit: 0xc00000b7, socket: 198, ioctl: 29 },
} as const;

const AF_UNIX = 1;
/** Sockets to the host of a virtual machine, which bypass the network namespace. */
const AF_VSOCK = 40;
/** Put characters into a terminal's input, as if the user had typed them. */
const TERMINAL_INPUT = [0x5412, /* TIOCSTI */ 0x541c /* TIOCLINUX */];
/** Marks calls of the x32 ABI, which repeat all calls under other numbers. */
const X32 = 0x40000000;

const LOAD = 0x20;
const EQUAL = 0x15;
const AT_LEAST = 0x35;
const RETURN = 0x06;
const ALLOW = 0x7fff0000;
const EPERM = 0x00050001;

/** Offsets in struct seccomp_data; of an argument the lower half, on a little-endian machine. */
const NUMBER = 0;
const ARCHITECTURE = 4;
const argument = (index: number) => 16 + 8 * index;

type Instruction = readonly [code: number, yes: number, no: number, value: number];

export function seccompFilter(
  { architecture, unixSockets, mounts = false }: FilterOptions,
): Uint8Array<ArrayBuffer> {
  const { audit, socket, ioctl } = NUMBERS[architecture];
  const allow: Instruction = [RETURN, 0, 0, ALLOW];
  const refuse: Instruction = [RETURN, 0, 0, EPERM];
  const refuseIf = (value: number): readonly Instruction[] => [[EQUAL, 0, 1, value], refuse];
  /** Refuses one call if the argument has one of these values. */
  const refuseArgument = (call: number, index: number, values: readonly number[]): readonly Instruction[] => {
    const body: readonly Instruction[] = [[LOAD, 0, 0, argument(index)], ...values.flatMap(refuseIf), allow];
    return [[EQUAL, 0, body.length, call], ...body];
  };
  const program: readonly Instruction[] = [
    [LOAD, 0, 0, ARCHITECTURE],
    [EQUAL, 1, 0, audit],
    refuse,
    [LOAD, 0, 0, NUMBER],
    ...(architecture === "x86_64" ? [[AT_LEAST, 0, 1, X32] as const, refuse] : []),
    ...REFUSED.filter((call) => !mounts || !MOUNT_CALLS.includes(call)).flatMap(([, x86, arm]) =>
      refuseIf(architecture === "x86_64" ? x86 : arm)
    ),
    ...refuseArgument(socket, 0, unixSockets ? [AF_VSOCK] : [AF_VSOCK, AF_UNIX]),
    ...refuseArgument(ioctl, 1, TERMINAL_INPUT),
    allow,
  ];
  const bytes = new DataView(new ArrayBuffer(program.length * 8));
  program.forEach(([code, yes, no, value], index) => {
    bytes.setUint16(index * 8, code, true);
    bytes.setUint8(index * 8 + 2, yes);
    bytes.setUint8(index * 8 + 3, no);
    bytes.setUint32(index * 8 + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}
