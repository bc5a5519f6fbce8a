/**
 * Words of other languages for the model's own action now or next, and words in the same clause that
 * contradict it.
 */

type Pattern = (clause: string) => boolean;

interface Language {
  readonly own: Pattern;
  readonly not: Pattern;
}

/** Whole words; `\b` knows only English letters. */
const word = (...alternatives: readonly string[]) => `(?<!\\p{L})(?:${alternatives.join("|")})(?!\\p{L})`;
/** Compiled when first needed: most sessions need none. */
const any = (...parts: readonly string[]): Pattern => {
  let expression: RegExp | undefined;
  return (clause) => (expression ??= new RegExp(parts.join("|"), "iu")).test(clause);
};
const at = (words: string) => `^\\s*${word(words)}`;

const MODELS = "model\\p{L}*|modèle\\p{L}*|agent\\p{L}*|assist\\p{L}*";
const CALLED =
  "muestro|mostr[oa]|explico|cito|spiego|llamadas?|chamadas?|chiamat[ae]|ecco|com[eo] s[ie]|cómo se";
/** A verb that ends in -o with its object: Spanish, Portuguese, Italian. */
const VERB_IN_O = (objects: string) =>
  `^\\s*(?:\\p{L}+\\s+)?(?!(?:est|es|quest|ist|com|tod)o\\s)\\p{L}{2,}o\\s+(?:\\p{L}+\\s+)?(?:${objects})(?!\\p{L})`;

