/** Chooses the mode of a turn in mode auto with one small request. */
import * as z from "../../../deps/zod.ts";
import { narrowed } from "../../../protocol/modes.ts";
import { CHOSEN, type Mode, MODES } from "../../context/modes.ts";
import { wordsOf } from "../../log/entries.ts";
import type { UserMessage } from "../../log/events.ts";
import { defined } from "../../../shared/records.ts";
import type { Measured } from "./meter.ts";
import type { RunnerPorts } from "./runner.ts";
import { askSmall, jsonIn, type SmallQuestionPorts } from "../side/small_question.ts";

/** Characters of the message, and of the model's words before it, in the request. */
const MOST_TEXT = 4_000;
const MOST_BEFORE = 1_000;

const Intent = z.object({ mode: z.enum(["ask", "deep-explore", "agent"]) });

/** Chooses the mode and names it in the chat. */
export async function autoMode(
  message: UserMessage,
  { mode, meter, messages, emit }: RunnerPorts,
  { model, environment }: Pick<SmallQuestionPorts, "model" | "environment">,
  signal: AbortSignal,
): Promise<Mode> {
  const count = (measured: Measured) => meter.count(measured, MODES.intent, [], { model });
  const before = messages().findLast((one) => one.type === "assistant_message");
  // A model that is still loading would answer late.
  await model.prepare(signal);
  const row = await chooseMode(message, before?.text ?? "", { model, environment, count }, signal);
  emit({ type: "notice", severity: "info", text: `Mode auto chose ${row.name} for this message.` });
  // The message may limit the turn.
  return narrowed({ ...mode, ...row, ...defined({ model: mode.model }) });
}

/** An unclear answer chooses mode agent. @param before the model's last words */
async function chooseMode(
  message: UserMessage,
  before: string,
  ports: SmallQuestionPorts,
  signal: AbortSignal,
): Promise<Mode> {
  const earlier = before === "" ? "" : `<agent>\n${before.slice(-MOST_BEFORE)}\n</agent>\n`;
  const text = `${earlier}<user>\n${wordsOf(message).slice(0, MOST_TEXT)}\n</user>`;
  const reply = await askSmall(MODES.intent, text, ports, signal);
  const { mode } = Intent.safeParse(jsonIn(reply)).data ?? {};
  return { ...CHOSEN[mode ?? "agent"], ...mode === "agent" ? { isOrder: true } : {} };
}
