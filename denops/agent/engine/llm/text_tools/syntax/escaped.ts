/** Marks that a server has escaped as HTML: `&lt;tool_call&gt;{&quot;name&quot;: …}&lt;/tool_call&gt;`. */
import { Cursor } from "../../../../shared/text/cursor.ts";
import { withoutEntities } from "../../../../shared/text/literal.ts";
import { functionTag } from "./function_tags.ts";
import { firstOf, type Syntax, unread } from "./syntax.ts";
import { inMarks } from "./wrapped.ts";

const inside = firstOf([inMarks, functionTag]);
const NAME =
  /(?:&quot;|["'])(?:name|tool)(?:&quot;|["'])\s*:\s*(?:&quot;|["'])([\w.:/-]+)|^&lt;function=([\w.:/-]+)/;
const HEAD = 300;

export const escaped: Syntax = {
  marks: () => ["&lt;tool_call&gt;", "&lt;function="],
  read(cursor, tools) {
    const begin = cursor.at;
    const [, object, tag] = NAME.exec(cursor.text.slice(begin, begin + HEAD)) ?? [];
    const name = object ?? tag;
    if (name === undefined) {
      // The rest may still arrive.
      if (cursor.text.length < begin + HEAD) cursor.metEnd = true;
      return undefined;
    }
    const close = tag === undefined ? "&lt;/tool_call&gt;" : "&lt;/function&gt;";
    const at = cursor.find(close);
    if (at === -1) return unread(cursor, tools, name, begin, []);
    cursor.at = at + close.length;
    return inside(new Cursor(withoutEntities(cursor.text.slice(begin, cursor.at))), tools);
  },
};
