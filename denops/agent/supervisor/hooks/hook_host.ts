/** Runs the hooks of a project at their events, after the user has approved each. */
import { join } from "node:path";
import type { UserConfig } from "../../protocol/config.ts";
import type { HookEvent, HookInput, HookOutcome, HookView } from "../../protocol/results/hooks.ts";
import { messageOf } from "../../shared/errors.ts";
import { defined } from "../../shared/records.ts";
import { Slots } from "../../shared/slots.ts";
import type { CommandSandbox } from "../commands/sandbox.ts";
import { oneLine } from "../screen/visible.ts";
import { findProgram } from "../system/sandbox.ts";
import { decisionOf, type HookDecision } from "./decision.ts";
import { type Hook, type HookList, hooksOf, isOfUser } from "./entries.ts";
import { HookChanges } from "./hook_changes.ts";
import { bashArguments, runHook } from "./hook_process.ts";
import { matches, matchesRule } from "./matcher.ts";
import { type NotificationInput, notifyBy } from "./notification.ts";
import { payloadOf, subjectOf } from "./payload.ts";
import { type HookResult, HookResults, type HookRun, type ReadHook } from "./results.ts";
import { scriptMounts, scriptsOf } from "./scripts.ts";
import { describeHook, eventText, hookName, HookTrust } from "./trust.ts";

/** Events whose hooks run at the same time. */
const MOST_RUNS = 3;

interface HostOptions {
  /** Real paths, the project first. */
  readonly roots: readonly string[];
  readonly user: Pick<UserConfig, "state_dir" | "hooks" | "approved_hooks" | "command_environment">;
  readonly sandbox: Pick<CommandSandbox, "overlaid">;
  /** Neovim's own. */
  readonly environment: Readonly<Record<string, string>>;
}

interface DecidedHook extends HookDecision {
  readonly name: string;
  readonly of_user: boolean;
  readonly isFailure: boolean;
}

export class HookHost {
  readonly changes = new HookChanges();
  readonly #options: HostOptions;
  readonly #trust: HookTrust;
  /** Hooks that the user has refused, by id: they ask again when the user approves them in the list. */
  readonly #refused = new Set<string>();
  readonly #results = new HookResults();
  /** Open questions, by the hook's id. */
  readonly #asking = new Map<string, Promise<boolean | undefined>>();
  /** Hooks of concurrent calls would compete for the machine. */
  readonly #slots = new Slots(MOST_RUNS);
  #known: ReadonlySet<HookEvent> = new Set();
  /** Sessions with a message. */
  readonly #sessions = new Set<string>();

  constructor(options: HostOptions) {
    this.#options = options;
    this.#trust = new HookTrust(options.user.state_dir, options.roots[0] ?? "");
  }

  /** The events that had hooks when the project was opened: nothing is looked up for others. */
  get known(): ReadonlySet<HookEvent> {
    return this.#known;
  }

  /** A message of the session is about to be sent. @returns whether it is the first one */
  begin(session: string): boolean {
    const isFirst = !this.#sessions.has(session);
    this.#sessions.add(session);
    return isFirst;
  }

  /** The session is closed. @returns whether it has hooks for that */
  end(session: string): boolean {
    return this.#sessions.delete(session) && this.#known.has("SessionEnd");
  }

