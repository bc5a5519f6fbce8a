/** How a model is asked for tool calls: in the provider's own fields, or in its text. */
import type { ModelConfig } from "../../protocol/config.ts";
import type { Author } from "../log/messages.ts";
import type { ModelRequest, Prompt } from "../log/model_request.ts";
import type { Abilities } from "./abilities/abilities.ts";
import { oneCallEach } from "./one_call.ts";
import { type Form, formFor } from "./text_tools/forms.ts";
import type { Found } from "./text_tools/reading.ts";
import { inText, withoutPackets } from "./text_tools/request.ts";

/** Answers with calls in their text after which calls are requested in text. */
const MOST_IN_TEXT = 2;
/** Wires whose services have calls of their own. */
const NATIVE_WIRES: readonly string[] = ["anthropic_messages", "openai_responses"];

export class ToolMode {
  readonly #author: Author;
  readonly #abilities: Abilities;
  /** @param text for the user */
  readonly #notice: (text: string) => void;
  readonly #form: Form;
  /** The user's option does not decide. */
  readonly #isAutomatic: boolean;
  #isNative: boolean;
  #answersInText = 0;
  /** It has made a native call in a session of this engine. */
  #hasCalled = false;

  constructor(
    author: Author,
    option: ModelConfig["native_tools"],
    abilities: Abilities,
    notice: (text: string) => void,
  ) {
    this.#author = author;
    this.#abilities = abilities;
    this.#notice = notice;
    this.#form = formFor(author.model);
    this.#isAutomatic = option === undefined;
    this.#isNative = option ?? !abilities.inText;
    if (!this.#isAutomatic || this.#isNative) return;
    notice(
      `${author.model} writes its tool calls as text, as in recent sessions. ` +
        "Set native_tools = true in models to use its own tool calls.",
    );
  }

  /** How the model is asked to write a call into its text; undefined: it has calls of its own. */
  get textForm(): string | undefined {
    return this.#isNative ? undefined : this.#form.example;
  }

  /** Called before each request, as soon as the model's abilities are known. */
  prepare(prompt: Prompt): void {
    if (!this.#isNative || !this.#isAutomatic || this.#abilities.tools || prompt.tools.length === 0) return;
    this.#useText("has no tool calls of its own");
  }

  /** The messages with their calls as the model is sent them: calls in text stay as the model wrote them. */
  fit(messages: Prompt["messages"]): Prompt["messages"] {
    if (!this.#isNative) return messages;
    const own = withoutPackets(messages);
    return this.#abilities.parallel ? own : oneCallEach(own);
  }

  encode(request: ModelRequest): ModelRequest {
    return this.#isNative ? request : inText(request, this.#form);
  }

  /** The request with its calls in text, after a refusal; undefined: the user says that the model has calls. */
  withoutTools(request: ModelRequest): ModelRequest | undefined {
    if (!this.#isAutomatic) return undefined;
    this.#useText("is served without tool calls");
    this.#abilities.rememberText();
    return inText(request, this.#form);
  }

  /** Whether calls in the text of the next answer are made; else the model only shows them. */
  readsText(prompt: Prompt): boolean {
    return !this.#isNative || (this.#isAutomatic && !this.#callsNatively(prompt));
  }

  /** @param readText as {@link readsText} was for this answer */
  learn({ isNative, calls, shownTool }: Found, readText: boolean): void {
    if (isNative && !this.#hasCalled) this.#abilities.rememberNative();
    this.#hasCalled ||= isNative;
    if (calls > 0 || (!readText && shownTool !== undefined)) this.#answersInText += 1;
    if (!this.#isNative || !this.#isAutomatic || this.#hasCalled) return;
    if (this.#answersInText < MOST_IN_TEXT) return;
    this.#useText("has written its tool calls into its answer twice");
    this.#abilities.rememberText();
  }

  /** From here on tools are described in the prompt. */
  #useText(reason: string): void {
    this.#isNative = false;
    this.#notice(`${this.#author.model} ${reason}: its tool calls are asked for, and read, as text.`);
  }

  #callsNatively({ messages }: Prompt): boolean {
    const { wire, model, provider } = this.#author;
    return this.#hasCalled || NATIVE_WIRES.includes(wire) || this.#abilities.callsNatively ||
      messages.some((message) =>
        message.role === "assistant" && message.calls.length > 0 && message.written === undefined &&
        message.by?.model === model && message.by.provider === provider
      );
  }
}
