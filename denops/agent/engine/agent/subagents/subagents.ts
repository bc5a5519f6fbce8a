/** The sub-agents of one session: up to three at work, and the ended ones in the store. */
import { covers, type ModeAccess } from "../../../protocol/modes.ts";
import type { RequestResult } from "../../../protocol/requests.ts";
import { CHOSEN, type Mode } from "../../context/modes.ts";
import { messageOf, ToolError } from "../../../shared/errors.ts";
import type { Remembered, Store, StoredSubagent } from "../../ports/store.ts";
import type { UsageLog } from "../../ports/usage.ts";
import type { SubagentPort, SubagentReport, SubagentTask } from "../../ports/subagents.ts";
import type { Workspace } from "../../tools/files/workspace.ts";
import { missing } from "../turn/interrupted.ts";
import type { Runner, RunnerPorts } from "../turn/runner.ts";
import type { SessionModes } from "../settings/session_modes.ts";
import { lastWords, workAsSubagent } from "./subagent.ts";
import { OneByOne, Slots } from "../../../shared/slots.ts";
import { plural } from "../../../shared/text/text.ts";

/** Sub-agents at work; others wait. */
const AT_A_TIME = 3;
const MOST_WAITING = 20;

/** Limits of an answer; characters are for languages without spaces between words. */
const MOST_WORDS = 1_500;
const MOST_CHARACTERS = 16_000;

/** Calls listed for a running sub-agent. */
const MOST_CALLS = 5;

/** Characters of an id in texts for the model: the beginning of the session's id. */
const SHORT_ID = 8;

interface SubagentsPorts {
  readonly session: string;
  readonly root: string;
  readonly store: Store;
  readonly usage: UsageLog;
  readonly runner: Runner;
  /** Background sub-agents that the model has not heard of: id → title. */
  readonly untold: Map<string, string>;
  /** Call it after changes. */
  remember(): void;
  /** The ports of a turn of the session. */
  ports(): RunnerPorts;
  /** A workspace without read files. */
  workspace(): Workspace;
  rulesFor(workspace: Workspace): RunnerPorts["rulesOf"];
  /** Modes and models that may be chosen. */
  readonly modes: Pick<SessionModes, "all" | "models" | "model">;
}

/** A sub-agent has a task and a fixed mode, and starts no others. */
const NOT_SUBAGENTS: ReadonlySet<string> = new Set(
  [CHOSEN.auto, CHOSEN.chat, CHOSEN.orchestrator].map(({ name }) => name),
);

interface Begun {
  /** The id of its session. */
  readonly id: string;
  readonly task: SubagentTask;
  readonly mode: Mode;
  readonly controller: AbortController;
  /** Milliseconds since 1970. */
  readonly since: number;
  /** It waits for others to end. */
  waits: boolean;
  /** Titles of its calls. */
  readonly calls: string[];
}

interface AtWork extends Begun {
  /** Never rejects. */
  readonly ended: Promise<SubagentReport>;
}

export class Subagents implements SubagentPort {
  readonly #ports: SubagentsPorts;
  readonly #slots = new Slots(AT_A_TIME);
  readonly #writes = new OneByOne();
  /** By session id. */
  readonly #atWork = new Map<string, AtWork>();

  constructor(ports: SubagentsPorts) {
    this.#ports = ports;
    const { store, session } = ports;
    // Ends turns that a dead engine left open. A second turn is the user's, who may have the session open elsewhere.
    if (store.session(session) === undefined) return;
    for (const { id, turns, ended } of store.subagents(session)) {
      if (turns !== 1 || ended !== undefined) continue;
      const events = store.events(id, { first: turns, last: turns, without: ["file_modified"] });
      store.append(id, { entries: missing(store.messages(id), events) });
    }
  }

  accessOf(request: SubagentTask, access: ModeAccess) {
    const { title, task } = request;
    const row = this.#modeOf(request);
    if (!covers(access, row.access)) {
      throw new ToolError(
        `Mode ${row.name} may change more than this session's mode. Choose a mode that only reads.`,
      );
    }
    return { kind: "agent", name: row.name, task: `${title}: ${task}`, access: row.access } as const;
  }

  async run(task: SubagentTask, call: string, signal: AbortSignal): Promise<SubagentReport> {
    const { ended } = this.#start(task, call, signal);
    const report = await ended;
    signal.throwIfAborted();
    return report;
  }

