/** Wires and framings by name. To add a wire format, add a file and a line here. */
import type { WireName } from "../../protocol/providers.ts";
import type { Framing } from "./framing/framing.ts";
import { ndjson } from "./framing/ndjson.ts";
import { sse } from "./framing/sse.ts";
import { anthropicMessages } from "./wire/anthropic_messages.ts";
import { ollama } from "./wire/ollama.ts";
import { openaiChat } from "./wire/openai_chat.ts";
import { openaiResponses } from "./wire/openai_responses.ts";
import type { Delta, Wire } from "./wire/wire.ts";

/** A wire with its state, so that callers need not know the state's type. */
interface Decoder {
  step(frame: string): readonly Delta[];
}

export interface AnyWire extends Omit<Wire<unknown>, "framing" | "start" | "step"> {
  decoder(): Decoder;
  framing(): Framing;
}

const FRAMINGS = { sse, ndjson };

const WIRES: Readonly<Record<WireName, AnyWire>> = {
  openai_chat: hideState(openaiChat),
  openai_responses: hideState(openaiResponses),
  anthropic_messages: hideState(anthropicMessages),
  ollama: hideState(ollama),
};

export function wire(name: WireName): AnyWire {
  return WIRES[name];
}

function hideState<State>(wire: Wire<State>): AnyWire {
  return {
    ...wire,
    framing: FRAMINGS[wire.framing],
    decoder() {
      let state = wire.start();
      return {
        step(frame) {
          const [next, deltas] = wire.step(state, frame);
          state = next;
          return deltas;
        },
      };
    },
  };
}
