/** Every syntax of calls in text, the most specific first: another one is one file and one line here. */
import { action } from "./syntax/action.ts";
import { bare } from "./syntax/bare.ts";
import { toolTags } from "./syntax/child_tags.ts";
import { deepseek } from "./syntax/deepseek.ts";
import { escaped } from "./syntax/escaped.ts";
import { functionTags } from "./syntax/function_tags.ts";
import { harmony } from "./syntax/harmony.ts";
import { invokeTags } from "./syntax/invoke_tags.ts";
import { kimiK2 } from "./syntax/kimi_k2.ts";
import { kimiK3 } from "./syntax/kimi_k3.ts";
import { minimaxM3 } from "./syntax/minimax_m3.ts";
import { bareName } from "./syntax/name_object.ts";
import { bareCall } from "./syntax/pythonic.ts";
import type { Syntax } from "./syntax/syntax.ts";
import { wrapped } from "./syntax/wrapped.ts";

export const SYNTAXES: readonly Syntax[] = [
  harmony,
  kimiK3,
  kimiK2,
  deepseek,
  minimaxM3,
  invokeTags,
  functionTags,
  wrapped,
  toolTags,
  escaped,
  action,
  bareName,
  bareCall,
  bare,
];
