/** Unique ids of tool calls within a session. */

/**
 * Keeps the provider's id if it is unique: some providers send none, some number the calls of each answer from one.
 * @param isStored whether a call of the log has this id
 */
export function callIds(isStored: (id: string) => boolean): (id: string) => string {
  // Unstored answers were shown as well.
  const usedIds = new Set<string>();
  return (wanted) => {
    const id = wanted === "" || usedIds.has(wanted) || isStored(wanted) ? newId() : wanted;
    usedIds.add(id);
    return id;
  };
}

/** Nine letters and digits: the only form that Mistral accepts, and every provider accepts it. */
function newId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 9);
}
