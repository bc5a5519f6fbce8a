/** System calls that are blocked for every command. */

/** Name, number on x86-64, number on arm64. */
type RefusedCall = readonly [name: string, x86: number, arm: number];

/** Only a program that creates sandboxes of its own needs them, in its own user namespace. */
export const MOUNT_CALLS: readonly RefusedCall[] = [
  ["mount", 165, 40],
  ["umount2", 166, 39],
  ["pivot_root", 155, 41],
  ["move_mount", 429, 429],
  ["open_tree", 428, 428],
  ["open_tree_attr", 467, 467],
  ["fsopen", 430, 430],
  ["fsconfig", 431, 431],
  ["fsmount", 432, 432],
  ["fspick", 433, 433],
  ["mount_setattr", 442, 442],
  ["setns", 308, 268],
];

export const REFUSED: readonly RefusedCall[] = [
  ["keyctl", 250, 219],
  ["add_key", 248, 217],
  ["request_key", 249, 218],
  ["ptrace", 101, 117],
  ["process_vm_readv", 310, 270],
  ["process_vm_writev", 311, 271],
  ["pidfd_getfd", 438, 438],
  ["kcmp", 312, 272],
  ["bpf", 321, 280],
  ["perf_event_open", 298, 241],
  ["userfaultfd", 323, 282],
  ["open_by_handle_at", 304, 265],
  // It creates sockets without socket(2), past any filter.
  ["io_uring_setup", 425, 425],
  ["io_uring_enter", 426, 426],
  ["io_uring_register", 427, 427],
  ...MOUNT_CALLS,
];
