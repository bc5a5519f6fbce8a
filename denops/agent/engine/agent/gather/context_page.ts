/** The content of `:Agent context`, and the user's choices there. */
import type { RequestParams } from "../../../protocol/requests.ts";
import { rulesId } from "../../context/chosen.ts";
import { type ContextPage, messageParts } from "../../context/message_parts.ts";
import type { SentPart } from "../../context/outline.ts";
import { ToolError } from "../../../shared/errors.ts";
import type { Tool } from "../../tools/define.ts";
import type { Memory } from "../permission/memory.ts";
import type { Causes } from "./prefix.ts";
import { callFacts } from "./room.ts";
import type { ContextPorts } from "../turn/runner.ts";

export type ContextChange = NonNullable<RequestParams<"context">["change"]>;

/** @param before the parts that precede the messages */
export function contextPage(
  before: readonly SentPart[],
  { history, chosen }: Pick<ContextPorts, "history" | "chosen">,
  tools: readonly Tool[],
): Pick<ContextPage, "parts" | "texts" | "lines"> {
  const { messages, folds: { masked, compaction } } = history;
  const about = (call: Parameters<typeof callFacts>[0]) => callFacts(call, tools);
  const found = messageParts({ messages, masked, compaction, chosen, about });
  const knownIds = new Set(before.map(({ part: { id } }) => id));
  const rules = chosen.dropped.keys().filter((id) => id.startsWith(rulesId("")) && !knownIds.has(id))
    .toArray();
  const listed = found.filter(({ part: { id } }) => id === undefined || !rules.includes(id));
  const dropped = rules.map((id): SentPart => ({
    part: { group: "rules", name: id.slice(rulesId("").length), characters: 0, id, state: "dropped" },
    texts: [],
  }));
  const sent = [...before, ...dropped, ...listed];
  const parts = sent.map(({ part }) => part);
  const lines = new Map(
    parts.flatMap(({ id }) => id === undefined ? [] : [[id, new Map([[id, ""]])] as const]),
  );
  for (const { part: { id }, lines: own } of listed) if (id !== undefined) lines.set(id, new Map(own));
  return { parts, texts: sent.map(({ texts }) => texts), lines };
}

/** The text of a part. @param at its place in the list @throws {ToolError} if another part is there now */
export function partText(
  { parts, texts }: Pick<ContextPage, "parts" | "texts">,
  at: number,
  name: string,
): string {
  if (parts[at]?.name !== name) throw new ToolError("This part is no longer sent. Open the page again.");
  return (texts[at] ?? []).join(BETWEEN);
}

/** Parts of several messages show a line between them. */
const BETWEEN = "\n\n---\n\n";

/** Applies the user's choice to a part. @throws {ToolError} if the part does not exist */
export function choose(
  { dropped, pinned }: Pick<Memory, "dropped" | "pinned">,
  { id, to }: ContextChange,
  { lines }: Pick<ContextPage, "lines">,
): void {
  const own = lines.get(id);
  if (own === undefined) throw new ToolError("This part is no longer sent.");
  pinned.delete(id);
  dropped.delete(id);
  for (const one of own.keys()) dropped.delete(one);
  if (to === "pinned") pinned.set(id, true);
  if (to === "dropped") { for (const [one, line] of own) dropped.set(one, line); }
}

/** The inputs that change the beginning of a request, except log and tools. @param model its name */
export function causesOf(
  { history, chosen, project }: Pick<ContextPorts, "history" | "chosen" | "project">,
  model: string,
): Causes {
  return {
    model,
    folds: history.folds,
    dropped: new Set(chosen.dropped.keys()),
    rules: project()?.rules ?? [],
  };
}
