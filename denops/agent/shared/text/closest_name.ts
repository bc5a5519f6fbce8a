/** The name that a misspelt one means. Pure. */

/** Longer names are not compared. */
const LONGEST = 40;

/** The first of the closest names; undefined if none is similar. */
export function closestName(written: string, names: readonly string[]): string | undefined {
  if (written.length > LONGEST) return undefined;
  const most = Math.max(2, Math.floor(written.length / 3));
  const [best] = names
    .map((name) => ({ name, distance: distance(written.toLowerCase(), name.toLowerCase()) }))
    .filter((one) => one.distance <= most)
    .toSorted((a, b) => a.distance - b.distance);
  return best?.name;
}

/** Levenshtein's: the number of letters to change, add or remove. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
