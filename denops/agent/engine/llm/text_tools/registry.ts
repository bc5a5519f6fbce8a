/** The syntaxes of calls in text, the most specific first. To add one, add a file and a line here. */
import { action } from "./syntax/action.ts";
import { bare } from "./syntax/bare.ts";
import { toolTags } from "./syntax/child_tags.ts";
import { deepseek } from "./syntax/deepseek.ts";
import { escaped } from "./syntax/escaped.ts";
import { fenced } from "./syntax/fenced.ts";
import { functionTags } from "./syntax/function_tags.ts";
import { headed } from "./syntax/headed.ts";
import { harmony } from "./syntax/harmony.ts";
import { invokeTags } from "./syntax/invoke_tags.ts";
import { kimiK2 } from "./syntax/kimi_k2.ts";
import { kimiK3 } from "./syntax/kimi_k3.ts";
import { minimaxM3 } from "./syntax/minimax_m3.ts";
import { bareName, functionary } from "./syntax/name_object.ts";
import { bareCall } from "./syntax/pythonic.ts";
import type { Syntax } from "./syntax/syntax.ts";
import { wrapped } from "./syntax/wrapped.ts";

const SYNTAXES: readonly Syntax[] = [
  harmony,
  headed,
  kimiK3,
  kimiK2,
  deepseek,
  minimaxM3,
  ...invokeTags,
  functionTags,
  ...wrapped,
  toolTags,
  escaped,
  action,
  fenced,
  functionary,
  bareName,
  bareCall,
  bare,
];

/** Families that use only the generic marks. */
const PLAIN = /qwen|qwq|glm|hermes|claude|gpt-[45]|gemini|grok|exaone|ernie|smollm/i;

/** The syntaxes that a model may use; all of them for an unknown model. */
export function syntaxesOf(model: string): readonly Syntax[] {
  const isKnown = PLAIN.test(model) || SYNTAXES.some(({ models }) => models?.test(model));
  return SYNTAXES.filter(({ models }) => !isKnown || models === undefined || models.test(model));
}
