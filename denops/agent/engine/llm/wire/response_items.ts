/** The items of an answer that is being streamed, and what was told of each. Pure. */

interface StreamedItem {
  readonly type: string;
  /** Undefined if the server numbers none. */
  readonly output: number | undefined;
  readonly ids: readonly string[];
  /** The pieces so far. */
  readonly told: string;
}

/** In the order in which they began. */
export type Items = readonly StreamedItem[];

export const NO_ITEMS: Items = [];

/** What an event says of the item that it speaks of. */
export interface Named {
  readonly type: "message" | "reasoning" | "function_call";
  readonly output: number | null | undefined;
  readonly ids: readonly (string | null | undefined)[];
}

export function begun(items: Items, { type, output, ids }: Named): Items {
  const known = ids.filter((id) => typeof id === "string" && id !== "");
  return [...items, { type, output: output ?? undefined, ids: known.map(String), told: "" }];
}

/** The item's index. Its number is surer than its id, which some services make anew for each event. */
export function found(items: Items, { type, output, ids }: Named): number | undefined {
  const at = items.findLastIndex((item) =>
    item.type === type &&
    (typeof output === "number" && item.output !== undefined
      ? item.output === output
      : item.ids.some((id) => ids.includes(id)))
  );
  return at < 0 ? undefined : at;
}

export function told(items: Items, index: number | undefined, piece: string): Items {
  return index === undefined
    ? items
    : items.map((item, at) => at === index ? { ...item, told: item.told + piece } : item);
}
