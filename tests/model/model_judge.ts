/** Collects what is wrong with the requests to a model, over the whole life of a server. */
import type { ReceivedRequest } from "../../denops/agent/scripted_model/http_connection.ts";
import { checkPrefix, checkRequest, checkSecrets, excerpt } from "./model_checks.ts";
import { historyKey, type JsonObject, transcript } from "./model_messages.ts";
import type { Answer } from "../../denops/agent/scripted_model/answer.ts";
import type { ScriptedWire } from "../../denops/agent/scripted_model/wires.ts";

/** A request for an answer, as far as it could be read. */
export interface ChatRequest {
  readonly wire: ScriptedWire;
  readonly http: ReceivedRequest;
  /** Nothing if the body was no JSON object. */
  readonly body: JsonObject | undefined;
  /** What is new since the model's last answer, decoded. */
  readonly text: string;
}

export class Judge {
  readonly #problems: string[] = [];
  readonly #secrets: readonly string[];
  /** The messages of the last request of each session. */
  readonly #transcripts = new Map<string, readonly string[]>();

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  get problems(): readonly string[] {
    return this.#problems;
  }

  add(problem: string): void {
    this.#problems.push(problem);
  }

  /** Judges a request and, if the script had an answer for it, what the script `script` expected. */
  chat(label: string, request: ChatRequest, answer: Answer | undefined, script: string): void {
    const { wire, body, text } = request;
    this.#report(label, [
      ...this.#sound(request),
      ...(body ? this.#history(wire, body, answer?.newHistory ?? false) : []),
      ...(answer
        ? unmet(answer, text, script)
        : [`the script has no answer left; the request says ${excerpt(text)}`]),
    ]);
  }

  /** Judges a request that belongs to no session. */
  aside(label: string, request: ChatRequest, answer: Answer | undefined): void {
    this.#report(label, [...this.#sound(request), ...(answer ? unmet(answer, request.text, "asides") : [])]);
  }

  #report(label: string, found: readonly string[]): void {
    this.#problems.push(...found.map((problem) => `${label}: ${problem}`));
  }

  #sound({ wire, http, body }: ChatRequest): string[] {
    return [
      ...(body ? checkRequest(wire, http.headers, body) : ["the body is not a JSON object"]),
      ...this.#secretsIn(http),
    ];
  }

  other(label: string, http: ReceivedRequest): void {
    this.#problems.push(...this.#secretsIn(http).map((problem) => `${label}: ${problem}`));
  }

  #secretsIn({ path, body }: ReceivedRequest): string[] {
    return checkSecrets(this.#secrets, { URL: path, body });
  }

  #history(wire: ScriptedWire, body: JsonObject, isNew: boolean): string[] {
    const session = historyKey(wire, body);
    const before = this.#transcripts.get(session);
    const now = transcript(wire, body);
    this.#transcripts.set(session, now);
    return before === undefined || isNew ? [] : checkPrefix(before, now);
  }
}

function unmet(answer: Answer, text: string, script: string): string[] {
  return answer.expectations.filter((expected) => text.includes(expected.text) !== expected.wanted)
    .map(({ line, text: part, wanted }) => {
      const what = `${wanted ? "" : "no "}${JSON.stringify(part)}`;
      return `${script}:${line}: expected ${what}, the request says ${excerpt(text, 0, 400)}`;
    });
}
