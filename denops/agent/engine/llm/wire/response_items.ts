/** The items of an answer that is being streamed, and what was told of each. Pure. */

interface StreamedItem {
  /** Of the answer's items, in the order in which they began. */
  readonly index: number;
  readonly type: string;
  /** Undefined if the server numbers none. */
  readonly output: number | undefined;
  readonly ids: readonly string[];
  /** The pieces so far. */
  readonly text: string;
  /** All of it was told. */
  readonly isWhole?: boolean;
}

const TYPES = ["message", "reasoning", "function_call", "custom_tool_call"] as const;
type ItemType = (typeof TYPES)[number];

/** Whether it is a kind of item that is read. */
export function isItemType(type: string): type is ItemType {
  return TYPES.some((one) => one === type);
}

/** The last of them: no more are under way at the same time. */
export type Items = readonly StreamedItem[];

const MOST = 100;

export const NO_ITEMS: Items = [];

/** What an event says of the item that it speaks of. */
export interface Named {
  readonly type: ItemType;
  readonly output: number | null | undefined;
  readonly ids: readonly (string | null | undefined)[];
}

export function begun(items: Items, { type, output, ids }: Named): Items {
  const known = ids.filter((id) => typeof id === "string" && id !== "");
  const index = (items.at(-1)?.index ?? -1) + 1;
  return [...items.slice(1 - MOST), {
    index,
    type,
    output: output ?? undefined,
    ids: known.map(String),
    text: "",
  }];
}

/** Its number is surer than its id, which some services make anew for each event. */
export function found(items: Items, { type, output, ids }: Named): StreamedItem | undefined {
  return items.findLast((item) =>
    item.type === type &&
    (typeof output === "number" && item.output !== undefined
      ? item.output === output
      : item.ids.some((id) => ids.includes(id)))
  );
}

export function withPiece(
  items: Items,
  item: StreamedItem | undefined,
  piece: string,
  isWhole = false,
): Items {
  return item === undefined
    ? items
    : items.map((one) => one === item ? { ...item, text: item.text + piece, isWhole } : one);
}
