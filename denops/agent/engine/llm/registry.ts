/** Wires and framings by name: another wire format is one file and one line here. */
import type { WireName } from "../../protocol/providers.ts";
import type { Framing } from "./framing/framing.ts";
import { ndjson } from "./framing/ndjson.ts";
import { sse } from "./framing/sse.ts";
import { anthropicMessages } from "./wire/anthropic_messages.ts";
import { ollama } from "./wire/ollama.ts";
import { openaiChat } from "./wire/openai_chat.ts";
import type { Delta, Endpoint, HttpRequest, Wire } from "./wire/wire.ts";
import type { KeptFor, ModelRequest } from "../core/messages.ts";

/** A wire with its state inside, so that callers need not know the state's type. */
export interface Decoder {
  step(frame: string): readonly Delta[];
}

export interface AnyWire {
  encode(request: ModelRequest, endpoint: Endpoint): HttpRequest;
  keeps(model: string, baseUrl: string): KeptFor | undefined;
  decoder(): Decoder;
  framing(): Framing;
  errorText(body: unknown): string | undefined;
}

const FRAMINGS = { sse, ndjson };

const WIRES: Readonly<Record<WireName, AnyWire>> = {
  openai_chat: hideState(openaiChat),
  anthropic_messages: hideState(anthropicMessages),
  ollama: hideState(ollama),
};

export function wire(name: WireName): AnyWire {
  return WIRES[name];
}

function hideState<State>(wire: Wire<State>): AnyWire {
  return {
    encode: wire.encode,
    keeps: (model, baseUrl) => wire.keeps?.(model, baseUrl),
    errorText: wire.errorText,
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
