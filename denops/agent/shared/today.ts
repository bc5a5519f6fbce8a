/** YYYY-MM-DD, of UTC. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}
