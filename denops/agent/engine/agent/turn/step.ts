import { oneLine } from "../../llm/failures/text.ts";
import { Assembly } from "../../llm/assemble.ts";
import { Repetition, type Run } from "../../llm/repetition.ts";
import { isContent, type ModelEvent } from "../../llm/client.ts";
import { WithoutEndMark } from "../../llm/end_mark.ts";
import { breaksIn, shortArguments } from "../../llm/text_tools/draft.ts";
import type { Model } from "../../llm/model.ts";
import type { Delta } from "../../llm/wire/wire.ts";
import { StreamedText } from "./streamed_text.ts";
import type { TurnError } from "../../../shared/errors.ts";
import type { AgentEvent, Emit, ToolStart } from "../../log/events.ts";
import type { AssistantEntry } from "../../log/entries.ts";
import { ToolNames } from "../../calls/tool_names.ts";
import type { FinishReason, Initiator, Prompt } from "../../log/model_request.ts";
import { meantTool } from "../../tools/calls/meant_call.ts";
import type { Tool } from "../../tools/define.ts";
import { partialAnswer } from "./interrupted.ts";
import { Clock, type Measured } from "./meter.ts";

export type StepEnd =
  | {
    readonly type: "answered";
    readonly message: AssistantEntry;
    /** "repeated": the model repeated itself, so the answer was ended. */
    readonly finish: FinishReason | "repeated";
    /** Further calls, which were discarded. */
    readonly dropped: number;
    /** It repeated the same call, which runs once. */
    readonly isLoop: boolean;
    /** The tool of a call that it shows but does not make. */
    readonly shownCall?: string | undefined;
  }
  /** Stopped or failed; `text` is the partial answer. */
  | { readonly type: "cancelled"; readonly text: string }
  | { readonly type: "failed"; readonly text: string; readonly error: TurnError };

export interface StepPorts {
  readonly model: Model;
  readonly tools: readonly Tool[];
  readonly emit: Emit;
  /** Default: "agent". */
  readonly initiator?: Initiator;
  /** A unique id for a call. @param id from the provider, or "" */
  newCallId(id: string): string;
  /** Called once, when the request has ended. */
  count(measured: Measured): void;
}

export async function runStep(ports: StepPorts, prompt: Prompt, signal: AbortSignal): Promise<StepEnd> {
  const { model, emit, initiator = "agent" } = ports;
  const answer = new Answer(ports);
  for await (const event of model.stream(prompt, signal, initiator)) {
    switch (event.type) {
      case "deltas": {
        const end = answer.add(event.deltas);
        if (end !== undefined) return end;
        break;
      }
      case "notice":
        emit({ ...event, severity: "info" });
        break;
      case "retry":
        answer.restart(event.waitMs);
        emit(event);
        break;
      case "cancelled":
        return { type: "cancelled", text: answer.abort() };
      case "failed":
        return { type: "failed", text: answer.abort(), error: event.error };
      case "done":
        return answer.end(event);
    }
  }
  throw new Error("the model's stream ended without an end");
}

/** One streaming answer: assembled, shown and measured. */
class Answer {
  readonly #ports: StepPorts;
  readonly #assembly: Assembly;
  readonly #screen: Screen;
  readonly #calls = new CallLimit();
  readonly #clock = new Clock();
  readonly #loops = new Loops();

  constructor(ports: StepPorts) {
    this.#ports = ports;
    this.#assembly = new Assembly(ports.model.keeps);
    this.#screen = new Screen(crypto.randomUUID(), ports.tools, ports.emit);
  }

  restart(waitMs: number): void {
    this.#clock.restart(waitMs);
  }

