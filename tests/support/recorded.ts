/** What is sent, as reference files in tests/requests for people to read; AGENT_UPDATE_REQUESTS=1 writes them anew. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isObject, type JsonObject, objects, sentOf } from "../model/model_messages.ts";

const FOLDER = fileURLToPath(new URL("../requests/", import.meta.url));

export async function expectRecorded(name: string, text: string): Promise<void> {
  const file = join(FOLDER, `${name}.txt`);
  if (Deno.env.get("AGENT_UPDATE_REQUESTS") !== undefined) {
    await Deno.mkdir(FOLDER, { recursive: true });
    return await Deno.writeTextFile(file, text);
  }
  assert.equal(text, await Deno.readTextFile(file), `what is sent is not tests/requests/${name}.txt`);
}

/** A session's requests: the first whole, of each later one the messages that are new, and what else has changed. */
export function recorded(requests: readonly JsonObject[]): string {
  return requests.map((request, at) => {
    const before = requests[at - 1];
    return `==== request ${at + 1}\n${
      before === undefined ? yaml(named(request)) : yaml(added(before, request))
    }`;
  }).join("\n\n") + "\n";
}

function added(before: JsonObject, now: JsonObject): JsonObject {
  const name = now.input === undefined ? "messages" : "input";
  const known = sentOf(before).length;
  const changed = Object.entries(named(now)).filter(([key, value]) =>
    key !== name && JSON.stringify(value) !== JSON.stringify(named(before)[key])
  );
  return { ...Object.fromEntries(changed), [name]: sentOf(now).slice(known) };
}

/** What a tool is told as stands in a file of its own. */
function named(request: JsonObject): JsonObject {
  if (request.tools === undefined) return request;
  const nameOf = (tool: JsonObject) => isObject(tool.function) ? tool.function.name : tool.name;
  return { ...request, tools: objects(request.tools).map(nameOf).join(" ") };
}

/** As YAML writes it: texts of several lines as blocks. */
export function yaml(value: unknown, indent = ""): string {
  if (typeof value === "string" && value.includes("\n")) {
    return `|\n${value.split("\n").map((line) => line === "" ? "" : `${indent}${line}`).join("\n")}`;
  }
  if (Array.isArray(value) && value.length > 0) {
    return value.map((item) => `${indent}- ${yaml(item, `${indent}  `).trimStart()}`).join("\n");
  }
  if (!isObject(value) || Object.keys(value).length === 0) return JSON.stringify(value);
  return Object.entries(value).map(([key, part]) => {
    const nested = yaml(part, `${indent}  `);
    const isBelow = typeof part === "object" && !/^(?:null|\[\]|\{\})$/.test(nested);
    return `${indent}${key}:${isBelow ? "\n" : " "}${nested}`;
  }).join("\n");
}
