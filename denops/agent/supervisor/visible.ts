/** Text that comes from a model or a file, made safe for a screen: control characters are shown, not obeyed. */

/** Line breaks and tabs stay; other control characters become their pictures, U+2400 and on. */
export function visible(text: string): string {
  return text.replace(/\r\n?/g, "\n")
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (character) => {
      const code = character.charCodeAt(0);
      return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "\u2421" : "\u2426";
    });
}