  /** @returns the step's end if the answer repeats itself */
  add(all: readonly Delta[]): StepEnd | undefined {
    const deltas = all.filter((delta) => this.#calls.takes(delta)).map((delta) =>
      delta.type === "call_start" ? { ...delta, id: this.#ports.newCallId(delta.id) } : delta
    );
    for (const delta of deltas) this.#assembly.add(delta);
    if (deltas.some(isContent)) this.#clock.heard();
    this.#screen.show(deltas);
    const run = deltas.map((delta) => this.#loops.add(delta)).find((found) => found !== undefined);
    if (run === undefined) return undefined;
    this.#ports.count(this.#close(true));
    this.#screen.abandon();
    const { text } = this.#assembly;
    const message = partialAnswer(run.of === "text" ? text.slice(0, run.length) : text);
    return { type: "answered", message, finish: "repeated", dropped: 0, isLoop: false };
  }

  /** Counts an unfinished answer if the provider reported its usage. @returns its text so far */
  abort(): string {
    const measured = this.#close();
    if (measured.usage !== undefined) this.#ports.count(measured);
    return this.#assembly.text;
  }

  end({ isCut, isLoop, shownCall }: Extract<ModelEvent, { type: "done" }>): StepEnd {
    const { model, emit, count } = this.#ports;
    const assembly = this.#assembly;
    count(this.#close(isCut));
    const finish = assembly.finish ?? (assembly.calls.length > 0 ? "tool_calls" : "stop");
    // The last call of an answer that was cut off may be incomplete, so none of its calls run.
    const withCalls = finish === "stop" || finish === "tool_calls";
    if (!withCalls) this.#screen.abandon();
    const { role: _, ...content } = assembly.message({ withCalls });
    if (assembly.why !== undefined) {
      const text = `${model.provider} says: ${oneLine(assembly.why)}`;
      emit({ type: "notice", severity: "info", text });
    }
    const message = { type: "assistant_message", ...content, by: model.author } as const;
    return {
      type: "answered",
      message,
      finish,
      dropped: this.#calls.dropped,
      isLoop: isLoop === true,
      shownCall,
    };
  }

  #close(isCut = false): Measured {
    this.#screen.close();
    const { usage, calls, size } = this.#assembly;
    return { usage, calls, ...this.#clock.read(), ...(isCut ? { cutAt: size } : {}) };
  }
}

/** Calls of one answer that are shown and answered; the rest is only counted. */
const MOST_TAKEN = 32;

class CallLimit {
  dropped = 0;
  readonly #taken = new Set<number>();

  takes(delta: Delta): boolean {
    switch (delta.type) {
      case "call_start":
        if (this.#taken.has(delta.index) || this.#taken.size < MOST_TAKEN) this.#taken.add(delta.index);
        else this.dropped += 1;
        return this.#taken.has(delta.index);
      case "call_arguments":
      case "call_draft":
      case "call_extra":
        return this.#taken.has(delta.index);
      default:
        return true;
    }
  }
}

/** Repetition in arguments may be data, so a run must be longer there. */
const ARGUMENTS_SCALE = 10;

/** Detects a model that repeats itself in its text, its thoughts or the arguments of its calls. */
class Loops {
  readonly #text = new Repetition();
  readonly #thought = new Repetition();
  readonly #arguments = new Repetition(ARGUMENTS_SCALE);
  /** Calls whose arguments streamed as drafts. */
  readonly #drafted = new Set<number>();

  add(delta: Delta): (Run & { readonly of: Delta["type"] }) | undefined {
    const run = this.#run(delta);
    return run === undefined ? undefined : { ...run, of: delta.type };
  }

  #run(delta: Delta): Run | undefined {
    switch (delta.type) {
      case "text":
        return this.#text.add(delta.text);
      case "thought":
        return this.#thought.add(delta.text);
      case "call_draft":
        this.#drafted.add(delta.index);
        return this.#arguments.add(delta.text);
      case "call_arguments":
        return this.#drafted.has(delta.index) ? undefined : this.#arguments.add(delta.text);
      default:
        return undefined;
    }
  }
}

type Calling = Extract<Delta, { type: "call_start" | "call_arguments" | "call_draft" | "call_dropped" }>;

function isCalling(delta: Delta): delta is Calling {
  return ["call_start", "call_arguments", "call_draft", "call_dropped"].includes(delta.type);
}

/** Turns the deltas of one read into at most one event of each kind. */
class Screen {
  readonly #message: string;
  readonly #tools: readonly Tool[];
  readonly #emit: Emit;
  readonly #writing = new Map<number, Writing>();
  #thinkingSince: number | undefined;
  /** Time of the first text. */
  #textSince: number | undefined;
  /** Shown without the mark. Data for the provider stays unchanged. */
  #thought = new WithoutEndMark();

  constructor(message: string, tools: readonly Tool[], emit: Emit) {
    this.#message = message;
    this.#tools = tools;
    this.#emit = emit;
  }

  show(deltas: readonly Delta[]): void {
    const at = deltas.findIndex(({ type }) => type === "text_was_thought" || type === "thought_was_text");
    if (at === -1) return this.#showPieces(deltas);
    this.#showPieces(deltas.slice(0, at));
    this.#retell(deltas[at]?.type === "text_was_thought" ? "text" : "thought");
    this.show(deltas.slice(at + 1));
  }

  #retell(was: "text" | "thought"): void {
    this.#emit({ type: "retold", message: this.#message, was });
    if (was === "thought") {
      this.#thinkingSince = undefined;
      this.#thought = new WithoutEndMark();
    } else {
      this.#thinkingSince ??= this.#textSince;
      this.#endThought();
    }
  }

  #showPieces(deltas: readonly Delta[]): void {
    const thought = joined(deltas, "thought");
    const text = joined(deltas, "text");
    if (thought !== "") {
      this.#thinkingSince ??= performance.now();
      this.#showThought(this.#thought.add(thought));
    }
    const calling = deltas.some(isCalling);
    if (text !== "" || calling) this.#endThought();
    if (text !== "") this.#textSince ??= performance.now();
    if (text !== "") this.#emit({ type: "token", message: this.#message, text });
    if (calling) this.#showCalls(deltas);
  }

  close(): void {
    this.#endThought();
  }

  /** The model's calls will not run. */
  abandon(): void {
    for (const writing of this.#writing.values()) {
      this.#end(writing, "Not run: the answer was cut off.", "cut off, not run");
    }
    this.#writing.clear();
  }

  #end({ start, id }: Writing, output: string, summary: string): void {
    this.#emit({ type: "tool_start", call: start });
    this.#emit({ type: "tool_done", id, status: "failed", summary, output });
  }

