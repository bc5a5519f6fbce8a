/**
 * Code is slow until it has run once. While the user types the first message, a turn that nobody sees runs up to its
 * request, which is not sent: it has a session, storage and a runner of its own.
 */
import { trace } from "../../protocol/trace.ts";
import type { Runner } from "../agent/turn/runner.ts";
import type { AgentEvent } from "../log/events.ts";
import { Session } from "./session.ts";
import type { SessionPorts } from "./session_ports.ts";

/** A message that is sent together with the opening of its session comes first. */
const AFTER_MS = 100;
/** Loads the HTTP client without a connection. */
const NOWHERE = "data:,";
/** No session has this id. */
const ID = "warm-up";

interface WarmUpPorts extends Pick<SessionPorts, "config" | "editor"> {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  /** Storage that ends with the turn. */
  inMemory(): Pick<SessionPorts, "store" | "usage"> & Disposable;
  /** @param send for all of its requests */
  runner(send: typeof fetch): Runner;
  /** Sends an event to a client that does not know this session. */
  send(id: string, event: AgentEvent): void;
  /** Whether a turn of the user is running already. */
  isLate(): boolean;
}

export class WarmUp {
  #isOver = false;

  /** Once for the process. */
  begin(ports: WarmUpPorts): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const timer = setTimeout(() => {
      if (!ports.isLate()) unseenTurn(ports).catch(() => {});
    }, AFTER_MS);
    Deno.unrefTimer(timer);
  }
}

async function unseenTurn(ports: WarmUpPorts): Promise<void> {
  const since = trace?.now();
  using storage = ports.inMemory();
  const { store, usage } = storage;
  const nobody = () => Promise.reject(new Error("nobody sees this turn"));
  const session: Session = new Session(ID, ports.roots, {
    store,
    usage,
    config: { ...ports.config, title: false },
    runner: ports.runner(() => {
      session.cancel();
      return fetch(NOWHERE);
    }),
    editor: ports.editor,
    ask: nobody,
    makeLink: nobody,
    surroundings: {},
    publish: (event) => ports.send(ID, event),
  });
  await session.prompt([{ type: "text", text: "Hello" }]);
  await session.close();
  trace?.span("warm up", since);
}
