/**
 * What must hold for every request to a model: each check says in one line what is wrong. Pure.
 *
 * Most of it is what the provider itself would refuse; see model_wires.ts for the sources.
 */
import {
  blocksOf,
  isObject,
  type JsonObject,
  messagesOf,
  objects,
  property,
  type SentCall,
  type SentMessage,
  type SentResult,
  string,
} from "./model_messages.ts";
import { checkImages } from "./model_image_checks.ts";
import { checkResponses } from "./model_response_checks.ts";
import { signatureOf } from "../../denops/agent/scripted_model/wire_anthropic.ts";
import type { ScriptedWire } from "../../denops/agent/scripted_model/wires.ts";

/** All that is wrong with a request; `headers` have lower-case names. */
export function checkRequest(
  wire: ScriptedWire,
  headers: Readonly<Record<string, string>>,
  body: JsonObject,
): string[] {
  const messages = messagesOf(wire, body);
  return [
    ...checkBody(wire, body),
    ...(wire === "anthropic_messages" ? checkAnthropic(headers, body) : []),
    ...(wire === "openai_responses" ? checkResponses(body) : []),
    ...checkTools(wire, body),
    ...checkRoles(wire, messages),
    ...checkContent(wire, body, messages),
    ...checkCalls(wire, messages),
    ...checkService(wire, body, messages),
    ...checkImages(wire, body, messages),
  ];
}

/**
 * That `now` begins with all of `before`: the provider's cache and the user's trust hang on it. Thoughts of a turn are gone
 * from the next one on, as templates of models leave them out.
 */
export function checkPrefix(before: readonly string[], now: readonly string[]): string[] {
  const isNext = now.slice(before.length).some((text) => messageIn(text)?.role === "user");
  const at = before.findIndex((text, index) =>
    now[index] !== text && !(isNext && now[index] === withoutThought(text))
  );
  const earlier = before[at];
  if (earlier === undefined) return [];
  const later = now[at];
  if (later === undefined) return [`message ${at} of the request before is gone: ${excerpt(earlier, 0)}`];
  const difference = [...earlier].findIndex((character, index) => later[index] !== character);
  const from = Math.max(0, (difference < 0 ? earlier.length : difference) - 40);
  return [`message ${at} is not what it was: ${excerpt(earlier, from)} became ${excerpt(later, from)}`];
}

function withoutThought(text: string): string | undefined {
  const { reasoning_content, thinking, ...message } = messageIn(text) ?? {};
  return reasoning_content === undefined && thinking === undefined ? undefined : JSON.stringify(message);
}

/** Undefined for what is none. */
function messageIn(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** That no secret is in `places`; the answer names the secret by its number only. */
export function checkSecrets(secrets: readonly string[], places: Readonly<Record<string, string>>): string[] {
  return Object.entries(places).flatMap(([place, text]) =>
    secrets.flatMap((secret, at) => {
      if (secret === "") return [];
      const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
      return forms.some((form) => text.includes(form)) ? [`secret ${at + 1} is in the ${place}`] : [];
    })
  );
}

/** A part of a text on one line. */
export function excerpt(text: string, from = 0, length = 120): string {
  const part = text.slice(from, from + length);
  return `${from > 0 ? "…" : ""}${part.replaceAll("\n", "\\n").replaceAll("\r", "\\r")}${
    text.length > from + length ? "…" : ""
  }`;
}

function checkBody(wire: ScriptedWire, body: JsonObject): string[] {
  const found: string[] = [];
  if (!string(body.model)) found.push("there is no model");
  if (body.stream !== true) found.push("stream is not true");
  const messages = wire === "openai_responses" ? body.input : body.messages;
  if (!Array.isArray(messages) || messages.length === 0) found.push("there are no messages");
  else if (!messages.every(isObject)) found.push("a message is not an object");
  if (wire === "openai_chat" && property(body.stream_options, "include_usage") !== true) {
    found.push("stream_options.include_usage is not true");
  }
  return found;
}

function checkAnthropic(headers: Readonly<Record<string, string>>, body: JsonObject): string[] {
  const found = ["anthropic-version", "x-api-key"].filter((name) => !headers[name]).map((name) =>
    `there is no header ${name}`
  );
  if (!Number.isInteger(body.max_tokens) || Number(body.max_tokens) < 1) {
    found.push("max_tokens is not a positive number");
  }
  const marks = JSON.stringify(body).split(`"cache_control":`).length - 1;
  if (marks > 4) found.push(`there are ${marks} cache_control marks, 4 are allowed`);
  if (property(body.thinking, "type") === "enabled" && (body.temperature ?? 1) !== 1) {
    found.push("temperature must be 1 with thinking");
  }
  if (blocksOf(body.system).some(isEmptyText)) found.push("system has an empty text block");
  return found;
}

function checkTools(wire: ScriptedWire, body: JsonObject): string[] {
  if (body.tools === undefined) return [];
  const tools = objects(body.tools);
  if (tools.length === 0) return /^openai/.test(wire) ? ["tools is empty, leave it out"] : [];
  const names = new Set<unknown>();
  return tools.flatMap((tool, at) => {
    const anthropic = wire === "anthropic_messages";
    const described = anthropic || wire === "openai_responses" ? tool : tool.function;
    const name = string(property(described, "name")) ?? "";
    const label = `tool ${name || at}`;
    const found: string[] = [];
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(name)) found.push(`${label} has no valid name`);
    if (names.has(name)) found.push(`${label} is there twice`);
    names.add(name);
    if (!string(property(described, "description"))) found.push(`${label} has no description`);
    if (wire === "openai_responses" && tool.type === "custom") {
      const definition = string(property(tool.format, "definition"));
      return definition ? found : [...found, `${label} has no grammar`];
    }
    if (!anthropic && tool.type !== "function") found.push(`${label} is not of type function`);
    const schema = property(described, anthropic ? "input_schema" : "parameters");
    if (property(schema, "type") !== "object") found.push(`${label} has no schema of type object`);
    return found;
  });
}

