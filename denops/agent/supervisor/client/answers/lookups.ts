/** Look-ups in the project, and the rules for a call. */
import { defined } from "../../../shared/records.ts";
import type { EngineAnswers } from "../../agents/engine.ts";
import type { FirstFiles } from "../../project/first_files.ts";
import { search } from "../../project/search.ts";
import { surroundings } from "../../project/surroundings.ts";
import type { ClientContext } from "../context.ts";
import { skillLook } from "./skills.ts";

export function lookupAnswers(
  client: ClientContext,
): Pick<EngineAnswers, "search" | "surroundings" | "before_call"> {
  const { roots, sandboxed, user: { config_dir: configDir } } = client.permissions;
  /** Versions of rules, by their JSON: rules are long, and engines ask for them before each call. */
  const versions = new Map<string, number>();
  const lookAtSkills = skillLook(client);
  const files: FirstFiles["list"] = (options, signal) => client.files.list(options, signal);
  const place = (sessionId: string) => ({ roots, rules: client.rulesOf(sessionId), sandboxed });
  return {
    async search(sessionId, request, signal) {
      return await search(request, place(sessionId), signal);
    },
    async surroundings(sessionId, wanted, signal) {
      const [found, skills] = await Promise.all([
        surroundings(wanted, { ...place(sessionId), configDir, files }, signal),
        wanted.facts.includes("skills") ? lookAtSkills(sessionId).catch(() => undefined) : undefined,
      ]);
      return { ...found, ...defined({ skills }) };
    },
    before_call: (sessionId, { known }) =>
      Promise.resolve().then(() => {
        const rules = client.rulesOf(sessionId);
        const text = JSON.stringify(rules);
        const version = versions.get(text) ?? versions.size + 1;
        versions.set(text, version);
        const { hasServers: servers } = client.ports.editor;
        return { version, servers, ...defined({ rules: version === known ? undefined : rules }) };
      }),
  };
}
