/** Records the cost of requests. */
import type { EditLog } from "../log/edits.ts";
import type { RequestParams, RequestResult } from "../../protocol/requests.ts";
import type { Usage } from "../log/messages.ts";

/** Timing of a step's request. */
export interface PromptFacts {
  /** Milliseconds to build it; undefined if another agent builds it. */
  readonly build?: number;
  /** Milliseconds from the message or the last result to the request. */
  readonly ready: number;
  readonly messages: number;
}

/** One request to a model. */
export interface RequestUsage {
  /** Name of its mode. */
  readonly purpose: string;
  readonly provider: string;
  readonly model: string;
  /** Undefined if the provider reports none: an estimate is not stored. */
  readonly usage?: Usage;
  /** US dollars; undefined where the model has no price. */
  readonly cost?: number;
  /** The session of the sub-agent that it was made for. */
  readonly agent?: string;
  /** Milliseconds until the first piece of the answer. */
  readonly firstToken?: number;
  /** Milliseconds in all. */
  readonly duration: number;
  /** Tool calls by name; "(unknown)" counts calls of unknown tools, and "@https" pages that the user attaches. */
  readonly tools: Readonly<Record<string, number>>;
  /** Calls of unknown tools or with unreadable arguments. */
  readonly invalidCalls: number;
  /** Number of offered tools. */
  readonly offered: number;
  /** Undefined for side requests. */
  readonly prompt?: PromptFacts;
}

/** Usage of all requests; it outlives deleted sessions. */
export interface UsageLog {
  readonly edits: EditLog;
  /** @throws {TurnError} if it cannot be stored */
  record(session: string, turn: number, request: RequestUsage): void;
  /** US dollars of all requests of the session; undefined where none had a price. */
  cost(session: string): number | undefined;
  /** The user used a code block of this turn's answer. */
  used(session: string, turn: number, use: CodeUse): void;
  /** By turn of this session, by session, by day and by model, the newest first. */
  report(session: string | undefined): UsageReport;
}

export type CodeUse = RequestParams<"code_used">["use"];

/** See `usage` of protocol/requests.ts. */
export type UsageReport = Omit<RequestResult<"usage">, "pricesOf">;
