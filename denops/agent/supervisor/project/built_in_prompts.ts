/** Built-in prompt templates, which files with the same names replace. */
import type { PromptTemplate } from "../../shared/user_files/prompt_file.ts";

/** The default without a selection. */
const MEANT = "The code that is meant is what is selected or named, else the function at the user's cursor.";

export const BUILT_IN_PROMPTS: readonly PromptTemplate[] = [
  {
    name: "explain",
    description: "Explain the code: what it does, how and why",
    hint: "[what]",
    text:
      `Explain code to somebody who will change it. ${MEANT} Say first in one sentence what it is for, then how ` +
      "it works and what is not obvious: assumptions, edge cases, who calls it. Name places as `path:line`. Change " +
      "nothing. $ARGUMENTS",
  },
  {
    name: "fix",
    description: "Fix what the diagnostics say",
    hint: "[what]",
    text:
      "Fix the problems that the diagnostics handed over name; where none are, look for those of the file at " +
      `the user's cursor. ${MEANT} Remove the cause with the smallest change, change nothing else, and look at the ` +
      "diagnostics again when you are done. $ARGUMENTS",
  },
  {
    name: "tests",
    description: "Write tests for the code",
    hint: "[what]",
    text:
      `Write tests for code. ${MEANT} Look first at how and where this project tests, and do likewise. Cover what ` +
      "callers rely on, edge cases and failures, not how it is done. Run them. $ARGUMENTS",
  },
  {
    name: "docs",
    description: "Document the code",
    hint: "[what]",
    text:
      `Write documentation comments for code, in the form that this project uses. ${MEANT} Say what a caller has ` +
      "to know: what it does, what goes in and out, units, errors. Do not repeat the code, and do not change it. " +
      "$ARGUMENTS",
  },
  {
    name: "commit",
    description: "Write a commit message for what is staged",
    hint: "[what]",
    text:
      "Write the commit message for the staged changes: a line of at most 72 characters that says what changes, " +
      "in the style of the log's latest messages, then, if it is needed, a blank line and why, wrapped at 72. " +
      "Answer with the message alone, without quotes and without a code block. $ARGUMENTS",
  },
];
