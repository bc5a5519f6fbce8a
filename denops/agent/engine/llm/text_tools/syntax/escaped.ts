/** Marks that a server has sent as entities of HTML: `&lt;tool_call&gt;{&quot;name&quot;: …}&lt;/tool_call&gt;`. */
import { Cursor } from "../cursor.ts";
import { withoutEntities } from "../literal.ts";
import { functionTag } from "./function_tags.ts";
import { firstOf, type Syntax } from "./syntax.ts";
import { wrapped } from "./wrapped.ts";

const inside = firstOf([wrapped.read, functionTag]);

export const escaped: Syntax = {
  marks: () => ["&lt;tool_call&gt;", "&lt;function="],
  read(cursor, tools) {
    const begin = cursor.at;
    const isTagged = cursor.sees("&lt;tool_call&gt;");
    const close = isTagged ? "&lt;/tool_call&gt;" : "&lt;/function&gt;";
    const at = cursor.find(close);
    const end = at === -1 ? cursor.text.length : at + close.length;
    const calls = inside(new Cursor(withoutEntities(cursor.text.slice(begin, end))), tools);
    cursor.at = end;
    return calls;
  },
};
