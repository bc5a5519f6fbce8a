/** Engines as the supervisor starts them, without a Neovim; only the model is scripted. */
import assert from "node:assert/strict";
import { basename, join } from "node:path";
import defaults from "../../denops/agent/policy/defaults.json" with { type: "json" };
import { UserConfig } from "../../denops/agent/protocol/config.ts";
import type { ApprovalUpdate, Update } from "../../denops/agent/protocol/ui.ts";
import { EditorQuestions } from "../../denops/agent/supervisor/screen/editor_questions.ts";
import { Gate } from "../../denops/agent/supervisor/gate/gate.ts";
import type { ApprovalChoice } from "../../denops/agent/supervisor/gate/outcome.ts";
import { type Launch, launchCommand } from "../../denops/agent/supervisor/agents/launch.ts";
import { OpenProject } from "../../denops/agent/supervisor/client/open_project.ts";
import { OpenProjects } from "../../denops/agent/supervisor/client/open_projects.ts";
import type { ProviderWorld } from "../../denops/agent/supervisor/agents/provider.ts";
import type { TrustedSession } from "../../denops/agent/supervisor/gate/approval_view.ts";
import { UserQuestions } from "../../denops/agent/supervisor/gate/questions.ts";
import { SECRET } from "./agent.ts";

/** What holds the engine: the best that the machine has, or what is left without a sandbox. */
export interface Level {
  readonly name: string;
  readonly sandbox: "auto" | "off";
}

export const BUBBLEWRAP: Level = { name: "bubblewrap", sandbox: "auto" };
export const DENO: Level = { name: "Deno permissions", sandbox: "off" };

/** What the launch must say of itself on Linux, so that no test runs at a weaker level than it says. */
const SAYS = { auto: /^bubblewrap and Deno permissions$/, off: /^Deno permissions only/ } as const;

/** The levels that this system can have. */
export const LEVELS: readonly Level[] = Deno.build.os === "linux" ? [BUBBLEWRAP, DENO] : [DENO];

export interface EngineSetup {
  readonly level: Level;
  /** Real path of the project. */
  readonly root: string;
  /** Folder for the state of all projects. */
  readonly stateDir: string;
  readonly baseUrl: string;
  /** Rules of the user's options; none unless told. */
  readonly rules?: Partial<Record<"allow" | "ask" | "deny", readonly string[]>>;
}

export interface Prepared {
  readonly launch: Launch;
  /** The project's own folder in the state folder. */
  readonly state: string;
}

const WORLD: ProviderWorld = {
  env: (name) => name === "TEST_API_KEY" ? SECRET : undefined,
  fetch: () => Promise.reject(new Error("no network")),
  run: () => Promise.reject(new Error("no commands")),
};

export function userConfig({ level, stateDir, baseUrl, rules = {} }: EngineSetup): UserConfig {
  return UserConfig.parse({
    safe_to_write: defaults.safe_to_write,
    provider: "test",
    model: "scripted",
    providers: { test: { wire: "openai_chat", base_url: baseUrl, api_key: "env:TEST_API_KEY" } },
    max_iterations: 1000,
    // No request for a summary takes an answer that is meant for something else.
    context_window: 10_000_000,
    rules,
    sandbox: level.sandbox,
    state_dir: stateDir,
  });
}

/** The command that starts the engine of a user with default options. */
export async function prepareEngine(setup: EngineSetup): Promise<Prepared> {
  const { level, root, stateDir, baseUrl } = setup;
  const user = userConfig(setup);
  const launch = await launchCommand([root], baseUrl, user, () => {});
  assert.match(launch.sandbox, SAYS[level.sandbox]);
  return { launch, state: await stateOf(root, stateDir) };
}

/** A project's own folder in the state folder. */
async function stateOf(root: string, stateDir: string): Promise<string> {
  const folders = await Array.fromAsync(Deno.readDir(stateDir));
  const found = folders.find(({ name, isDirectory }) => isDirectory && name.startsWith(`${basename(root)}-`));
  assert.ok(found !== undefined);
  return join(stateDir, found.name);
}

export interface Opened extends AsyncDisposable {
  readonly state: string;
  /** What the user was asked, in order. */
  readonly asked: readonly ApprovalUpdate[];
  /** One turn of a new session. */
  play(text: string): Promise<void>;
}

/** A chat's session that has read nothing. One that no chat has counts as tainted, and asks about sensitive files. */
const NEW_SESSION: TrustedSession = {
  permission: "default",
  isTainted: false,
  foreign: undefined,
  taint: () => {},
};

/** Everything of the supervisor's but Neovim; see {@link openProject}. */
function projectPorts(option: ApprovalChoice, meanwhile: () => Promise<void>) {
  const asked: ApprovalUpdate[] = [];
  const push = (update: Update) => {
    if (update.type === "approval") {
      asked.push(update);
      meanwhile().then(() => gate.answer(update.request, { option }));
    } else if (update.type === "ask_editor") {
      const nothing = { kind: "nothing", reason: "this client has no language servers" };
      const answers = {
        unsaved_text: {},
        write_unsaved: { status: "not_open" },
        written_since: { files: [] },
        editor_view: { unsaved: [] },
        lsp: nothing,
      };
      const result = answers[update.method];
      editor.answer(update.request, { result });
    }
  };
  let last = 0;
  const nextRequest = () => ++last;
  const gate = new Gate(push, nextRequest);
  const editor = new EditorQuestions(push, nextRequest);
  const questions = new UserQuestions(push, nextRequest);
  const ports = {
    push,
    notice: () => {},
    chatOf: () => 1,
    narrow: () => {},
    limitsOf: () => ({ access: "write" as const }),
    isIdle: () => true,
    isWorking: () => true,
    isStopped: () => false,
    ownerOf: () => 1,
    trustOf: () => NEW_SESSION,
    gate,
    editor,
    questions,
    world: WORLD,
  };
  return { ports, asked };
}

/**
 * A project in use, with everything of the supervisor's but Neovim: the user gives every approval the same answer, in
 * an editor with nothing unsaved.
 * @param meanwhile happens while the user thinks
 */
export async function openProject(
  setup: EngineSetup,
  option: ApprovalChoice,
  meanwhile = () => Promise.resolve(),
): Promise<Opened> {
  const { ports, asked } = projectPorts(option, meanwhile);
  const project = await OpenProject.open(
    setup.root,
    { user: userConfig(setup), isChosen: false },
    1,
    ports,
  );
  assert.match(project.launch.sandbox, SAYS[setup.level.sandbox]);
  return {
    state: await stateOf(setup.root, setup.stateDir),
    asked,
    play: async (text) => {
      await project.engine.prompt(await project.engine.newSession([setup.root]), [{ type: "text", text }]);
    },
    [Symbol.asyncDispose]: () => project[Symbol.asyncDispose](),
  };
}

/** Projects of which one ends that was not asked for in `idle` milliseconds. */
export function openProjects(
  setup: EngineSetup,
  idle: number,
  isUsed: () => boolean,
  environment: () => Promise<Record<string, string>> = () => Promise.resolve(Deno.env.toObject()),
) {
  const { ports } = projectPorts("reject", () => Promise.resolve());
  const ended: string[] = [];
  const user = userConfig(setup);
  const projects = new OpenProjects({
    environment,
    isUsed,
    ended: (_, how = "replaced") => ended.push(how),
    project: ports,
  }, idle);
  projects.config = user;
  const open = () => projects.of({ root: setup.root }, 1);
  return { projects, ended, open };
}
