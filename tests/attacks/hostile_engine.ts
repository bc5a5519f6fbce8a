/**
 * Stands in for engine/main.ts, with the same grants. Its last argument says what to try and where, as JSON; each
 * attempt is reported as a line of JSON on stdout.
 */
import { type Attempt, ATTEMPTS, NEEDS, type Report, type Targets } from "./attempts.ts";

/** An attempt that hangs has not succeeded. */
const LONGEST_MS = 3_000;

export interface Orders {
  readonly targets: Targets;
  readonly names: readonly string[];
}

async function attempt({ name, run }: Attempt, targets: Targets): Promise<Report> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("no answer in time")), LONGEST_MS);
  try {
    await Promise.race([Promise.resolve().then(() => run(targets)), late]);
    return { name, succeeded: true, said: "" };
  } catch (error) {
    return { name, succeeded: false, said: String(error) };
  } finally {
    clearTimeout(timer);
  }
}

// A refusal may surface beside the call that it belongs to; that one then never succeeds.
for (const type of ["error", "unhandledrejection"]) {
  globalThis.addEventListener(type, (event) => event.preventDefault());
}

const { targets, names }: Orders = JSON.parse(Deno.args.at(-1) ?? "{}");
for (const one of [...NEEDS, ...ATTEMPTS].filter(({ name }) => names.includes(name))) {
  console.log(JSON.stringify(await attempt(one, targets)));
}
Deno.exit(0);
