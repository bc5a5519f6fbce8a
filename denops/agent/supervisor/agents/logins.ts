/** Logs the user in at a provider. A new login cancels the previous one. */
import type { UserConfig } from "../../protocol/config.ts";
import { OptionsError } from "../../protocol/options/problems.ts";
import type { LoginState } from "../../protocol/providers.ts";
import type { Update } from "../../protocol/ui.ts";
import { messageOf } from "../../shared/errors.ts";
import { exchange } from "./copilot/copilot.ts";
import { beginLogin, type DeviceLogin } from "./copilot/device.ts";
import { type GitHub, gitHubOf } from "./copilot/github.ts";
import { removeLogin, saveLogin } from "./copilot/logins.ts";
import type { ProviderWorld } from "./provider.ts";
import { LONGEST_NOTICE, oneLine } from "../screen/visible.ts";

/** Providers with a login. */
const KNOWN = ["copilot"];

interface CurrentLogin {
  readonly stop: AbortController;
  readonly end: Promise<LoginState>;
}

export class Logins {
  readonly #world: ProviderWorld;
  readonly #push: (update: Update) => void;
  #current: CurrentLogin | undefined;

  constructor(world: ProviderWorld, push: (update: Update) => void) {
    this.#world = world;
    this.#push = push;
  }

  begin(request: number, provider: string, config: UserConfig | OptionsError): void {
    this.stop();
    const stop = new AbortController();
    const { promise: end, resolve } = Promise.withResolvers<LoginState>();
    this.#current = { stop, end };
    this.#report(request, stop.signal, async () => {
      const user = loginConfig(provider, config);
      const github = gitHubOf(user.providers.copilot);
      const ports = { fetch: this.#world.fetch, wait, now: () => Date.now() };
      const login = await beginLogin(github, ports, stop.signal);
      stateOf(stop.signal, () => this.#finish(login, github, user, stop.signal)).then(resolve);
      return { code: login.code, url: login.url };
    });
  }

  wait(request: number): void {
    const { end = Promise.resolve<LoginState>(STOPPED) } = this.#current ?? {};
    end.then((state) => this.#push({ type: "login", request, ...state }));
  }

  stop(): void {
    this.#current?.stop.abort();
    this.#current = undefined;
  }

  forget(request: number, provider: string, config: UserConfig | OptionsError): void {
    this.stop();
    this.#report(request, new AbortController().signal, async () => {
      const user = loginConfig(provider, config);
      const { host, web } = gitHubOf(user.providers.copilot);
      if (!await removeLogin(host, user.state_dir)) {
        throw new Error("Nobody has logged in here. What other editors have kept is theirs: log out there.");
      }
      const where = `${web}/settings/applications`;
      return { ended: "ok", text: `Logged out of Copilot. GitHub forgets the login at ${where}` };
    });
  }

  async #finish(
    login: DeviceLogin,
    github: GitHub,
    user: UserConfig,
    signal: AbortSignal,
  ): Promise<LoginState> {
    const oauth = await login.agreed(signal);
    // An account without Copilot is refused, and nothing is stored.
    if (await exchange(oauth, github, user, this.#world) === undefined) {
      throw new Error("GitHub does not take the login that it has just given. Try again later.");
    }
    signal.throwIfAborted();
    await saveLogin(github.host, oauth, user.state_dir);
    const next = user.provider === "copilot" ? "" : ' Set provider = "copilot" to use it.';
    return { ended: "ok", text: `Logged in to Copilot.${next}` };
  }

  #report(request: number, signal: AbortSignal, work: () => Promise<LoginState>): void {
    stateOf(signal, work).then((state) => this.#push({ type: "login", request, ...state }));
  }
}

const STOPPED = { ended: "stopped", text: "The login was stopped." } as const;

/** A failure is one way for a login to end. */
async function stateOf(signal: AbortSignal, work: () => Promise<LoginState>): Promise<LoginState> {
  try {
    return await work();
  } catch (error) {
    if (signal.aborted) return STOPPED;
    const text = messageOf(error);
    return { ended: "failed", text: oneLine(text, LONGEST_NOTICE) };
  }
}

/** @throws {Error} one line */
function loginConfig(provider: string, config: UserConfig | OptionsError): UserConfig {
  if (config instanceof OptionsError) throw config;
  if (KNOWN.includes(provider)) return config;
  throw new Error(`Cannot log in to ${oneLine(provider)}. Known is: ${KNOWN.join(", ")}.`);
}

function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    signal.throwIfAborted();
    const aborted = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", aborted);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", aborted, { once: true });
  });
}