  #showThought(text: string): void {
    if (text !== "") this.#emit({ type: "thought", message: this.#message, text });
  }

  #endThought(): void {
    if (this.#thinkingSince === undefined) return;
    this.#showThought(this.#thought.end());
    this.#thought = new WithoutEndMark();
    const milliseconds = Math.round(performance.now() - this.#thinkingSince);
    this.#thinkingSince = undefined;
    this.#emit({ type: "thought_done", message: this.#message, milliseconds });
  }

  #showCalls(deltas: readonly Delta[]): void {
    const changed = new Set<Writing>();
    for (const delta of deltas) {
      if (delta.type === "call_start") {
        const tool = meantTool(delta.name, new ToolNames(this.#tools));
        this.#writing.set(delta.index, new Writing(delta.id, delta.name, tool));
      }
      if (!isCalling(delta)) continue;
      const writing = this.#writing.get(delta.index);
      if (writing === undefined) continue;
      if (delta.type === "call_arguments") writing.add(delta.text);
      if (delta.type === "call_draft") writing.draft(delta.text);
      if (delta.type === "call_dropped") {
        this.#end(writing, "Not run: it was no call.", "no call");
        this.#writing.delete(delta.index);
        changed.delete(writing);
      } else {
        changed.add(writing);
      }
    }
    for (const writing of changed) {
      const event = writing.news();
      if (event !== undefined) this.#emit(event);
    }
  }
}

/** Characters of the arguments that are searched for the title. */
const LONGEST_HEAD = 2_000;

/** A call whose arguments stream in. It never parses all of them for each piece. */
class Writing {
  readonly id: string;
  readonly #name: string;
  readonly #tool: Tool | undefined;
  readonly #text: StreamedText | undefined;
  #head = "";
  #last = "";
  #lines = 1;
  #isDraft = false;
  #counts = false;
  #lastUpdate = "";

  constructor(id: string, name: string, tool: Tool | undefined) {
    this.id = id;
    this.#name = name;
    this.#tool = tool;
    if (tool?.streamed !== undefined) this.#text = new StreamedText(tool.streamed);
  }

  /** Adds a piece of a text call; its arguments follow at its end. */
  draft(piece: string): void {
    this.#isDraft = true;
    const streamed = this.#tool?.streamed;
    if (this.#head.length < LONGEST_HEAD) this.#head += piece.slice(0, LONGEST_HEAD);
    // Counts lines of the file, not of the call.
    if (streamed !== undefined && this.#counts) this.#lines += breaksIn(piece);
    else if (streamed !== undefined && this.#head.includes(streamed)) {
      this.#counts = true;
      this.#lines += breaksIn(this.#head.slice(this.#head.indexOf(streamed)));
    }
  }

  add(piece: string): void {
    if (this.#isDraft) return;
    if (this.#head.length < LONGEST_HEAD) this.#head += piece.slice(0, LONGEST_HEAD);
    // JSON strings escape newlines, and pieces may split an escape.
    this.#lines += (this.#last + piece).split("\\n").length - 1;
    this.#last = piece.at(-1) ?? this.#last;
    this.#text?.add(piece);
  }

  /** Undefined if nothing visible has changed. */
  news(): Extract<AgentEvent, { type: "tool_writing" }> | undefined {
    const { title } = this.start;
    const lines = this.#tool?.streamed === undefined ? 0 : this.#lines;
    if (this.#lastUpdate === `${lines} ${title}`) return undefined;
    this.#lastUpdate = `${lines} ${title}`;
    const draft = this.#text?.text ?? "";
    return {
      ...{ type: "tool_writing", id: this.id, tool: this.#name, title, lines },
      ...(draft === "" ? {} : { draft }),
    };
  }

  /** The call as far as it is known. */
  get start(): ToolStart {
    const title = this.#tool?.title(shortArguments(this.#head, this.#isDraft)) ?? oneLine(this.#name);
    return { id: this.id, tool: this.#name, title, kind: this.#tool?.kind ?? "other", paths: [] };
  }
}

function joined(deltas: readonly Delta[], type: "text" | "thought"): string {
  return deltas.map((delta) => delta.type === type ? delta.text : "").join("");
}
