/** Another agent's program over the screen's requests for pipes. */
import type { ForeignPipe, ForeignPort } from "../../ports/foreign.ts";
import { effectsOf } from "../commands.ts";
import type { Screen } from "../screen.ts";

/** @param name the agent's row */
export function foreignPort(screen: Screen, name: string): ForeignPort {
  return {
    async open(signal): Promise<ForeignPipe | undefined> {
      const { pipe } = await screen.ask("pipe_open", { kind: "agent", name }, signal);
      return pipe === undefined ? undefined : foreignPipe(screen, pipe);
    },
  };
}

function foreignPipe(screen: Screen, pipe: string): ForeignPipe {
  return {
    async write(text) {
      await screen.ask("pipe_write", { pipe, text });
    },
    read: () => screen.ask("pipe_read", { pipe }),
    async begin(signal) {
      await screen.ask("agent_begin", { pipe }, signal);
    },
    async end(complete) {
      const { terminal, effects, notes } = await screen.ask("agent_end", { pipe, complete });
      // The client lets go of them when the next turn begins.
      return effects === undefined
        ? { notes }
        : { effects: effectsOf(screen, terminal, effects, () => {}), notes };
    },
    close() {
      screen.ask("pipe_close", { pipe }).catch(() => {});
    },
  };
}
