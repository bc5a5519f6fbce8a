import type { ModelRequest, Refusable } from "../../log/model_request.ts";
import type { Abilities } from "../abilities/abilities.ts";
import { oneCallEach } from "../one_call.ts";
import { withoutReasoning } from "../reasoning.ts";
import { hasImages, withoutImages } from "../vision.ts";

/**
 * "temperature": the model accepts only its default. "tools": it is served without tool calls. "calls": it
 * accepts one call per message. "memory": the model or its window does not fit into the server's memory.
 */
export type Refused = Refusable | "temperature" | "images" | "tools" | "calls" | "memory";

interface RefusalPorts {
  readonly abilities: Pick<Abilities, "imagesRefused" | "callsRefused" | "parallel" | "memoryRefused">;
  /** The request with calls in text; undefined if the user's options say that the model has tools. */
  inText(request: ModelRequest): ModelRequest | undefined;
  /** A message for the user. */
  notice(text: string): void;
  /** The provider's name. */
  readonly provider: string;
}

export class Refusals {
  readonly #ports: RefusalPorts;
  #ownTemperature = false;
  #without: readonly Refusable[] = [];
  /** Refused efforts; others may work. */
  readonly #efforts = new Set<ModelRequest["effort"]>();

  constructor(ports: RefusalPorts) {
    this.#ports = ports;
  }

  get earlierReasoning(): boolean {
    return this.#without.includes("earlier_reasoning");
  }

  isEffort(effort: ModelRequest["effort"]): boolean {
    return this.#efforts.has(effort);
  }

  /** Removes what earlier requests were refused for. */
  respected({ temperature, ...request }: ModelRequest): ModelRequest {
    return {
      ...request,
      messages: this.earlierReasoning ? withoutReasoning(request.messages) : request.messages,
      without: this.#without,
      ...(this.#efforts.has(request.effort) ? { thinking: [] } : {}),
      ...(temperature === undefined || this.#ownTemperature ? {} : { temperature }),
    };
  }

  /** The request to send instead; undefined if nothing can be removed. */
  otherwise(refused: readonly Refused[], request: ModelRequest): ModelRequest | undefined {
    for (const one of refused) {
      const other = this.#leaveOut(one, request);
      if (other !== undefined) return other;
    }
    return undefined;
  }

  #leaveOut(one: Refused, request: ModelRequest): ModelRequest | undefined {
    const { abilities, inText } = this.#ports;
    switch (one) {
      case "temperature": {
        if (request.temperature === undefined) return undefined;
        this.#ownTemperature = true;
        const { temperature: _refused, ...rest } = request;
        return rest;
      }
      case "images":
        if (!hasImages(request.messages)) return undefined;
        abilities.imagesRefused();
        return { ...request, messages: withoutImages(request.messages) };
      case "tools":
        return request.tools.length > 0 ? inText(request) : undefined;
      case "calls":
        if (!abilities.parallel) return undefined;
        abilities.callsRefused();
        return { ...request, messages: oneCallEach(request.messages) };
      case "memory":
        return this.#smaller(request);
      default:
        return this.#withoutPart(one, request);
    }
  }

  #withoutPart(one: Refusable, request: ModelRequest): ModelRequest | undefined {
    if (request.without?.includes(one) === true) return undefined;
    if (one === "max_tokens" && request.maxOutputTokens === undefined) return undefined;
    const left = { ...request, without: [...request.without ?? [], one] };
    if (one === "effort") {
      this.#efforts.add(request.effort);
      return { ...left, thinking: [] };
    }
    this.#without = [...this.#without, one];
    return one === "earlier_reasoning" ? { ...left, messages: withoutReasoning(request.messages) } : left;
  }

  #smaller(request: ModelRequest): ModelRequest | undefined {
    const { abilities, notice, provider } = this.#ports;
    const contextWindow = abilities.memoryRefused();
    if (contextWindow === undefined) return undefined;
    notice(
      `${provider} has not enough memory for a window of ${request.contextWindow} tokens: ` +
        `${contextWindow} are asked for. Set limits.context_window to choose yourself.`,
    );
    return { ...request, contextWindow };
  }
}
