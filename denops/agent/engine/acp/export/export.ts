/** Exports a stored session as markdown or JSON. */
import { createTwoFilesPatch } from "../../../deps/diff.ts";
import { relative } from "node:path";
import type { AgentEvent, Diff } from "../../log/events.ts";
import { wordsOf } from "../../log/entries.ts";
import { fenced } from "../../../shared/text/text.ts";
import type { Store, Stored, StoredSession } from "../../ports/store.ts";

/** Version of the JSON format; incremented for changes that readers have to know. */
const VERSION = 1;
/** A diff that takes longer is omitted, because it would contain both texts. */
const LONGEST_DIFF_MS = 500;

const MARKS = { pending: "[ ]", in_progress: "[ ] ▸", completed: "[x]" } as const;

/** Characters of a piece. Pieces keep the whole session out of memory. */
const PIECE = 1_000_000;

export interface Piece {
  readonly text: string;
  /** Where the next piece begins; undefined after the last one. */
  readonly next?: number;
}

type Exported = Pick<Store, "events" | "entries" | "subagents">;

/** @param from 0, or `next` of the previous piece */
export function exportJson(store: Exported, session: StoredSession, from = 0): Piece {
  const agents = store.subagents(session.id).toReversed();
  const { turns } = session;
  return pieces(from, turns + 1 + agents.length, (at) => {
    const agent = agents[at - turns - 1];
    if (agent !== undefined) {
      const comma = agent === agents[0] ? "\n" : ",\n";
      const entries = Array.from(
        { length: agent.turns },
        (_, before) => jsonTurn(store, agent.id, before + 1),
      );
      const text = JSON.stringify({ session: agent }, undefined, 2).replace(/\n}$/, ',\n  "entries": [');
      return comma + indented(`${text}${entries.join("")}\n  ]\n}`) +
        (agent === agents.at(-1) ? "\n  ]\n}\n" : "");
    }
    const head = JSON.stringify({ format: "agent.nvim session", version: VERSION, session }, undefined, 2)
      .replace(/\n}$/, ',\n  "entries": [');
    const end = agents.length === 0 ? "\n  ]\n}\n" : '\n  ],\n  "subagents": [';
    return (at === 0 ? head : jsonTurn(store, session.id, at)) + (at === turns ? end : "");
  });
}

/** A turn has at least one event: the message that begins it. */
function jsonTurn(store: Exported, id: string, turn: number): string {
  const items = store.entries(id, { first: turn, last: turn }).map(({ turn, time, entry }) =>
    indented(JSON.stringify({ turn, time, ...entry }, undefined, 2))
  );
  return items.length === 0 ? "" : (turn > 1 ? ",\n" : "\n") + items.join(",\n");
}

/** The sub-agents' work follows, one after the other. */
export function exportMarkdown(store: Exported, session: StoredSession, from = 0): Piece {
  const { title, created, model, turns, root } = session;
  const count = turns === 1 ? "1 turn" : `${turns} turns`;
  const agents = store.subagents(session.id).toReversed();
  const calls = new Set(agents.map(({ call }) => call));
  const turn = (id: string, which: { readonly first: number; readonly last: number }) => {
    const events = store.events(id, { ...which, without: ["file_modified", "usage"] });
    return sections(
      events.filter(({ entry: { parent } }) => parent === undefined || !calls.has(parent)),
      root,
    );
  };
  const last = turns + agents.length;
  return pieces(from, last + 1, (at) => {
    const agent = agents[at - turns - 1];
    const own = { first: at, last: at };
    const head = at > 0
      ? []
      : [`# ${inline(title)}`, `${minute(created)} · ${inline(model)} · ${count}${modeOf(session)}`];
    const parts = agent === undefined ? [...head, ...turn(session.id, own)] : [
      `# Sub-agent: ${inline(agent.title)}`,
      `${minute(agent.created)} · ${inline(agent.model)}${modeOf(agent)}`,
      ...turn(agent.id, { first: 1, last: agent.turns }),
    ];
    return parts.map((part, place) => at === 0 && place === 0 ? part : `\n\n${part}`).join("") +
      (at === last ? "\n" : "");
  });
}

/** The mode of a sub-agent. */
function modeOf({ call, mode }: StoredSession): string {
  return call === undefined || mode === undefined ? "" : ` · ${inline(mode)}`;
}

