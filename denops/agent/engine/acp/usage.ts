/** Sends the usage of requests to the screen. */
import { PRICES_DATE } from "../../models/prices.ts";
import type { Answers } from "./requests.ts";
import type { UsageLog } from "../ports/usage.ts";

export function usageAnswers(log: UsageLog): Answers {
  return {
    usage: ({ sessionId }) => Promise.resolve({ pricesOf: PRICES_DATE, ...log.report(sessionId) }),
    code_used({ sessionId, turn, use }) {
      log.used(sessionId, turn, use);
      return Promise.resolve({});
    },
  };
}
