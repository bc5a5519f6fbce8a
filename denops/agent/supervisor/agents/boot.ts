/**
 * Starts the process of a project's engine without its configuration. It needs few of the supervisor's
 * modules, so the first process starts while the rest is loaded.
 */
import * as z from "../../deps/zod.ts";
import { type ModelConfig, UserConfig } from "../../protocol/config.ts";
import { adoptEnvironment } from "../system/neovim_environment.ts";
import { messageOf } from "../../shared/errors.ts";
import { type Launch, launchCommand } from "./launch.ts";
import { type EngineModel, engineModel } from "./models/engine_model.ts";
import { described, detect, hasKeyCommand, type ProviderWorld, realWorld } from "./provider.ts";
import { findRoot, otherRoots } from "./root.ts";
import { spawnAgent } from "./spawn.ts";

export interface Boot {
  readonly process: Deno.ChildProcess;
  readonly launch: Launch;
  readonly model: ModelConfig | Exclude<EngineModel, Pick<ModelConfig, "provider">>;
}

/** @param announce called if something has to be downloaded first @throws {Error} one line */
export async function boot(
  roots: readonly string[],
  user: UserConfig,
  world: ProviderWorld,
  announce: () => void,
): Promise<Boot> {
  const model = await engineModel(user, world, roots).catch((error: unknown) => ({
    problem: messageOf(error),
  }));
  const launch = await launchCommand(
    roots,
    "provider" in model ? model.provider.base_url : undefined,
    user,
    announce,
  );
  return { process: spawnAgent(launch), launch, model };
}

/** A login may have to be renewed at the provider. @throws {Error} one line, if no provider is set up */
export async function usesLogin(user: UserConfig, world: ProviderWorld): Promise<boolean> {
  return user.agent === undefined &&
    described(user, user.provider ?? await detect(user, world)).logsIn;
}

/** Neovim's options, the current root and environ(), sent before the first request. */
const Hint = z.object({
  config: UserConfig,
  place: z.object({ root: z.string() }),
  environment: z.record(z.string(), z.string()),
  /** The user may not send anything: no login is used. */
  preloads: z.boolean().default(false),
});

interface Early {
  /** Made of root and options. */
  readonly key: string;
  readonly booting: Promise<Boot>;
  /** Replaced by the one who takes the process. */
  announce: () => void;
  isFetching: boolean;
}

let early: Promise<Early | undefined> = Promise.resolve(undefined);

/** Timeout for slow local servers. */
const PATIENCE_MS = 100;

/**
 * Starts the engine that will probably be needed; resolves when its process runs, or takes long.
 * @param hint from Neovim; an invalid or missing one is ignored
 */
export async function bootEarly(hint: unknown): Promise<void> {
  const parsed = Hint.safeParse(hint);
  if (!parsed.success || hasKeyCommand(parsed.data.config)) return;
  early = begin(parsed.data).catch(() => undefined);
  const booted = early.then((begun) => begun?.booting).catch(() => {});
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, PATIENCE_MS);
  await Promise.race([booted, late]);
  clearTimeout(timer);
}

async function begin(
  { config, place, environment, preloads }: z.infer<typeof Hint>,
): Promise<Early | undefined> {
  adoptEnvironment(environment);
  const world = realWorld(() => Promise.reject(new Error("a command for a key waits for the first message")));
  if (preloads && await usesLogin(config, world)) return undefined;
  const home = world.env("HOME") ?? world.env("USERPROFILE");
  const root = await findRoot(place, home);
  const roots = [root, ...await otherRoots(config, root, world.env("HOME"))];
  const begun: Early = {
    key: keyOf(root, config),
    announce: () => begun.isFetching = true,
    isFetching: false,
    booting: boot(roots, config, world, () => begun.announce()),
  };
  begun.booting.catch(() => {});
  return begun;
}

/**
 * Returns the process that was started early, if it matches this root and these options; the caller then owns
 * it. Any other one ends.
 */
export async function takeEarly(
  root: string,
  user: UserConfig,
  announce: () => void,
): Promise<{ readonly booting: Promise<Boot> } | undefined> {
  const taken = early;
  early = Promise.resolve(undefined);
  const found = await taken;
  if (found === undefined) return undefined;
  if (found.key !== keyOf(root, user)) {
    endBoot(found.booting);
    return undefined;
  }
  found.announce = announce;
  if (found.isFetching) announce();
  return found;
}

/** Ends unused processes, and resolves when they have exited. */
export async function endEarly(): Promise<void> {
  const found = await early;
  if (found !== undefined) endBoot(found.booting);
  await Promise.all(ending);
}

/** An engine without a client exits; after this time it is killed. Milliseconds. */
const LONGEST_END_MS = 10_000;

const ending = new Set<Promise<void>>();

/** Ends a process that may still be starting; {@link endEarly} waits for it. */
export function endBoot(booting: Promise<Boot>): void {
  const end = booting.then(({ process }) => endProcess(process), () => {});
  ending.add(end);
  end.finally(() => ending.delete(end));
}

/**
 * Neither kills it at once nor abandons it: if both have just started, bubblewrap's child would wait forever
 * for its parent's message.
 */
async function endProcess(process: Deno.ChildProcess): Promise<void> {
  // Its new owner may have ended it.
  await process.stdin.close().catch(() => {});
  const timer = setTimeout(() => {
    try {
      process.kill("SIGKILL");
    } catch {
      // It has just exited.
    }
  }, LONGEST_END_MS);
  await process.status;
  clearTimeout(timer);
}

function keyOf(root: string, user: UserConfig): string {
  return JSON.stringify([root, user]);
}
