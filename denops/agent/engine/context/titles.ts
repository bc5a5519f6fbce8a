/** The whole prompt of a request for a title. */
export const TITLES = "You give sessions with a coding agent their titles. Answer with the title alone: " +
  "one line of at most eight words in the language of the user's messages, without quotes and without a full stop.";
