/** What the ways to show a call are made of. */

/** How an answer shows a call. */
export type Frame = readonly [what: string, text: (call: string) => string];

export const oneLine = (call: string) => call.replace(/\s*\n\s*/g, " ");
export const prefixed = (call: string, prefix: string) => call.replace(/^/gm, () => prefix);
export const indented = (call: string, count: number) => prefixed(call, " ".repeat(count));
