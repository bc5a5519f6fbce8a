/**
 * Answers another agent's permission requests. Its sandbox holds whatever it does, so that rules decide, and nothing it
 * is told here allows anything. Questions that are about no call go to the user with the agent's own options.
 */
import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "../../deps/acp_sdk.ts";
import { againstMode } from "../../policy/decide_mode.ts";
import type { AccessOf, FileAccess } from "../../protocol/access.ts";
import { ToolError } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { middleCut } from "../../shared/text/text.ts";
import type { RunnerPorts } from "../agent/turn/runner.ts";
import { cleanLine } from "../../policy/clean.ts";
import type { Questions } from "../ports/approvals.ts";
import type { ForeignCall } from "./call.ts";
import type { ForeignTurn } from "./turn.ts";
import { CallFields, readCall } from "./updates.ts";

const MOST_OPTIONS = 20;
const LONGEST_OPTION = 100;
/** Characters of a plan that the user is asked about. */
const LONGEST_QUESTION = 4_000;
/** Requests of one turn. */
const MOST_REQUESTS = 2_000;

type Outcome = RequestPermissionResponse["outcome"];
type Option = Pick<PermissionOption, "optionId" | "name" | "kind">;

const CANCELLED: Outcome = { outcome: "cancelled" };
const WRITES: readonly string[] = ["edit", "delete", "move"];

interface AskPorts {
  readonly turn: ForeignTurn;
  readonly ports: RunnerPorts;
  /** Undefined: the client cannot ask. */
  readonly questions: Questions | undefined;
  readonly signal: AbortSignal;
}

export class PermissionAnswers {
  readonly #ports: AskPorts;
  #order: Promise<unknown> = Promise.resolve();
  #count = 0;

  constructor(ports: AskPorts) {
    this.#ports = ports;
  }

  /** One after the other. Never rejects, unless storing fails. */
  async answer({ toolCall, options }: RequestPermissionRequest): Promise<Outcome> {
    if (++this.#count > MOST_REQUESTS) return CANCELLED;
    const answer = this.#order.then(() => this.#answer(toolCall, options.slice(0, MOST_OPTIONS)));
    this.#order = answer.catch(() => {});
    return await answer;
  }

  async #answer(
    toolCall: RequestPermissionRequest["toolCall"],
    options: readonly Option[],
  ): Promise<Outcome> {
    const { turn, signal } = this.#ports;
    const { data } = CallFields.safeParse(toolCall);
    if (data === undefined || signal.aborted) return CANCELLED;
    const update = readCall(data);
    turn.flush();
    const call = turn.callOf(update);
    if (call === undefined || call.end !== undefined) return CANCELLED;
    const isChoice = update.switchesMode === true || countOf(options, "allow_once") > 1;
    return isChoice ? await this.#choose(call, options) : await this.#decide(call, options);
  }

  async #decide(call: ForeignCall, options: readonly Option[]): Promise<Outcome> {
    const { ports, signal } = this.#ports;
    const access = await accessOf(call, ports);
    const against = againstMode(access, ports.mode);
    if (against !== undefined) {
      call.start();
      return select(options, REJECTIONS);
    }
    await ports.refreshRules();
    const run = () => Promise.reject(new Error("the agent runs it"));
    const permitted = await call.permissions.decide({ access, run });
    if (signal.aborted) return CANCELLED;
    if (permitted.refusal !== undefined) return select(options, REJECTIONS);
    call.run(permitted.rule);
    return select(options, call.isForSession ? ["allow_always", "allow_once"] : ["allow_once"]);
  }

  /** The user chooses one of the agent's options. */
  async #choose(call: ForeignCall, options: readonly Option[]): Promise<Outcome> {
    const { questions, signal } = this.#ports;
    call.start();
    const names = options.map(({ name }) => cleanLine(name, LONGEST_OPTION));
    const question = [call.title, middleCut(call.text, LONGEST_QUESTION)].filter((part) => part !== "").join(
      "\n\n",
    );
    const answer = await questions?.ask(question, names, call.id, signal).catch(() => undefined);
    if (signal.aborted) return CANCELLED;
    const chosen = options[names.indexOf(answer ?? "")];
    return chosen === undefined
      ? select(options, REJECTIONS)
      : { outcome: "selected", optionId: chosen.optionId };
  }
}

const REJECTIONS: readonly Option["kind"][] = ["reject_once", "reject_always"];

/** The first option of these kinds, the preferred kind first. */
function select(options: readonly Option[], kinds: readonly Option["kind"][]): Outcome {
  const [found] = kinds.flatMap((kind) => options.find((option) => option.kind === kind) ?? []);
  return found === undefined ? CANCELLED : { outcome: "selected", optionId: found.optionId };
}

function countOf(options: readonly Option[], kind: Option["kind"]): number {
  return options.filter((option) => option.kind === kind).length;
}

async function accessOf(call: ForeignCall, { workspace }: RunnerPorts): Promise<AccessOf<"foreign">> {
  const { agent, tool = call.kind, title, command, mcp, paths, kind } = call;
  const files: FileAccess[] = [];
  for (const path of paths) {
    const found = await workspace.resolve(path).catch(unlessUnknown);
    if (found !== undefined) files.push({ access: WRITES.includes(kind) ? "write" : "read", path: found });
  }
  const known = defined({ command, mcp, files: files.length === 0 ? undefined : files });
  return { kind: "foreign", agent, tool, title: title || kind, ...known };
}

/** A path outside of the workspace is the sandbox's matter. */
function unlessUnknown(error: unknown): undefined {
  if (!(error instanceof ToolError)) throw error;
}
