/** The items of an answer that is being streamed, and what was told of each. Pure. */

interface StreamedItem {
  /** Undefined if the server numbers none. */
  readonly output: number | undefined;
  readonly ids: readonly string[];
  readonly isCall: boolean;
  /** The pieces so far. */
  readonly told: string;
}

/** In the order in which they began. */
export type Items = readonly StreamedItem[];

export const NO_ITEMS: Items = [];

type Id = string | null | undefined;

export function begun(
  items: Items,
  isCall: boolean,
  output: number | null | undefined,
  ids: readonly Id[],
): Items {
  return [...items, {
    output: output ?? undefined,
    ids: ids.filter((id) => !!id).map(String),
    isCall,
    told: "",
  }];
}

/** The index of the item that an event speaks of; its number is surer than its id, which some services make anew. */
export function found(
  items: Items,
  output: number | null | undefined,
  ids: readonly Id[],
): number | undefined {
  const at = items.findLastIndex((item) =>
    typeof output === "number" && item.output !== undefined
      ? item.output === output
      : ids.some((id) => !!id && item.ids.includes(id))
  );
  return at < 0 ? undefined : at;
}

export function told(items: Items, index: number | undefined, piece: string): Items {
  return index === undefined
    ? items
    : items.map((item, at) => at === index ? { ...item, told: item.told + piece } : item);
}
