/** An MCP server as a program of its own, without dependencies. Its argument says which fault it plays. */

/** Tools: echo, look (a file of the project), and those whose names are faults. */
export const MCP_PROGRAM = `
const [fault = "none"] = Deno.args;
const out = (text) => Deno.stdout.writeSync(new TextEncoder().encode(text));
const send = (message) => {
  const bytes = new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
};
const schema = (...names) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
  required: names,
});
const tools = [
  { name: "echo", description: "Says a text again.", inputSchema: schema("text") },
  { name: "look", description: "Reads a file.", inputSchema: schema("path"), annotations: { readOnlyHint: true } },
  { name: "ask", description: "Asks for a name.", inputSchema: schema() },
  { name: "slow", description: "Reports progress, then ends.", inputSchema: schema() },
  { name: "die", description: "Ends the server.", inputSchema: schema() },
];
const text = (text) => ({ content: [{ type: "text", text }] });
let form = 0;
async function call(id, { name, arguments: args, _meta }) {
  switch (name) {
    case "echo": return send({ id, result: text("You said " + args.text) });
    case "look":
      try {
        return send({ id, result: text(Deno.readTextFileSync(args.path)) });
      } catch (error) {
        return send({ id, result: { ...text(String(error)), isError: true } });
      }
    case "ask":
      form = id;
      return send({ id: "form", method: "elicitation/create", params: {
        message: "Whose order is it?",
        requestedSchema: { type: "object", properties: { name: { type: "string", title: "Name" } }, required: ["name"] },
      } });
    case "slow":
      send({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress: 1, total: 2, message: "halfway" } });
      return;
    case "die":
      console.error("out of paper");
      Deno.exit(3);
  }
}
function answer({ id, method, params, result }) {
  if (method === undefined) {
    const name = result?.content?.name;
    return send({ id: form, result: text(name ? "The order is " + name + "'s" : "Nobody ordered: " + result?.action) });
  }
  switch (method) {
    case "initialize": return send({ id, result: {
      protocolVersion: "2025-11-25", capabilities: { tools: {}, resources: {}, prompts: {} },
      serverInfo: { name: "paper", version: "7" }, instructions: "Mind the paper.",
    } });
    case "tools/list": return send({ id, result: { tools } });
    case "resources/list": return send({ id, result: { resources: [{ uri: "note:1", name: "Note 1" }] } });
    case "resources/templates/list": return send({ id, result: { resourceTemplates: [] } });
    case "prompts/list": return send({ id, result: { prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }] } });
    case "resources/read": return send({ id, result: { contents: [{ uri: params.uri, text: "The note says 42." }] } });
    case "prompts/get": return send({ id, result: { messages: [
      { role: "user", content: { type: "text", text: "Greet " + params.arguments.who + " politely." } },
    ] } });
    case "tools/call": return call(id, params);
    default: if (id !== undefined) send({ id, error: { code: -32601, message: "Method not found" } });
  }
}
if (fault === "dies") { console.error("no license"); Deno.exit(2); }
if (fault === "silent") await new Promise((resolve) => setTimeout(resolve, 1e9));
if (fault === "floods") {
  const line = JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } }) + "\\n";
  for (;;) out(line.repeat(1000));
}
if (fault === "endless") for (;;) out("x".repeat(1e6));
let rest = "";
for await (const chunk of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + chunk).split("\\n");
  rest = lines.pop();
  for (const line of lines) if (line.trim() !== "") answer(JSON.parse(line));
}
`;

/** The words that start it as a file of the project, inside of a sandbox for servers or outside. */
export function programWords(file: string, fault = "none", isConfined = true): readonly string[] {
  const deno = isConfined ? "/run/agent-deno" : Deno.execPath();
  return [deno, "run", "--quiet", "--no-lock", "--no-config", "--allow-read", file, fault];
}