  startInBackground(task: SubagentTask, call: string): string {
    if (this.#modeOf(task).access !== "read") {
      throw new ToolError(`In the background a sub-agent only reads, and mode ${task.mode} may write.`);
    }
    const { untold, remember, ports } = this.#ports;
    const { id, ended } = this.#start(task, call);
    untold.set(id, task.title);
    remember();
    ended.then(({ summary, failed }) => {
      const severity = failed ? "warning" : "info";
      const text = `Sub-agent "${task.title}": ${summary}. :Agent agents shows it.`;
      ports().emit({ type: "notice", severity, text });
    }).catch(() => {});
    return id.slice(0, SHORT_ID);
  }

  knows(short: string): boolean {
    return this.#find(short) !== undefined;
  }

  output(short: string): SubagentReport {
    const id = this.#idOf(short);
    const running = this.#atWork.get(id);
    if (running === undefined) {
      this.#ports.untold.delete(id);
      return this.#reportOf(id);
    }
    const calls = running.calls.slice(-MOST_CALLS).map((title) => `- ${title}`);
    const text = running.waits
      ? "It waits until others have ended."
      : ["It still runs.", ...calls].join("\n");
    return { text, summary: "still running", failed: false };
  }

  async stop(id: string): Promise<SubagentReport> {
    await this.end(id);
    return this.output(id);
  }

  /** The user stops it; the model hears of it as of any end. @throws {ToolError} */
  async end(short: string): Promise<void> {
    const running = this.#atWork.get(this.#idOf(short));
    running?.controller.abort();
    await running?.ended;
  }

