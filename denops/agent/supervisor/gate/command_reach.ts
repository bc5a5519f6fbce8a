/** How far a command reaches: its access, its hosts, and whether it is rehearsed. */
import type { CommandDecision } from "../../policy/decide_command.ts";
import { againstMode } from "../../policy/decide_mode.ts";
import type { AccessOf } from "../../protocol/access.ts";
import type { TurnLimits } from "../../protocol/modes.ts";

/** The reach of a command. */
export type CommandReach = Pick<CommandDecision, "access" | "hosts" | "rehearsed">;

/** The reach that the user is asked about. */
export function requestedReach({ requestedAccess, hosts, rehearsed }: CommandDecision): CommandReach {
  return { access: requestedAccess, hosts, rehearsed };
}

/** The reach that was shown, without the hosts that rules have closed meanwhile. */
export function approvedReach(first: CommandDecision, last: CommandDecision): CommandReach {
  if (first.hosts.length === 0) return requestedReach(last);
  const closed = last.hosts.filter((pattern) => pattern.startsWith("!"));
  return { ...requestedReach(first), hosts: [...new Set([...first.hosts, ...closed])] };
}

/** A command never gets more access than the mode's. */
export function withinMode(
  judgement: CommandDecision,
  access: AccessOf<"command">,
  { limits }: { readonly limits: TurnLimits },
): CommandDecision {
  const [against] = [judgement.requestedAccess, judgement.access]
    .flatMap((commandAccess) => againstMode({ ...access, access: commandAccess }, limits) ?? []);
  return against === undefined ? judgement : { ...judgement, decision: against, rehearsed: false };
}

export function reachMeta({ access, hosts, rehearsed }: CommandReach) {
  return { access, rehearsed, ...(hosts.length === 0 ? {} : { hosts }) };
}
