/** One request to the model in a mode with its own limits. */
import type { Mode } from "../../context/modes.ts";
import type { Prompt } from "../../log/model_request.ts";
import { runStep, type StepEnd, type StepPorts } from "../turn/step.ts";

/** An answer that reaches a limit ends like one that the user stopped. */
export async function ask(
  { limits }: Mode,
  prompt: Prompt,
  ports: StepPorts,
  signal: AbortSignal,
): Promise<StepEnd> {
  const givenUp = new AbortController();
  const { milliseconds } = limits;
  const timer = milliseconds === undefined ? undefined : setTimeout(() => givenUp.abort(), milliseconds);
  const emit: StepPorts["emit"] = (event) => {
    if (event.type === "retry" && limits.tries === 1) givenUp.abort();
    else ports.emit(event);
  };
  try {
    return await runStep({ ...ports, emit }, prompt, AbortSignal.any([signal, givenUp.signal]));
  } finally {
    // Unlike AbortSignal.timeout() it leaves no timer behind.
    clearTimeout(timer);
  }
}
