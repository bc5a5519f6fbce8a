/** The tools that lead from a symbol to other places. */
import { z } from "../../../deps/zod.ts";
import { defineTool, files, type Tool } from "../define.ts";
import { askServers, nothing, PLACE, placeOf, placeTitle } from "./ask.ts";
import { counted, showLocations } from "./show.ts";

export interface LocationTool {
  readonly name: string;
  readonly description: string;
  readonly op: "definition" | "references" | "implementations";
  /** What one location is. */
  readonly noun: string;
}

export function locationTool({ name, description, op, noun }: LocationTool): Tool {
  return defineTool({
    name,
    description,
    kind: "search",
    readOnly: true,
    needs: "languages",
    schema: z.object(PLACE),
    title: (args) => `${op} of ${placeTitle(args)}`,

    async prepare({ path, ...args }, { workspace, languages }) {
      const target = await workspace.resolveReadable(path);
      const place = placeOf(target, args);
      return {
        accesses: files(["read", target]),
        async run(signal) {
          const answer = await askServers(languages, { op, ...place }, ["locations"], signal);
          if (answer.kind === "nothing") return nothing(answer.reason);
          const { locations, total, at } = answer;
          const { text, count } = await showLocations(locations, total, workspace, signal);
          if (count === 0) return nothing([`No ${noun} of ${at.text} may be shown.`, text].join("\n").trim());
          const summary = counted(count, noun);
          return { text: `${summary} of ${at.text} (line ${at.line}):\n${text}`, summary };
        },
      };
    },
  });
}
