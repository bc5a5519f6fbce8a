/** Ids of tool calls: one for each call of a session's log. */

/**
 * Keeps the provider's id where no other call has it: some providers give none, and some number the calls of each
 * answer from one.
 * @param isStored tells whether a call of the log has this id
 */
export function callIds(isStored: (id: string) => boolean): (id: string) => string {
  // Answers that are not stored were shown all the same.
  const usedIds = new Set<string>();
  return (wanted) => {
    const id = wanted === "" || usedIds.has(wanted) || isStored(wanted) ? newId() : wanted;
    usedIds.add(id);
    return id;
  };
}

/** Nine letters and digits: Mistral takes no other, and every provider takes these. */
function newId(): string {
  return crypto.randomUUID().replaceAll("-", "").slice(0, 9);
}