  /** For the model: background sub-agents that ended since the last time; undefined without any. */
  news(): string | undefined {
    const { untold } = this.#ports;
    const ended = [...untold].filter(([id]) => !this.#atWork.has(id));
    const texts = ended.map(([id, title]) => {
      untold.delete(id);
      const { text, summary } = this.#reportOf(id);
      return `[Sub-agent ${id.slice(0, SHORT_ID)} in the background, "${title}": ${summary}]\n${text}`;
    });
    return texts.length === 0 ? undefined : texts.join("\n\n");
  }

  get areAtWork(): boolean {
    return this.#atWork.size > 0;
  }

  /** For the user, the newest first. */
  list(): RequestResult<"agents">["agents"] {
    const stored = this.#ports.store.subagents(this.#ports.session);
    const waiting = [...this.#atWork].filter(([id]) => !stored.some((one) => one.id === id));
    return [
      ...waiting.map(([id, { task: { title }, mode, since }]) => ({
        ...{ sessionId: id, title, mode: mode.name, created: since, tokens: 0 },
        state: "waiting",
      })).reverse(),
      ...stored.map((one) => ({
        ...{ sessionId: one.id, title: one.title, mode: one.mode ?? "", created: one.created },
        ...{ tokens: one.tokens, state: this.#atWork.has(one.id) ? "running" : howEnded(one) },
        ...(one.cost === undefined ? {} : { cost: one.cost }),
      })),
    ];
  }

  /** Ends all; resolves when nothing more is stored or shown. */
  async close(): Promise<void> {
    const all = [...this.#atWork.values()];
    for (const { controller } of all) controller.abort();
    await Promise.allSettled(all.map(({ ended }) => ended));
  }

  /** @param signal undefined: in the background */
  #start(task: SubagentTask, call: string, signal?: AbortSignal): AtWork {
    if (this.#atWork.size >= MOST_WAITING) {
      throw new ToolError(`${MOST_WAITING} sub-agents are at work already. Wait for some to end.`);
    }
    const id = crypto.randomUUID();
    const controller = new AbortController();
    const begun = {
      ...{ id, task, controller, mode: this.#modeOf(task), since: Date.now() },
      ...{ waits: true, calls: [] },
    };
    const own = AbortSignal.any([controller.signal, ...signal === undefined ? [] : [signal]]);
    const ended = this.#work(begun, call, signal === undefined, own).finally(() => this.#atWork.delete(id));
    const atWork = Object.assign(begun, { ended });
    this.#atWork.set(id, atWork);
    return atWork;
  }

  async #work(
    begun: Begun,
    call: string,
    background: boolean,
    signal: AbortSignal,
  ): Promise<SubagentReport> {
    const { id, task, mode } = begun;
    const { session, root, store, usage, runner: parents, ports, workspace, rulesFor } = this.#ports;
    try {
      using _slot = await this.#slots.take(signal);
      const runner = parents.subagent?.(mode);
      if (runner === undefined) throw new ToolError("Another agent decides itself who works for it.");
      begun.waits = false;
      const { title } = task;
      const model = runner.model.name;
      store.createSession({ id, root, model, mode: mode.name, parent: session, call, title });
      store.append(id, { memory: this.#memoryOf(mode) });
      const files = workspace();
      const parent = {
        session,
        turn: store.turn(session),
        ports: ports(),
        call: background ? undefined : call,
      };
      const end = await workAsSubagent(
        {
          ...{ id, title, mode, runner, store, usage, parent, workspace: files, rulesOf: rulesFor(files) },
          alone: (run) => this.#writes.run(run),
          begun: (title) => void begun.calls.push(title),
        },
        textOf(task),
        signal,
      );
      if (end.type === "failed") throw end.error;
      return this.#reportOf(id);
    } catch (error) {
      if (signal.aborted) return store.session(id) === undefined ? NOT_STARTED : this.#reportOf(id);
      return { text: `The sub-agent failed: ${messageOf(error)}`, summary: "failed", failed: true };
    }
  }

  /** The memory that a sub-agent's session shares with its parent's, and its mode, should the user continue it. */
  #memoryOf({ name, model, effort }: Mode): readonly Remembered[] {
    const { store, session, runner } = this.#ports;
    const provider = model === undefined ? "" : runner.model.provider;
    const facts = Object.entries({ mode: name, model: model ?? "", provider, effort: effort ?? "" })
      .map(([topic, value]) => ({ topic, name: "", value }));
    const shared = store.remembered(session).filter(({ topic }) => topic === "project" || topic === "rules");
    return [...facts, ...shared];
  }

  /** The report of an ended sub-agent. */
  #reportOf(id: string): SubagentReport {
    const { store } = this.#ports;
    const stored = store.session(id);
    if (stored === undefined || stored.turns === 0) return NOT_STARTED;
    const summary = howEnded(stored);
    const text = shortened(lastWords(store.messages(id, { first: stored.turns })));
    const isWhole = stored.ended === "end_turn";
    return {
      text: [...isWhole ? [] : [`[The sub-agent has not come to its end: ${summary}.]`], text || NO_ANSWER]
        .join("\n"),
      summary,
      failed: !isWhole,
    };
  }

  /** Excludes modes without tools, and modes that a turn must choose first. @throws {ToolError} */
  #modeOf({ mode: name, model }: SubagentTask): Mode {
    const { modes } = this.#ports;
    const all = modes.all.filter(({ name, tools }) => tools !== "listed" && !NOT_SUBAGENTS.has(name));
    const row = all.find((mode) => mode.name === name);
    if (row === undefined) {
      throw new ToolError(`No mode is called ${name}. Modes: ${all.map(({ name }) => name).join(", ")}.`);
    }
    const { model: chosen } = modes;
    // The session's chosen model also applies to its sub-agents.
    if (model === undefined && row.model === undefined && chosen !== undefined) {
      return { ...row, model: chosen.name, listed: chosen };
    }
    if (model === undefined) return row;
    if (!modes.models.includes(model)) {
      throw new ToolError(`No model is called ${model}. Models: ${modes.models.join(", ")}.`);
    }
    return { ...row, model };
  }

  #find(short: string): string | undefined {
    const { store, session } = this.#ports;
    const known = [...this.#atWork.keys(), ...store.subagents(session).map(({ id }) => id)];
    return short.length < SHORT_ID ? undefined : known.find((one) => one.startsWith(short));
  }

  /** @throws {ToolError} */
  #idOf(short: string): string {
    const id = this.#find(short);
    if (id === undefined) throw new ToolError(`No sub-agent has the id ${short}.`);
    return id;
  }
}

const NO_ANSWER = "[No answer.]";
const NOT_STARTED: SubagentReport = {
  text: "It was stopped before it had begun.",
  summary: "stopped",
  failed: true,
};

const ENDED: Readonly<Record<string, string>> = {
  end_turn: "done",
  cancelled: "stopped",
  interrupted: "interrupted",
  failed: "failed",
  refused: "refused by the model",
  max_tokens: "stopped at the output limit",
};

function howEnded({ ended = "interrupted" }: Pick<StoredSubagent, "ended">): string {
  return ENDED[ended] ?? ended;
}

function textOf({ task, hint }: SubagentTask): string {
  return [
    task,
    ...hint === undefined ? [] : [`What is known already: ${hint}`],
    "You work for another agent and cannot ask: decide, and say what is uncertain. It gets your last message alone, at " +
    `most ${MOST_WORDS} words: what you have found or done, with \`path:line\`.`,
  ].join("\n\n");
}

/** At most 1,500 words, with a note about the rest. */
function shortened(text: string): string {
  const words = [...text.matchAll(/\S+/g)];
  const end = Math.min(words[MOST_WORDS]?.index ?? text.length, MOST_CHARACTERS);
  if (end >= text.length) return text;
  const left = words.filter(({ index }) => index >= end).length;
  const what = left === 0 ? plural(text.length - end, "character") : plural(left, "word");
  return `${text.slice(0, end).toWellFormed().trimEnd()}\n[cut here: ${what} more]`;
}
