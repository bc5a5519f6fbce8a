/** Sessions whose model is told of surroundings, and what it is told. */
import type { AskSurroundings } from "../../denops/agent/engine/agent/gather/git_now.ts";
import { MARK } from "../../denops/agent/engine/context/project.ts";
import type { Surroundings } from "../../denops/agent/protocol/surroundings.ts";
import { objects, string, withoutMode } from "../model/model_messages.ts";
import { type EngineOptions, type RunningEngine, startEngine } from "./engine_session.ts";

/** @param answer what the other side knows; a function is asked for files alone */
export function startIn(
  options: Partial<EngineOptions>,
  answer: Surroundings | (() => Surroundings) = {},
): Promise<RunningEngine> {
  const ask: AskSurroundings = ({ facts }) => {
    if (typeof answer !== "function") return Promise.resolve(answer);
    return Promise.resolve(facts.includes("files") ? answer() : {});
  };
  return startEngine({ script: "say Hm.\nrepeat", surroundings: { ask }, ...options });
}

export function systemOf({ server }: RunningEngine, at = -1): string {
  return unmarked(string(objects(server.requests.at(at)?.body.messages)[0]?.content) ?? "");
}

export function newest({ server }: RunningEngine, at = -1): string {
  return unmarked(withoutMode(string(objects(server.requests.at(-1)?.body.messages).at(at)?.content) ?? ""));
}

/** Tags without what makes them known as the engine's own. */
export function unmarked(text: string): string {
  return text.replaceAll(`_${MARK}`, "");
}

export function listed(rules: readonly string[], paths: readonly string[] = []): Surroundings {
  return { files: { paths: [...paths, ...rules], more: false, rules: [...rules] } };
}
