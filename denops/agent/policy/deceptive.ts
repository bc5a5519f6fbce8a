/** The list of characters that disguise a text. Pure. */

/**
 * Characters that hide or reverse text, or are invisible: everything that Unicode allows a screen to ignore,
 * line separators, annotations and the empty braille cell. Excludes the joiner within one emoji (👩‍💻) and
 * variation selectors. Global: for `replaceAll`; {@link isDeceptive} tests.
 */
export const DECEPTIVE =
  /[[\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]--[\u200d\ufe00-\ufe0f]]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d/gv;

/** Control characters except tab and line feed. Global, as {@link DECEPTIVE}. */
// deno-lint-ignore no-control-regex -- control characters are what is looked for
export const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** Whether a text reads differently from what it contains. */
export function isDeceptive(text: string): boolean {
  return text.search(DECEPTIVE) >= 0 || text.search(CONTROLS) >= 0;
}
