/**
 * Login on a machine without a browser: the user types a code on GitHub's website. Source: RFC 8628, and
 * docs.github.com, "Authorizing OAuth apps", "Device flow".
 */
import * as z from "../../../deps/zod.ts";
import { LONGEST_NAME, oneLine } from "../../screen/visible.ts";
import type { Fetch } from "../../../models/ask_models.ts";
import { ask, CLIENT_ID, type GitHub, LOG_IN } from "./github.ts";

/** The default, if GitHub sends none. Seconds. */
const INTERVAL = 5;
const LIFETIME = 900;
/** Consecutive failed requests, after which the network counts as down. */
const MOST_FAILURES = 5;

const Begun = z.object({
  device_code: z.string().min(1),
  user_code: z.string().regex(/^[A-Z0-9-]{4,20}$/i),
  verification_uri: z.url(),
  expires_in: z.number().positive().default(LIFETIME),
  interval: z.number().min(0).default(INTERVAL),
});

const Polled = z.union([
  z.object({ access_token: z.string().min(1) }),
  z.object({
    error: z.string(),
    error_description: z.string().optional(),
    interval: z.number().min(0).optional(),
  }),
]);

interface DeviceCode {
  /** The code that the user types. */
  readonly code: string;
  /** The address on GitHub's website. */
  readonly url: string;
}

interface DevicePorts {
  readonly fetch: Fetch;
  /** @throws when it is aborted */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
  now(): number;
}

export interface DeviceLogin extends DeviceCode {
  /** Resolves with the token when the user has approved. @throws {Error} one line; or the abort reason */
  agreed(signal: AbortSignal): Promise<string>;
}

/** @throws {Error} one line; or the abort reason */
export async function beginLogin(
  github: GitHub,
  ports: DevicePorts,
  signal: AbortSignal,
): Promise<DeviceLogin> {
  const post = (path: string, fields: Readonly<Record<string, string>>, signal: AbortSignal) =>
    ask(
      github.web + path,
      {
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ client_id: CLIENT_ID, ...fields }).toString(),
      },
      ports.fetch,
      signal,
    );
  const answer = await post("/login/device/code", { scope: "read:user" }, signal);
  const begun = Begun.safeParse(answer.body).data;
  if (answer.status !== 200 || begun === undefined) {
    throw new Error(`Cannot log in: ${github.web} gives no code (HTTP ${answer.status}). Try again later.`);
  }
  // This address opens in the user's browser.
  if (new URL(begun.verification_uri).origin !== github.web) {
    throw new Error(`Cannot log in: the page for the code is not on ${github.web}. Check github_url.`);
  }
  const poll = (signal: AbortSignal) =>
    post("/login/oauth/access_token", {
      device_code: begun.device_code,
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    }, signal);
  const expires = ports.now() + begun.expires_in * 1_000;
  return {
    code: begun.user_code,
    url: begun.verification_uri,
    async agreed(signal) {
      let { interval } = begun;
      for (let failures = 0;;) {
        await ports.wait(interval * 1_000, signal);
        if (ports.now() >= expires) throw new Error(EXPIRED);
        const polled = await poll(signal).catch((error: unknown) => {
          signal.throwIfAborted();
          failures += 1;
          if (failures >= MOST_FAILURES) throw error;
          return undefined;
        });
        if (polled === undefined) continue;
        const reply = Polled.safeParse(polled.body).data;
        if (reply === undefined) {
          failures += 1;
          if (failures < MOST_FAILURES) continue;
          throw new Error(`Cannot log in: ${github.web} answers HTTP ${polled.status}. Try again later.`);
        }
        failures = 0;
        if ("access_token" in reply) return reply.access_token;
        if (reply.error === "slow_down") interval = reply.interval ?? interval + 5;
        else if (reply.error !== "authorization_pending") throw new Error(ended(reply));
      }
    },
  };
}

const EXPIRED = `The code was not used in time. Run ${LOG_IN} again.`;

function ended(
  { error, error_description: words }: { error: string; error_description?: string | undefined },
) {
  if (error === "expired_token") return EXPIRED;
  if (error === "access_denied") return `The login was denied at GitHub. ${LOG_IN} asks again.`;
  return `Cannot log in: GitHub says ${oneLine(words ?? error, LONGEST_NAME).replace(/\.$/, "")}.`;
}
