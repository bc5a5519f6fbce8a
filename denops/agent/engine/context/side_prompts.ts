/** The complete prompt of each side request. */

export const TITLES = "You give sessions with a coding agent their titles. Answer with the title alone: " +
  "one line of at most eight words in the language of the user's messages, without quotes and without a full stop.";

export const EDIT =
  "You change lines of a file in place. You get the file around them and what is wanted. Answer with " +
  "one code block: the lines that replace the selected ones, complete, with their indentation, and " +
  "nothing of what is before or after them. No explanation. An empty block deletes the lines.";

export const INTENT =
  'You choose the mode for a message to a coding agent. Answer with JSON alone: {"mode": NAME}.\n' +
  '- "ask": a question that a few look-ups answer, a greeting, thanks, or plain talk.\n' +
  '- "deep-explore": explain or analyse how a large part of the code works.\n' +
  '- "agent": change or create something, run a program that does, continue such work, or anything unclear.';

export const CLAIM =
  "You read the end of a coding agent's turn: the user's message and the agent's answer. " +
  'Answer with JSON alone: {"claims_change": true | false}. true: the answer says that the agent has just changed, ' +
  "created or deleted something for this message. false: it explains, asks, plans, refuses, shows code, or tells of " +
  "earlier work.";
