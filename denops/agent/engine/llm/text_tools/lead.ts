/**
 * Decides from the words before a call whether the model makes it or quotes it. Before a call that it makes,
 * a model says what it does now, or nothing. Before a quoted call it speaks of the call itself, of another
 * author or time, of a condition, or of not making it. In doubt, one more request asks the model to make or
 * omit the call.
 */
import { isOwnAction } from "./lead_languages.ts";

/** Characters before a call that are judged: some expressions cost the square of their text. */
const LONGEST = 1_000;

/** "unclear": the words introduce the call without an action of the model. */
export type Lead = "made" | "shown" | "unclear";

/** Only the last sentence counts. @param isLine whether the call begins on a later line */
export function leadOf(line: string, isLine = true): Lead {
  const sentence = lastSentence(line.slice(-LONGEST).replace(/`[^`]*`/g, "X"));
  const words = sentence.replace(/[\s:：*_>")\]]+$/u, "");
  if (/\b(?:e\.?g|i\.?e|ex)\.?$/i.test(words)) return "shown";
  const isClosed = /[.!?…。！？؟।]$/u.test(words);
  const lead = saidOf(words);
  if (lead !== undefined) return lead;
  if (EXAMPLE.test(words) || POINTING.test(words)) return "shown";
  if (/[?？؟]$/.test(words)) {
    return /\b(?:model|agent|assistant|call|would)\b/i.test(words) ? "unclear" : "made";
  }
  return isClosed || isNeutral(sentence, words, isLine) ? "made" : "unclear";
}

function lastSentence(line: string): string {
  const sentences = line.trim().split(/(?<=[.!?…])[)"*_]*\s+(?=[\p{Lu}\p{Lo}])|(?<=[。！？])/u);
  const statements = sentences.filter((sentence) => /[\p{L}\p{N}]/u.test(sentence.replace(INTERJECTION, "")));
  return (statements.at(-1) ?? sentences.at(-1) ?? "").trim();
}

/** Judges by the last clause that contains an action. */
function saidOf(sentence: string): Lead | undefined {
  if (/\bfor (?:example|instance)\b/i.test(sentence) || WAITING.test(sentence)) return "shown";
  const clauses = sentence.replace(MARKS, "").replace(
    /^((?:and )?(?:now|next|first|then|finally|last step))[,:]/i,
    "$1",
  )
    .split(CLAUSES);
  const isAbout = POINTING.test(sentence) || TELLING.test(sentence);
  const own = clauses.findLastIndex((clause, at) =>
    englishAction(clause) ??
      (isOwnAction(clause) || (!isAbout && isHeadless(clause) && clauses.slice(at + 1).every(isAside)))
  );
  if (own === -1) return undefined;
  const isLater = clauses.slice(own + 1).some((clause) => POINTING.test(clause) || EXAMPLE.test(clause));
  const isHypothetical = CONDITION.test(sentence) && !/\b(?:have|need|want) to\b/i.test(clauses[own] ?? "") &&
    !/\b(?:I|we) (?!will|would|can|could)[a-z]+/i.test(clauses[own] ?? "");
  return isLater || isHypothetical ? "shown" : "made";
}

/** Marks of a heading, a list, or a step. */
const MARKS = /^[\s#>*_+-]*(?:\d+[.)]\s+)?[*_]*(?:step \d+[*_]*[:.]?[*_]*\s*)?/i;
const CLAUSES =
  /[,;:—–，；：、،]\s*|\s-\s|\s(?:but|so|and so|therefore)\s(?=(?:first |then |now )?(?:i|we|let)\b)|\s(?:und|et|och|og|ve|и|та|і)\s/iu;

/** Words for an example that also occur in paths. */
const EXAMPLE = new RegExp(
  "(?<![\\w./-])(?:examples?|for instance|to illustrate|illustration|hypothetical\\w*|snippet|usage|template)(?![\\w./-]*\\w)|" +
    "beispiel|exempe?l|ejemplo|esempio|voorbeeld|przykład|například|például|esimerk|eksempel|" +
    "contoh|örne[kğ]|пример|приклад|παράδειγμα|例如|比如|示例|例子|例え|の例|예를 들|예시|ví dụ|مثال|" +
    "उदाहरण|לדוגמה|ตัวอย่าง",
  "iu",
);
/** Words that refer to the call as a thing. */
const POINTING = new RegExp(
  [
    String.raw`\b(?:such as|namely|as follows|like (?:this|so|these|that)|looks? like)$`,
    String
      .raw`\blooks? like[.!]?$|\b(?:below|following|follows)\b|\b(?:this|that|here)(?: is|['’]s| was) (?:what|how)\b|\b(?:was|is) this$`,
    String.raw`\b(?:would|could|can|might|may) (?:look|write|be)(?: \S+){0,2}$`,
    String
      .raw`\b(?:the|this|following) (?:format|syntax|call) (?:is|of .* is|would be)$|\b(?:this|following) (?:format|syntax)$`,
    String.raw`\b(?:sample|expected) (?:output|answer|call|response)`,
    String
      .raw`\b(?:must|do|should|don['’]t|won['’]t|will|never|refuse|not) ?(?:not |to )?(?:run|call|use|execute|write|send|make|do)(?: (?!the tests)\w+)?[.!]?$`,
    String.raw`^(?:note|notice|mind|observe|compare)\b(?! that)`,
    "sieht ?.* aus$|ressemble à ceci$|se ve así$|如下|以下是|下面是|像这样|次のよう|このよう|다음과 같|이렇게",
  ].join("|"),
  "iu",
);
/** The end of a sentence whose subject writes or contains the call. */
const TELLING =
  /\b(?:prints|yields|gives|returns|produces|reads|says|shows|emits|writes|sends|contains|looks|goes|becomes|outputs)$/i;
/** Phrases that wait for somebody's consent. */
const WAITING =
  /\b(?:your|their) (?:permission|approval|confirmation|consent|go-ahead|ok|okay)\b|\b(?:you|user|they) (?:confirms?|approves?|agrees?|says? (?:yes|so))\b|^(?:please )?(?:tell me|let me know|say|confirm|approve)\b/i;
const CONDITION =
  /^(?:if|once|when(?:ever)?|should|unless|suppos|imagin|assum|were|in case|as soon as|until|without|had i|provided|wenn|falls|sobald|si\s|quand|lorsque|cuando|se\s|quando|als\s(?:je|u|de|het|er)\s|zodra|jeśli|gdyby|pokud|если|когда|якщо|eğer|jika|kalau|nếu|如果|假如|假设|要是|もし|만약|إذا|لو\s|अगर|यदि)/iu;

/** Verbs for writing a call instead of doing something. */
const WRITE =
  /^(?:call|send|write|use|run|emit|issue|invoke|type|answer|reply|respond|output|produce|generate|make|do|say|put|submit|execute|pass|phrase|express|format)$/i;
/** Verbs after "I" or "we" that are not actions. */
const NO_WORK =
  /^(?:think|mean|guess|believe|suggest|recommend|propose|expect|remember|recall|understand|know|suppos\w*|assum\w*|imagin\w*|pretend|quote|paste|cite|illustrate|demonstrate|refuse|decline|avoid|leave|stop|wait|pause|never|not|no|once|previously|recently|earlier|usually|often|sometimes|always|normally|typically|cannot|\w+n['’]t|was|were|had|did|ran|wrote|sent|made|gave|got|took|said|saw|found|began|chose|meant|thought|put|(?!need|proceed|feed|embed|speed)\w{2,}ed)$/i;
const FIRST_PERSON =
  /(?<![\p{L}'’./-])(?<!\b(?:what|which|(?<!so |after |before )that|calls?|one|way|text|format|message) )(?:i|we)(?:['’](ll|m|re|ve|d))?\s+(?=\p{L})/giu;
/** Adverbs between "I" and its verb. */
const ADVERB =
  /^(?:now|first|then|just|only|also|again|next|already|still|simply|quickly|really|therefore|must)$/i;
const SHOWING =
  /\b(?:show|explain|describe|give|print|quote|write out|walk)\b.*\b(?:calls?|syntax|format|payload|notation|markup|invocation|json|xml)\b/i;

/** Phrases about calls in general. */
const ANY_CALL =
  /\ban? (?:[\w-]+ ){0,2}(?:calls?|answer|response|reply|payload)(?= (?:is|that|which|in|would|may|might|can|looks)\b|\W*$)/i;

/** Undefined if the clause has no English first person. */
function englishAction(clause: string): boolean | undefined {
  const text = clause.trim();
  if (SHOWING.test(text) || (ANY_CALL.test(text) && !/\bmak(?:e|ing)\b/i.test(text))) return false;
  if (
    /\blet(?:['’]s| us| me) (?:say|suppose|assume|imagine|pretend|quote|cite|paste|illustrate|demonstrate|walk)\b/i
      .test(text)
  ) return false;
  if (/\b(?:let me|let['’]?s|let us|allow me)\b/i.test(text)) return true;
  const verbs = [...text.matchAll(FIRST_PERSON)];
  if (verbs.length === 0) return undefined;
  return verbs.some(({ 0: { length }, 1: auxiliary, index }) => {
    const words = text.slice(index + length).toLowerCase().split(/[^\p{L}'’`-]+/u);
    return isNow(
      [auxiliary?.toLowerCase() ?? "", ...words].filter((word) => word !== "" && !ADVERB.test(word)),
    );
  });
}

/** Whether the words after "I" describe an action that happens now or next. */
function isNow(words: readonly string[]): boolean {
  const [first = "", second = "", third = ""] = words;
  switch (first) {
    case "ve":
      return false;
    case "ll":
    case "will":
    case "shall":
      return !NO_WORK.test(second);
    case "m":
    case "am":
    case "re":
    case "are":
      return /ing$|^(?:about|ready)$/.test(second);
    case "have":
      return second === "to";
    case "d":
    case "would":
    case "could":
    case "can":
    case "might":
    case "may":
    case "should":
      // "I would write" with little else refers to the written text.
      return second !== "have" && !NO_WORK.test(second) &&
        (!WRITE.test(second) ||
          (words.length > 4 && third !== "like" && !/^calls?$/.test(words.slice(2, 5).join(" "))));
    default:
      return !NO_WORK.test(first) && (second !== "" || !WRITE.test(first)) &&
        (second !== "that" || !/^(?:see|notice|find|note|say|hear)$/.test(first));
  }
}

const OPENING = [
  "sure|ok|okay|yes|right|alright|all right|great|good|perfect|of course|certainly|got it|understood|done|thanks|on it|" +
  "one moment|here we go|here goes",
  "(?:and )?(?:then|now|next|first|second|third|finally|lastly|also|additionally|after that|quick(?:ly)?|just|still|" +
  "last step|same (?:fix|change|edit)|one more(?= (?:file|change|place|thing|step|fix|edit|check|test)\\b))",
];
const INTERJECTION = new RegExp(`^(?:(?:${OPENING[0]})[,!.:]?\\s+|(?:${OPENING[1]})[,:]?(?:\\s+|$))*`, "i");
/** Actions in a title or in a note of the model to itself. */
const WORK =
  /^(?:add|fix|update|search|find|create|remove|delete|rename|replace|check|read|open|list|look|edit|move|change|refactor|install|verify|test|clean|apply|undo|revert|restore|rewrite|inspect|view|adjust|correct|drop|extend|implement)\s+(?!an?\s)\p{L}/iu;
const NO_GERUND =
  /^(?:nothing|something|anything|everything|during|according|following|warning|missing|resulting|corresponding|remaining|existing|string|thing|meaning|including|regarding|setting|king)\b/i;
/** Subjects of a caption. */
const THINGS =
  /\b(?:calls?|syntax|format|payload|notation|outputs?|responses?|answers?|requests?|messages?|prompts?|models?|agents?|assistant|bot|user|human|ai|system|you|they|he|she|it|versions?|variants?|ones?|this|these|that|is|are|was|were|would|should|looks|says?|writes?|emits?|sends?)\b/i;

/** An action without a subject: "Reading it now", "Next, the tests". */
function isHeadless(clause: string): boolean {
  const words = clause.replace(INTERJECTION, "");
  if (/^here(?:['’]s| is) (?:the|my) (?:function |tool )?call (?:to|for) (?!\w+ an? )/i.test(clause)) {
    return true;
  }
  if (/^(?:going|about|time|ready) to\b|^back to\b/i.test(words)) return true;
  if (/^next (?:is|are|up|comes)\b/i.test(clause)) return true;
  if (/^[a-z-]{2,}ing\b/i.test(words) && !NO_GERUND.test(words)) {
    const [, ...rest] = words.split(/\s+/);
    return !/\b(?:is|are|was|were|would|does|looks?|means|requires?)\b/i.test(words) &&
      !/^(?:calls?|outputs?|requests?|payload|message|answer|this \w)/i.test(rest.join(" "));
  }
  return (words !== clause || WORK.test(words)) && !THINGS.test(words);
}

/** Whether a clause has no subject of its own, so that the sentence's meaning does not change. */
function isAside(clause: string): boolean {
  return /^(?:as|to|since|because|which|before|and|then|now|again)\b|^\W*$/i.test(clause.trim());
}

const AGREEMENT =
  /^(?:sure|ok|okay|yes|right|alright|on it|one moment|here we go|done|got it|understood|once more|again|and then|then|next|now|(?:another|one more|next|second) (?:try|attempt))$/i;

/** Whether the words do not introduce anything. */
function isNeutral(sentence: string, words: string, isLine: boolean): boolean {
  if (!/[\p{L}\p{N}]/u.test(words) || AGREEMENT.test(words)) return true;
  const [step, label] = [/^\W*step \d+\b/i, /[:：]\W*$/];
  if (step.test(words)) return !THINGS.test(words.replace(step, ""));
  if (!isLine || label.test(sentence) || THINGS.test(words) || /^[\p{L}-]+: /u.test(words)) return false;
  if (/^\s*(?:[>|]|[-*+]\s|\d+[.)])/.test(sentence)) return true;
  return !/^\s*(?:#|\*\*|__)/.test(sentence) && !/\s/.test(words);
}
