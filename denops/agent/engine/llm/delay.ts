/** Waits; returns false as soon as the signal aborts. */
export function delay(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(true), milliseconds);
  const stop = () => {
    clearTimeout(timer);
    resolve(false);
  };
  signal.addEventListener("abort", stop, { once: true });
  return promise.finally(() => signal.removeEventListener("abort", stop));
}
