/** The items of a streaming answer, and what was sent of each. Pure. */

interface StreamedItem {
  /** Position among the answer's items. */
  readonly index: number;
  readonly type: string;
  /** Undefined if the server does not number items. */
  readonly output: number | undefined;
  readonly ids: readonly string[];
  /** The pieces received so far. */
  readonly text: string;
  /** The item was sent completely. */
  readonly isWhole?: boolean;
}

const TYPES = ["message", "reasoning", "function_call", "custom_tool_call"] as const;
type ItemType = (typeof TYPES)[number];

/** Whether this kind of item is read. */
export function isItemType(type: string): type is ItemType {
  return TYPES.some((one) => one === type);
}

/** The latest items; no more than these are active at the same time. */
export type Items = readonly StreamedItem[];

const MOST = 100;

export const NO_ITEMS: Items = [];

/** The item that an event refers to. */
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

/** The number is more reliable than the id, which some services change with each event. */
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