/** Joins parts from `from` to `end` until the piece is full. */
export function pieces(from: number, end: number, part: (at: number) => string): Piece {
  const texts: string[] = [];
  let size = 0;
  let at = from;
  for (; at < end && size < PIECE; at++) {
    const text = part(at);
    size += text.length;
    texts.push(text);
  }
  return { text: texts.join(""), ...(at < end ? { next: at } : {}) };
}

function indented(text: string): string {
  return text.replace(/^/gm, "    ");
}

/** One markdown block for each item that the screen shows. */
function sections(events: readonly Stored[], root: string): readonly string[] {
  const parts: string[] = [];
  let text: { readonly key: string; at: number } | undefined;
  const titles = new Map(
    events.flatMap(({ entry }) => {
      if (entry.type === "tool_start") return [[entry.call.id, entry.call.title]];
      return entry.type === "approval_answered" && entry.title !== undefined ? [[entry.id, entry.title]] : [];
    }),
  );
  const thoughts = new Map<string, string>();
  for (const { entry: event, time } of events) {
    if (event.type === "token") {
      // Joins the pieces of a turn that is still running.
      if (text?.key === event.message) parts[text.at] += event.text;
      else text = { key: event.message, at: parts.push(event.text) - 1 };
      continue;
    }
    if (event.type === "thought") {
      thoughts.set(event.message, (thoughts.get(event.message) ?? "") + event.text);
      continue;
    }
    if (event.type === "retold") {
      const lastText = event.was === "text" && text?.key === event.message ? text : undefined;
      if (event.was === "thought") thoughts.delete(event.message);
      else if (lastText !== undefined) thoughts.set(event.message, parts.splice(lastText.at, 1).join(""));
    }
    text = undefined;
    if (event.type === "thought_done") {
      const seconds = Math.round(event.milliseconds / 1_000);
      parts.push(collapsed(`Thought for ${seconds} s`, thoughts.get(event.message)?.trim() ?? ""));
    } else if (event.type === "tool_done") {
      parts.push(toolPart(titles.get(event.id) ?? "", event, root));
    } else {
      const part = otherPart(event, time);
      if (part !== undefined) parts.push(part);
    }
  }
  return parts.map((part) => part.trim()).filter((part) => part !== "");
}

function otherPart(event: AgentEvent, time: number): string | undefined {
  switch (event.type) {
    case "user_message":
      return `## ${event.origin === "engine" ? "Task" : "You"}, ${minute(time)}\n\n${
        wordsOf(event)
      }\n\n## Agent`;
    case "steered":
      return `## You\n\n${event.text}\n\n## Agent`;
    case "turn_done":
      return event.reason === "end_turn" ? undefined : `*Ended: ${event.reason.replaceAll("_", " ")}.*`;
    case "turn_failed":
      return `> **Error:** ${inline(event.message)}`;
    case "notice":
      return `> ${inline(event.text)}`;
    case "plan":
      return event.steps.map(({ step, status }) => `- ${MARKS[status]} ${inline(step)}`).join("\n");
    default:
      return undefined;
  }
}

function toolPart(title: string, event: Extract<AgentEvent, { type: "tool_done" }>, root: string): string {
  const mark = event.status === "completed" ? "✓" : "✗";
  const body = event.diff === undefined
    ? fenced(event.output)
    : [event.diff, ...event.diff.others ?? []].map((diff) => fenced(patch(diff, root), "diff")).join("\n\n");
  return collapsed(`${mark} ${[title, event.summary].filter((part) => part !== "").join(" ")}`, body);
}

function patch({ path, before, after }: Diff, root: string): string {
  const name = relative(root, path);
  const made = createTwoFilesPatch(
    before === undefined ? "/dev/null" : `a/${name}`,
    `b/${name}`,
    before ?? "",
    after,
    undefined,
    undefined,
    { context: 3, timeout: LONGEST_DIFF_MS },
  );
  return made === undefined ? `(the change of ${name} is too large to show)` : made.replace(/^=+\n/, "");
}

function collapsed(summary: string, body: string): string {
  return `<details><summary>${escaped(summary)}</summary>\n\n${body}\n\n</details>`;
}

function inline(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function escaped(text: string): string {
  return inline(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** UTC, so that the export does not depend on the machine. */
function minute(time: number): string {
  return `${new Date(time).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
