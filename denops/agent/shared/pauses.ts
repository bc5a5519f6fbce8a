/** Pauses in long work. */

/** Yields to other work after this time. */
const SLICE_MS = 15;

/** Yields regularly: the screen and the model's stream must not wait for thousands of files. */
export function pauses(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await new Promise((resolve) => setTimeout(resolve));
    since = performance.now();
  };
}