  /** The sessions that have begun. */
  get sessions(): readonly string[] {
    return [...this.#sessions];
  }

  /** The hooks as the options and files name them now. */
  async hooks(): Promise<HookList> {
    const { roots: [root = ""], user, environment: { HOME: home } } = this.#options;
    return await hooksOf(user.hooks, { root, home });
  }

  /** Looks up the events that have hooks, for the project's engine. @returns also the entries that are not supported */
  async open(): Promise<readonly string[]> {
    const { hooks, problems } = await this.hooks();
    this.#known = new Set(hooks.map(({ event }) => event));
    return problems;
  }

  /** For the user. @param denied globs of files that hooks must not read */
  async list(denied: readonly string[]): Promise<readonly HookView[]> {
    const { hooks, problems } = await this.hooks();
    const rows: HookView[] = [];
    for (const hook of hooks) {
      const { id, scripts, trust } = await this.read(hook, denied);
      const state = this.#refused.has(id) ? "refused" : trust === "unknown" ? "not approved" : trust;
      rows.push({
        id,
        label: `${eventText(hook)} · ${hookName(hook)}`,
        state,
        last: this.#results.lastOf(id),
        description: describeHook(hook, scripts),
      });
    }
    const unsupported = problems.map((problem): HookView => ({
      id: "",
      label: oneLine(problem),
      state: "unsupported",
      last: "",
      description: [oneLine(problem)],
    }));
    return [...rows, ...unsupported];
  }

  /** The user approves or refuses a hook of the list. @throws {Error} one line */
  async decide(id: string, isApproved: boolean, denied: readonly string[]): Promise<void> {
    for (const hook of (await this.hooks()).hooks) {
      const read = await this.read(hook, denied);
      if (read.id !== id) continue;
      await this.#trust.decide(hook, read.scripts, isApproved);
      this.#refused.delete(id);
      return;
    }
    throw new Error("Cannot change the hook: it has changed since it was listed. List the hooks again.");
  }

  /** @throws {Error} one line */
  async read(hook: Hook, denied: readonly string[]): Promise<ReadHook> {
    const { roots: [root = ""], environment: { HOME: home } } = this.#options;
    // Without a sandbox it starts in the home folder.
    const base = hook.event === "Notification" ? home ?? root : root;
    const scripts = await scriptsOf(hook, { root: base, home, denied });
    const id = await this.#trust.idOf(hook, scripts);
    return { hook, scripts, id, trust: await this.#trust.stateOf(hook, scripts) };
  }

  /** Runs the hooks of an event, one after another. @throws {Error} one line, if the turn was stopped */
  async run(input: HookInput, run: HookRun): Promise<HookOutcome> {
    if (!this.#known.has(input.event)) return { context: [] };
    const { hooks } = await this.hooks();
    const subject = subjectOf(input);
    const fitting = hooks.filter(({ event, matcher, rule }) =>
      event === input.event && matches(matcher, subject) &&
      (rule === undefined || !("tool" in input) || matchesRule(rule, input.tool, input.input))
    );
    const ran: HookResult[] = [];
    const ready: ReadHook[] = [];
    for (const hook of fitting) {
      const read = await this.read(hook, run.denied);
      const answer = await this.#mayRun(read, run);
      if (answer === undefined) throw new Error("the turn was stopped");
      if (answer.type === "run") ready.push(read);
      else if (answer.failure !== undefined) ran.push({ read, decision: { failure: answer.failure } });
    }
    if (ready.length === 0) return this.#outcome(input, ran, run);
    using _ = await this.#slots.take(run.signal);
    return await this.#runAll(ready, ran, input, run);
  }

  /** Runs the hooks of a notification. @see notifyBy */
  async notify(input: NotificationInput, run: HookRun): Promise<void> {
    if (this.#options.user.approved_hooks !== undefined) return;
    for (const hook of (await this.hooks()).hooks) {
      if (hook.event !== input.event || !matches(hook.matcher, input.about)) continue;
      await notifyBy(await this.read(hook, run.denied), input, run, this.#options, this.#results);
    }
  }

  async #runAll(
    ready: readonly ReadHook[],
    ran: HookResult[],
    input: HookInput,
    run: HookRun,
  ): Promise<HookOutcome> {
    const isKept = input.event === "PostToolUse";
    const place = await this.#options.sandbox.overlaid(run.denied, isKept).catch((error) => messageOf(error));
    if (typeof place === "string") {
      const decision = { failure: `it cannot run: ${place}` };
      return this.#outcome(input, [...ran, ...ready.map((read) => ({ read, decision }))], run);
    }
    const { rehearsal } = place;
    try {
      for (const read of ready) {
        run.signal.throwIfAborted();
        const decision = await this.#runOne(read, input, run, place);
        ran.push({ read, decision });
        if (decision.decision === "deny" && !isKept) break;
      }
      run.signal.throwIfAborted();
      const outcome = this.#outcome(input, ran, run);
      if (!isKept || rehearsal === undefined) return outcome;
      const isWhole = ran.every(({ decision }) => decision.failure === undefined);
      const names = ready.map(({ hook }) => hookName(hook));
      return {
        ...outcome,
        ...defined({ effects: await this.changes.add(run.session, rehearsal, names, isWhole) }),
      };
    } finally {
      if (rehearsal !== undefined && !this.changes.has(rehearsal)) {
        await rehearsal[Symbol.asyncDispose]().catch(() => {});
      }
    }
  }

  /** Undefined: the turn was stopped. */
  async #mayRun(
    { hook, scripts, id, trust }: ReadHook,
    run: HookRun,
  ): Promise<{ readonly type: "run" } | { readonly type: "skip"; readonly failure?: string } | undefined> {
    const { approved_hooks: isApproved } = this.#options.user;
    const name = hookName(hook);
    if (trust === "approved" || isApproved === true) return { type: "run" };
    // An approved guard never becomes an open door because its text has changed.
    const failure = trust === "changed" ? "it has changed, and you have not approved the change" : undefined;
    const skip = { type: "skip", ...defined({ failure }) } as const;
    if (isApproved === false) {
      const text = `The hook ${name} (${
        eventText(hook)
      }) does not run: it is not approved. Approve it in Neovim, or use --hooks.`;
      this.#results.noticeOnce(text, run);
      return skip;
    }
    const { confirm } = run;
    if (trust === "refused" || this.#refused.has(id) || confirm === undefined) return skip;
    const answer = await this.#ask(id, async () => {
      const changed = trust === "changed" ? "IT HAS CHANGED since you approved it.\n" : "";
      const detail = changed + describeHook(hook, scripts).join("\n");
      const answer = await confirm(`run the hook ${name} at ${eventText(hook)}`, detail);
      if (answer === true) await this.#trust.decide(hook, scripts, true);
      if (answer === false) this.#refused.add(id);
      return answer;
    });
    if (answer === undefined) return undefined;
    return answer ? { type: "run" } : skip;
  }

  /** One question at a time about a hook. A question that was stopped is asked again for who waits. */
  async #ask(id: string, confirm: () => Promise<boolean | undefined>): Promise<boolean | undefined> {
    for (let open = this.#asking.get(id); open !== undefined; open = this.#asking.get(id)) {
      const answer = await open.catch(() => undefined);
      if (answer !== undefined) return answer;
    }
    const question = confirm().finally(() => this.#asking.delete(id));
    this.#asking.set(id, question);
    return await question;
  }

  async #runOne(
    { hook, scripts, id }: ReadHook,
    input: HookInput,
    run: HookRun,
    place: Awaited<ReturnType<CommandSandbox["overlaid"]>>,
  ): Promise<HookDecision> {
    const { roots, user } = this.#options;
    const [root = ""] = roots;
    try {
      // A link may lead to another script by now.
      if ((await this.read(hook, run.denied)).id !== id) {
        return { failure: "its script has changed while it waited" };
      }
      const bash = await findProgram("bash", roots);
      if (bash === undefined) return { failure: "bash was not found on the PATH outside of the project" };
      const words = [bash, ...bashArguments(hook.command)];
      const mounts = await scriptMounts(scripts, join(user.state_dir, "hooks", "scripts"));
      const { program, args } = await place.program(words, mounts);
      const env = { ...place.environment, CLAUDE_PROJECT_DIR: root, CURSOR_PROJECT_DIR: root };
      const end = await runHook(
        {
          profile: "hook",
          program,
          args,
          env,
          cwd: "/",
          timeout: hook.timeout * 1_000,
          isPastLimits: async () => await place.rehearsal?.isPastLimits() ?? false,
        },
        payloadOf(hook, input, { id: run.session, roots, isReadOnly: run.isReadOnly }),
        run.signal,
      );
      return decisionOf(input.event, end, hook.cursor !== undefined);
    } catch (error) {
      return { failure: messageOf(error) };
    }
  }

  /** Joins the decisions: a refusal wins, then a question. */
  #outcome(input: HookInput, ran: readonly HookResult[], run: HookRun): HookOutcome {
    const isGuard = input.event === "PreToolUse";
    for (const one of ran) this.#results.note(one, input, run);
    const decided = ran.map(({ read: { hook }, decision }): DecidedHook => {
      const facts = { name: hookName(hook), of_user: isOfUser(hook) };
      const { failure } = decision;
      if (failure === undefined || !isGuard) return { ...decision, ...facts, isFailure: false };
      const reason = `the hook ${facts.name} failed: ${failure}`;
      return { decision: hook.failsClosed ? "deny" : "ask", reason, ...facts, isFailure: true };
    });
    const first = decided.find(({ decision }) => decision === "deny") ??
      decided.find(({ decision }) => decision === "ask");
    const changed = decided.findLast(({ input }) => input !== undefined);
    return {
      context: decided.flatMap(({ name, of_user, context }) =>
        context === undefined ? [] : [{ hook: name, text: context, of_user }]
      ),
      ...defined({
        decision: first?.decision === "allow" ? undefined : first?.decision,
        reason: first === undefined ? undefined : reasonOf(first),
        changed: changed?.input && { hook: changed.name, input: changed.input },
        stop: decided.find(({ stop }) => stop !== undefined)?.stop,
      }),
    };
  }
}

function reasonOf({ name, reason, isFailure }: DecidedHook): string {
  if (isFailure && reason !== undefined) return reason;
  return reason === undefined ? `the hook ${name} gave no reason` : `hook ${name}: ${reason}`;
}