const LANGUAGES: readonly Language[] = [
  { // German
    own: any(
      word("ich|wir", "lass(?:t|en sie)? (?:mich|uns)", "jetzt|nun"),
      at("zuerst|zunächst|als nächstes|schritt \\d+"),
    ),
    not: any(
      word(
        "habe?|haben|hatten?|hätten?|würden?|könnten?|war|waren|wurden?|nicht|nie|niemals|kein\\p{L}*|man|wie(?! gewünscht| gebeten| verlangt| besprochen)|zeige|erkläre|nenne|zitiere",
        MODELS,
        "ich (?!möchte|sollte|müsste)\\p{L}+te",
      ),
    ),
  },
  { // French
    own: any(
      word("je", "laisse[zs]?[- ](?:moi|nous)", "voyons|commençons|regardons"),
      "(?<!\\p{L})j['’]",
      word("maintenant"),
      at("d['’]abord|ensuite|étape \\d+"),
    ),
    not: any(
      word(
        "j['’](?:ai|avais|aurais|étais)",
        "je (?:n['’]|ne ).*",
        "\\p{L}+rais",
        "\\p{L}+rait",
        "montre|explique|cite|appelle",
        "modèle\\p{L}*",
      ),
      "\\bje n['’]",
    ),
  },
  { // Spanish
    own: any(
      word(
        "ahora|voy a|vamos a|déjame|dejame|permíteme|estoy|necesito|quiero|debo|tengo que|puedo",
        "\\p{L}{2,}(?:ar|er|ir)é",
      ),
      VERB_IN_O("el|la|los|las|su|sus|lo|primero|ahora|si|qué|cómo|x"),
    ),
    not: any(word("no|habría|hubiera|había|he", "\\p{L}+ría", CALLED, "ejecuté|usé|escribí")),
  },
  { // Portuguese
    own: any(
      word("agora|vou|vamos|deixe-me|deixa eu|preciso|quero|estou|devo|posso", "\\p{L}{2,}(?:ar|er|ir)ei"),
      VERB_IN_O("o|a|os|as|primeiro|agora|se"),
    ),
    not: any(word("não|nunca|tinha|teria", "\\p{L}+ria", CALLED, "modelo (?:\\p{L}+ )?\\p{L}+e")),
  },
  { // Italian
    own: any(
      word(
        "ora|sto \\p{L}+ndo|devo|voglio|posso|fammi|lasciami|vediamo|andiamo|procedo|vado",
        "\\p{L}{2,}(?:er|ir)ò",
      ),
      VERB_IN_O("il|lo|la|i|gli|le|prima|ora|subito|se"),
    ),
    not: any(word("non|ho|avevo|avrei", "\\p{L}+rei", CALLED, "modello", "così")),
  },
  { // Dutch
    own: any(word("ik", "laat (?:me|mij)", "laten we"), word("nu"), at("eerst|daarna|stap \\d+")),
    not: any(word("heb|had|zou|zouden|niet|nooit|geen|toon|zien hoe", MODELS)),
  },
  { // Swedish, Norwegian, Danish
    own: any(word("jag|jeg", "låt mig|la meg|lad mig"), word("nu|nå"), at("först|først|steg \\d+|trin \\d+")),
    not: any(
      word(
        "har|hade|hadde|havde|skulle|ville|inte|ikke|aldrig|aldri|visar|viser|förklarar|forklarer",
        MODELS,
      ),
    ),
  },
  { // Polish
    own: any(
      word("\\p{L}{2,}ę", "\\p{L}{2,}(?:i|w|cz|k|dz|ż|yt|yn)am", "teraz"),
      at("najpierw|następnie|krok \\d+"),
    ),
    not: any(
      word(
        "\\p{L}+(?:łem|łam|łbym|łabym|łby|łoby|łaby)",
        "nie|tak|jak|poka\\p{L}+|wyjaśni\\p{L}+|wywołani\\p{L}*",
        MODELS,
      ),
    ),
  },
  { // Czech, Slovak
    own: any(
      at("teď|nyní|nejprve|nejdřív|najprv|teraz|krok \\d+"),
      word("podívám|pozriem|přečtu|prečítam|zkontroluji|smažu|otevřu|musím|chci|chcem|potřebuji|budu|budem"),
    ),
    not: any(word("bych|by|jsem|som|takto|volání|volanie", MODELS)),
  },
  { // Russian, Ukrainian
    own: any(
      word(
        "я|давай(?:те)?|сейчас|сначала|теперь|нужно|надо|зараз|спочатку|тепер|потрібно|треба|шаг \\d+|крок \\d+",
        "\\p{L}{2,}(?:ю|юсь|жу|чу|шу|щу|ну|ду|му)",
      ),
    ),
    not: any(
      word(
        "не|покаж\\p{L}+|показыва\\p{L}+|объясн\\p{L}+|поясн\\p{L}+|как|як|бы|би|б|ранее|раньше|раніше|так|вызов\\p{L}*|виклик\\p{L}*|модел\\p{L}*|агент\\p{L}*|ассистент\\p{L}*|асистент\\p{L}*",
        "я (?:\\p{L}+ )?\\p{L}+(?:л|ла|лся|лась|в)",
      ),
    ),
  },
  { // Turkish
    own: any(
      "\\p{L}(?:yorum|yoruz|acağım|eceğim|acağız|eceğiz|ayım|eyim|alım|elim|lıyım|liyim)(?!\\p{L})",
      "\\p{L}{2,}[aeıiuü]r[ıiuü]m(?!\\p{L})",
      at("önce|şimdi|ilk olarak|adım \\d+"),
    ),
    not: any(
      "\\p{L}(?:d[ıiuü]m|t[ıiuü]m|rd[ıiuü]|m[ıiuü]yorum|mayacağım|meyeceğim)(?!\\p{L})",
      word("göster\\p{L}+|açıkla\\p{L}+|nasıl|şöyle|böyle|çağrı\\p{L}*", MODELS),
    ),
  },
  { // Indonesian
    own: any(word("saya|aku|mari|kita|biar|biarkan"), at("sekarang|pertama|langkah \\d+")),
    not: any(word("telah|sudah|tadi|tidak|jangan|tunjukkan|jelaskan|pemanggilan\\p{L}*|panggilan", MODELS)),
  },
  { // Vietnamese
    own: any(word("tôi|chúng ta|hãy để"), at("bây giờ|đầu tiên|trước tiên|bước \\d+")),
    not: any(word("đã|cho bạn xem|giải thích|không|đừng|mô hình|như sau|như thế này|lời gọi")),
  },
  { // Chinese
    own: any("我|让我|讓我|首先|现在|現在|接下来|接下來|先|正在|第[一二三四五\\d]+步|下一步|继续|開始|开始"),
    not: any(
      "我(?:们|們)?(?:之前|刚|已|曾|不|没|沒|上次|以前|当时)|过$|给你看|展示|演示|解释|刚才|模型|助手|不要|不会|不應|如果|假如|假设|请勿|别|格式|样|样子|会(?:输出|写|发|是)|的调用|调用(?:看|是|为)|你|您|用户",
    ),
  },
  { // Japanese
    own: any("(?:ます|ましょう|みる|する|たい|中です|ところ)$", "^(?:まず|次に|今から|これから|では)"),
    not: any(
      "示し|見せ|説明|書き方|送りました|モデル|よう[にな]|こう|呼び出し|ません|ないで|ました|でしょう|出力|ください|あなた|形式|場合|なら",
    ),
  },
  { // Korean
    own: any(
      "겠(?:습니다|어요)|게요$|(?:합|봅|듭|엽|찾습|읽습)니다$|하자$|봅시다|중입니다|^(?:먼저|이제|다음으로|지금)",
    ),
    not: any(
      "보여|설명|같습니다|다음과|이렇게|모델|출력|호출|마세요|않|[했었았였]습니다|형식|됩니다|당신|만약",
    ),
  },
  { // Arabic
    own: any(
      "(?<!\\p{L})(?:س[أن]\\p{L}+|سوف|دعني|دعنا|الآن|أول)",
      "(?<!\\p{L})أ(?:قرأ|حذف|فتح|بحث|تحقق|راجع)",
    ),
    not: any("أوضح|أعرض|هكذا|كما يلي|النموذج|(?<!\\p{L})(?:لا|لن|لم|لو|إذا)(?!\\p{L})|استدعاء"),
  },
  { // Hindi
    own: any("मैं(?!ने)|हम(?!ने)|^अब|^पहले|आइए|चलिए|मुझे"),
    not: any("दिखा|समझा|इस तरह|ऐसे|मॉडल|नहीं|मत|था|थी|कॉल"),
  },
  { // Greek, Hebrew, Thai, Persian
    own: any(
      "(?<!\\p{L})(?:θα|ας|τώρα|πρώτα)(?!\\p{L})|אני|בוא|עכשיו|קודם|(?:ฉัน|ผม)(?:จะ)|ขอ|ตอนนี้|(?<!\\p{L})(?:اکنون|ابتدا|حالا)",
    ),
    not: any("μοντέλο|έτσι|δεν|μην|κλήση|מודל|כך|לא |הייתי|קריאה|โมเดล|แบบนี้|ดังนี้|ไม่|อย่า|مدل|فراخوانی|اینگونه"),
  },
  { // Finnish, Hungarian, Romanian
    own: any(
      word(
        "luen|katson|tarkistan|poistan|avaan|etsin|megnézem|elolvasom|törlöm|nézzük|voi|citesc|verific|șterg",
      ),
      at("ensin|nyt|seuraavaksi|most|először|acum|mai întâi"),
    ),
    not: any(word("malli|en|kutsu|näin|modell|így|nem|volna|hívás|modelul|astfel|nu|ar|apelul")),
  },
];

/** Whether a clause describes the model's own action in one of these languages. */
export function isOwnAction(clause: string): boolean {
  return LANGUAGES.some(({ own, not }) => own(clause) && !not(clause));
}
