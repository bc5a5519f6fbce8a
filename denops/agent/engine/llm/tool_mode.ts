/** Chooses between native tool calls and calls in text. */
import type { ModelConfig } from "../../protocol/config.ts";
import type { Author } from "../log/messages.ts";
import type { ModelRequest, Prompt } from "../log/model_request.ts";
import type { Abilities } from "./abilities/abilities.ts";
import { oneCallEach } from "./one_call.ts";
import { type Form, formFor } from "./text_tools/forms.ts";
import type { Found } from "./text_tools/reading.ts";
import { inText, withoutPackets } from "./text_tools/request.ts";

/** After this many answers with calls in their text, the prompt asks for calls in text. */
const MOST_IN_TEXT = 2;
/** Wires whose services support native calls. */
const NATIVE_WIRES: readonly string[] = ["anthropic_messages", "openai_responses"];

export class ToolMode {
  readonly #author: Author;
  readonly #abilities: Abilities;
  /** @param text for the user */
  readonly #notice: (text: string) => void;
  readonly #form: Form;
  /** The user has not set the option. */
  readonly #isAutomatic: boolean;
  #isNative: boolean;
  #answersInText = 0;
  /** The model has made a native call in this engine. */
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

  /** The instructions for calls in text; undefined if the model has native calls. */
  get textForm(): string | undefined {
    return this.#isNative ? undefined : this.#form.example;
  }

  /** Called before each request, once the model's abilities are known. */
  prepare(prompt: Prompt): void {
    if (!this.#isNative || !this.#isAutomatic || this.#abilities.tools || prompt.tools.length === 0) return;
    this.#useText("has no tool calls of its own");
  }

  /** Rewrites calls for the request: calls in text stay as the model wrote them. */
  fit(messages: Prompt["messages"]): Prompt["messages"] {
    if (!this.#isNative) return messages;
    const own = withoutPackets(messages);
    return this.#abilities.parallel ? own : oneCallEach(own);
  }

  encode(request: ModelRequest): ModelRequest {
    return this.#isNative ? request : inText(request, this.#form);
  }

  /**
   * The request with calls in text, after a refusal; undefined if the user's options say that the model has
   * calls.
   */
  withoutTools(request: ModelRequest): ModelRequest | undefined {
    if (!this.#isAutomatic) return undefined;
    this.#useText("is served without tool calls");
    this.#abilities.rememberText();
    return inText(request, this.#form);
  }

  /** Whether calls in the text of the next answer are made rather than quoted. */
  readsText(prompt: Prompt): boolean {
    return !this.#isNative || (this.#isAutomatic && !this.#callsNatively(prompt));
  }

  /** @param readText the value of {@link readsText} for this answer */
  learn({ isNative, calls, shownTool }: Found, readText: boolean): void {
    if (isNative && !this.#hasCalled) this.#abilities.rememberNative();
    this.#hasCalled ||= isNative;
    if (calls > 0 || (!readText && shownTool !== undefined)) this.#answersInText += 1;
    if (!this.#isNative || !this.#isAutomatic || this.#hasCalled) return;
    if (this.#answersInText < MOST_IN_TEXT) return;
    this.#useText("has written its tool calls into its answer twice");
    this.#abilities.rememberText();
  }

  /** Describes tools in the prompt from here on. */
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