function checkRoles(wire: ScriptedWire, messages: readonly SentMessage[]): string[] {
  const anthropic = wire === "anthropic_messages";
  const legal = anthropic ? ["user", "assistant"] : ["system", "developer", "user", "assistant", "tool"];
  const isSystem = ({ role }: SentMessage) => !anthropic && (role === "system" || role === "developer");
  const start = messages.findIndex((message) => !isSystem(message));
  const found: string[] = [];
  for (const [at, message] of messages.entries()) {
    if (!legal.includes(message.role)) found.push(`message ${at} has the role "${message.role}"`);
    else if (at > start && isSystem(message)) {
      found.push(`message ${at} (${message.role}) is not at the beginning`);
    } else if (at === start && message.role !== "user") {
      found.push(`message ${at} (${message.role}) should be the user's`);
    } else if (anthropic && at > 0 && messages[at - 1]?.role === message.role) {
      found.push(`message ${at} (${message.role}) follows one of the same role`);
    }
  }
  if (messages.at(-1)?.role === "assistant") found.push(`the last message is the assistant's`);
  return found;
}

function checkContent(wire: ScriptedWire, body: JsonObject, messages: readonly SentMessage[]): string[] {
  const found = messages.flatMap((message, at) => {
    const empty = message.role === "assistant" && message.calls.length === 0 && message.text.trim() === "";
    return empty ? [`message ${at} (assistant) is empty`] : [];
  });
  if (wire === "openai_responses") return found;
  for (const [at, message] of objects(body.messages).entries()) {
    const label = `message ${at} (${message.role})`;
    if (wire === "anthropic_messages") found.push(...checkBlocks(label, blocksOf(message.content)));
    else found.push(...checkChatMessage(wire, label, message));
  }
  return found;
}

function isEmptyText(block: JsonObject): boolean {
  return block.type === "text" && (string(block.text) ?? "").trim() === "";
}

function checkBlocks(label: string, blocks: readonly JsonObject[]): string[] {
  const found: string[] = [];
  if (blocks.length === 0) found.push(`${label} has no content`);
  if (blocks.some(isEmptyText)) found.push(`${label} has an empty text block`);
  const lastResult = blocks.findLastIndex((block) => block.type === "tool_result");
  if (blocks.slice(0, lastResult + 1).some((block) => block.type !== "tool_result")) {
    found.push(`${label} has other content before a tool result`);
  }
  for (const block of blocks) {
    if (block.type === "tool_use" && !isObject(block.input)) {
      found.push(`${label}: input of ${block.id} is not an object`);
    }
    if (block.type === "thinking" && block.signature !== signatureOf(string(block.thinking) ?? "")) {
      found.push(`${label}: the signature does not fit the thinking block`);
    }
  }
  return found;
}

