/** Characters that make a text look like another one. The one list of them. Pure. */

/**
 * What hides text, turns it around or is seen as nothing: everything that Unicode lets a screen ignore, line
 * separators, annotations and the empty braille cell. The joiner within one picture of several (👩‍💻) and what only
 * chooses a picture's form are none. Global: for `replaceAll`; {@link isDeceptive} tests.
 */
export const DECEPTIVE =
  /[[\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\ufff9-\ufffb]--[\u200d\ufe00-\ufe0f]]|(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f])\u200d/gv;

/** Control characters but for tab and line feed. Global, as {@link DECEPTIVE}. */
// deno-lint-ignore no-control-regex -- control characters are what is looked for
export const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/** True if what a text shows is not what it says. */
export function isDeceptive(text: string): boolean {
  return text.search(DECEPTIVE) >= 0 || text.search(CONTROLS) >= 0;
}