function checkChatMessage(wire: ScriptedWire, label: string, message: JsonObject): string[] {
  const found: string[] = [];
  const calls = objects(message.tool_calls);
  const text = typeof message.content === "string" ||
    (wire === "openai_chat" && Array.isArray(message.content));
  if (!text && (message.role !== "assistant" || calls.length === 0)) found.push(`${label} has no content`);
  for (const call of calls) {
    const given = property(call.function, "arguments");
    const id = call.id ?? property(call.function, "name");
    if (wire === "ollama") {
      if (!isObject(given)) found.push(`${label}: arguments of ${id} are not an object`);
      continue;
    }
    if (call.type !== "function") found.push(`${label}: call ${id} is not of type function`);
    if (typeof given !== "string") found.push(`${label}: arguments of ${id} are not a string`);
  }
  return found;
}

/**
 * What single services refuse. Their words: OpenAI, "Expected a string with maximum length 40"; Anthropic, "String should
 * match pattern '^[a-zA-Z0-9_-]+$'"; Mistral, "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9",
 * "Unexpected role 'user' after role 'tool'"; Gemini, "Function call is missing a thought_signature"; DeepSeek, that
 * reasoning_content must be passed back with calls.
 */
function checkService(
  wire: ScriptedWire,
  { model, messages: sent }: JsonObject,
  messages: readonly SentMessage[],
): string[] {
  const chat = wire === "openai_chat";
  const name = string(model) ?? "";
  const isMistral = chat && /mistral/i.test(name);
  const legal = isMistral ? /^[a-zA-Z0-9]{9}$/ : chat ? /^.{1,40}$/s : /^[a-zA-Z0-9_-]+$/;
  const found = wire === "ollama" || wire === "openai_responses"
    ? []
    : messages.flatMap(({ calls }) =>
      calls.flatMap(({ id = "" }) => legal.test(id) ? [] : [`the call id ${id} is not legal`])
    );
  for (const [at, { role }] of messages.entries()) {
    const before = messages[at - 1]?.role;
    if (isMistral && role === "user" && before === "tool") {
      found.push(`message ${at} (user) follows a tool's`);
    }
  }
  if (chat && /deepseek-v[4-9]/.test(name)) {
    for (const { role, tool_calls: calls, reasoning_content: thought } of objects(sent)) {
      const isMissing = role === "assistant" && objects(calls).length > 0 && !string(thought);
      if (isMissing) found.push("an answer with calls has no reasoning_content");
    }
  }
  if (!chat || !/gemini-[3-9]/.test(name)) return found;
  const turn = objects(sent).slice(objects(sent).findLastIndex(({ role }) => role === "user") + 1);
  for (const { tool_calls: calls } of turn) {
    const [first] = objects(calls);
    const signature = property(property(property(first, "extra_content"), "google"), "thought_signature");
    if (first !== undefined && signature === undefined) {
      found.push(`the call ${first.id} has no thought signature`);
    }
  }
  return found;
}

/** Every call has exactly one result, right after the message that called, and no result is without a call. */
function checkCalls(wire: ScriptedWire, messages: readonly SentMessage[]): string[] {
  const found: string[] = [];
  const ids = new Set<string>();
  let open: SentCall[] = [];
  const unanswered = () =>
    found.push(...open.map((call) => `call ${call.id ?? call.name} has no result right after it`));
  for (const [at, message] of messages.entries()) {
    for (const result of message.results) {
      const answered = open.findIndex((call) => belongs(wire, call, result));
      if (answered >= 0) open.splice(answered, 1);
      else {found.push(
          `message ${at}: result ${result.id ?? result.name ?? "without id"} answers no call right before it`,
        );}
    }
    if (message.role === "tool") continue;
    unanswered();
    open = [...message.calls];
    for (const { id, name } of open) {
      if (id === undefined && wire !== "ollama") found.push(`message ${at}: call of ${name} has no id`);
      if (id !== undefined && ids.has(id)) found.push(`message ${at}: the call id ${id} is there twice`);
      if (id !== undefined) ids.add(id);
    }
  }
  unanswered();
  return found;
}

/** Ollama's older versions know no ids: the tool's name has to do. */
function belongs(wire: ScriptedWire, call: SentCall, result: SentResult): boolean {
  if (wire !== "ollama" || (result.id !== undefined && call.id !== undefined)) {
    return call.id !== undefined && call.id === result.id;
  }
  return result.name === call.name;
}
