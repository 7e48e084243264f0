/**
 * Phrases that order a model to ignore its instructions or to conceal something from the user, in the most frequent
 * languages of descriptions other than English. The list is short. A text that it does not match is still reported as
 * changed.
 */
import { lookupTable } from '../../common/lookup-table.ts'

/** Within one sentence, in any script. */
const NEAR = String.raw`[^.!?。！？]{0,60}?`
/** Word boundaries for letters outside ASCII, which \b does not support. */
const START = String.raw`(?<![\p{L}\p{N}_])`
const END = String.raw`(?![\p{L}\p{N}_])`

interface PhraseLanguage {
  /** Verbs of ignoring, the objects they take, and possessives, in the word order of the language. */
  readonly setAside: string
  /** Concealing from the user, or acting without the user's knowledge. */
  readonly conceal: string
}

function worded(verbs: string, nouns: string, whose: string): string {
  const noun = `${START}(?:${nouns})${END}`
  const owner = `${START}(?:${whose})`
  return `${START}(?:${verbs})${END}${NEAR}(?:${owner}${NEAR}${noun}|${noun}${NEAR}${owner})`
}

function hidden(negations: string, verbs: string, users: string): string {
  return `${START}(?:${negations})${NEAR}(?:${verbs})${NEAR}(?:${users})`
}

/** By language code (BCP 47). English is in the signs themselves. */
export const OVERRIDE_LANGUAGES: Readonly<Record<string, PhraseLanguage>> = lookupTable({
  ar: {
    setAside: String.raw`(?:تجاهل|تجاهلي|انس|انسَ|تغاض عن|لا تتبع).{0,20}(?:التعليمات|تعليمات|الأوامر|أوامر|القواعد|قواعد|الإرشادات).{0,20}(?:السابقة|سابقة|أعلاه|النظام|كلها)|(?:تجاهل|انس|لا تتبع).{0,6}(?:جميع|كل|كافة).{0,6}(?:التعليمات|الأوامر|القواعد|الإرشادات)`,
    conceal: String.raw`(?:لا|ولا|دون أن|بدون أن) ?(?:تخبر|تخبري|تبلغ|تذكر|تكشف|تعلم|تقل).{0,20}(?:المستخدم|مستخدم)|(?:دون|بدون) (?:علم|إخبار|إبلاغ|موافقة) (?:المستخدم)`,
  },
  de: {
    setAside: worded(
      String.raw`ignorier(?:e|en|t)|vergiss|vergessen|missachten?|missachte|überge(?:he|hen)`,
      'anweisungen|instruktionen|vorgaben|regeln|richtlinien|anleitungen',
      String.raw`vorherige|vorige|bisherige|frühere|obige|vorangehende|alle|sämtliche|deine|ihre|system`,
    ),
    conceal: [
      hidden(
        'ohne',
        String.raw`(?:be)?nutzer|anwender`,
        'zu (?:informieren|fragen|benachrichtigen|unterrichten)|wissen',
      ),
      hidden(
        String.raw`sage?|teile?|verrate?|informiere|erwähne?|zeige?|melde`,
        String.raw`(?:be)?nutzer|anwender`,
        String.raw`${START}(?:nicht|nichts|niemals)`,
      ),
    ].join('|'),
  },
  es: {
    setAside: worded(
      String.raw`ignor(?:a|e|en|ar)|olvid(?:a|e|en|ar)|descart(?:a|e|en|ar)|omit(?:e|a|an|ir)|haz caso omiso|haga caso omiso`,
      'instrucciones|instrucción|reglas|indicaciones|directrices|restricciones',
      'anterior|previ[ao]|tod[ao]s|sistema|tus',
    ),
    conceal: [
      hidden(
        'no',
        String.raw`dig[ao]|informes?|menciones?|reveles?|avises?|cuentes?|notifiques?`,
        String.raw`usuari[oa]`,
      ),
      hidden('sin', 'avisar|informar|decir|consultar|preguntar|notificar|que lo sepa', String.raw`usuari[oa]`),
    ].join('|'),
  },
  fr: {
    setAside: worded(
      String.raw`ignor(?:e|ez|er)|oubli(?:e|ez|er)|ne tien(?:s|t) (?:pas )?compte|ne tenez (?:pas )?compte|contourn(?:e|ez|er)`,
      'instructions?|consignes?|règles?|directives?|restrictions?',
      String.raw`précédente?s?|antérieure?s?|ci-dessus|toutes?|tes|vos|système`,
    ),
    conceal: [
      hidden(
        String.raw`ne|n['’]`,
        String.raw`di[st]|dites|informe|révèle|mentionne|préviens|prévenez|avertis|signale|parle`,
        String.raw`utilisat(?:eur|rice)`,
      ),
      hidden('sans', 'informer|prévenir|avertir|demander|dire|consulter', String.raw`utilisat(?:eur|rice)`),
    ].join('|'),
  },
  hi: {
    setAside: String.raw`(?:पिछले|पहले|पूर्व|सभी|सिस्टम|ऊपर).{0,20}(?:निर्देश|आदेश|नियम).{0,20}(?:अनदेखा|नज़रअंदाज़|नजरअंदाज|उपेक्षा|भूल)`,
    conceal: String.raw`(?:उपयोगकर्ता|यूज़र|यूजर).{0,20}(?:मत|न|नहीं) (?:बता|कह|दिखा|सूचित)|(?:उपयोगकर्ता|यूज़र|यूजर).{0,10}(?:बिना|की जानकारी के बिना)(?: बताए| पूछे)?`,
  },
  id: {
    setAside: worded(
      'abaikan|lupakan|hiraukan|kesampingkan',
      'instruksi|perintah|aturan|petunjuk|arahan|pedoman',
      'sebelumnya|terdahulu|di atas|semua|seluruh|sistem',
    ),
    conceal: [
      hidden('jangan|tidak boleh', 'beri ?tahu|katakan|sebutkan|ungkapkan|informasikan|kabari', 'pengguna'),
      hidden('tanpa', 'memberi ?tahu|sepengetahuan|izin|persetujuan|bertanya', 'pengguna'),
    ].join('|'),
  },
  it: {
    setAside: worded(
      String.raw`ignora(?:re|te)?|dimentica(?:re|te)?|trascura(?:re|te)?|non tenere conto`,
      'istruzioni|istruzione|regole|direttive|indicazioni',
      String.raw`precedent[ei]|tutt[ei]|sistema|tue|qui sopra`,
    ),
    conceal: [
      hidden('non', String.raw`di(?:re|rlo)|informare|rivelare|menzionare|avvisare|comunicare`, 'utent[ei]'),
      hidden('senza', 'informare|avvisare|chiedere|dire|consultare|notificare', 'utent[ei]'),
    ].join('|'),
  },
  ja: {
    setAside: String.raw`(?:以前|前|これまで|上記|すべて|全て|他|システム).{0,12}(?:指示|命令|ルール|規則|プロンプト).{0,6}(?:無視|忘れ|破棄)`,
    conceal: String.raw`(?:ユーザー?|利用者|使用者).{0,12}(?:伝え|知らせ|言わ|話さ|教え|明かさ|通知し|告げ).{0,4}(?:ない|ず|な[。！]?)|(?:ユーザー?|利用者).{0,6}(?:無断|内緒|知られず)`,
  },
  ko: {
    setAside: String.raw`(?:이전|앞선|앞의|위의|모든|시스템).{0,12}(?:지시|명령|지침|규칙|프롬프트).{0,8}(?:무시|잊)`,
    conceal: String.raw`(?:사용자|유저).{0,12}(?:알리|말하|공개하|통지하|언급하|보여주).{0,4}(?:마|말|않)|(?:사용자|유저).{0,6}(?:몰래|모르게)`,
  },
  nl: {
    setAside: worded(
      'negeer|vergeet|omzeil|sla',
      'instructies|aanwijzingen|opdrachten|regels|richtlijnen',
      'vorige|eerdere|voorgaande|bovenstaande|alle|systeem|jouw|je',
    ),
    conceal: [
      hidden('vertel|zeg|meld|onthul|informeer', 'gebruiker', String.raw`${START}(?:niets|niet|nooit)`),
      hidden('zonder', 'gebruiker', String.raw`te (?:informeren|vragen|waarschuwen|vertellen)|weten`),
      hidden('zonder', 'medeweten|toestemming', 'gebruiker'),
    ].join('|'),
  },
  pl: {
    setAside: worded(
      'zignoruj(?:cie)?|ignoruj(?:cie)?|zapomnij(?:cie)?|pomiń(?:cie)?',
      String.raw`instrukcj\p{L}*|poleceni\p{L}*|poleceń|zasad\p{L}*|reguł\p{L}*|wytyczn\p{L}*`,
      'poprzedni|wcześniejsz|powyższ|wszystki|wszelki|systemow|swo',
    ),
    conceal: [
      hidden('nie|nigdy nie', 'mów|powiadamiaj|informuj|ujawniaj|wspominaj|pokazuj|zdradzaj', String.raw`użytkownik`),
      hidden('bez', 'wiedzy|zgody|powiadamiania|informowania|pytania', String.raw`użytkownik`),
    ].join('|'),
  },
  pt: {
    setAside: worded(
      String.raw`ignor(?:a|e|em|ar)|esque(?:ça|çam|cer)|desconsider(?:a|e|em|ar)|descart(?:a|e|em|ar)`,
      'instruções|instrução|regras|orientações|diretrizes|restrições',
      String.raw`anterior|prévi[ao]|tod[ao]s|sistema|suas|tuas|acima`,
    ),
    conceal: [
      hidden(
        'não',
        String.raw`dig[ao]|conte|informe|revele|mencione|avise|notifique`,
        String.raw`usuári[oa]|utilizador`,
      ),
      hidden('sem', 'informar|avisar|dizer|perguntar|consultar|notificar', String.raw`usuári[oa]|utilizador`),
    ].join('|'),
  },
  ru: {
    setAside: worded(
      String.raw`игнорируй(?:те)?|проигнорируй(?:те)?|забудь(?:те)?|не учитывай(?:те)?|отбрось(?:те)?`,
      String.raw`инструкци\p{L}*|указани\p{L}*|правил\p{L}*|распоряжени\p{L}*|ограничени\p{L}*`,
      String.raw`предыдущ|прежн|прошл|ранн|вышеуказанн|все|системн|свои`,
    ),
    conceal: [
      hidden(
        'не|никогда не',
        String.raw`говори|сообщай|раскрывай|упоминай|рассказывай|показывай|уведомляй`,
        String.raw`пользовател`,
      ),
      hidden('без', 'ведома|согласия|уведомления|предупреждения|разрешения', 'пользовател'),
    ].join('|'),
  },
  tr: {
    setAside: String.raw`(?:önceki|yukarıdaki|tüm|bütün|sistem).{0,20}(?:talimat|komut|kural|yönerge)\p{L}{0,12}.{0,12}(?:yok say|görmezden gel|unut|dikkate alma|göz ardı et)`,
    conceal: String.raw`kullanıcı(?:ya|yı|nın|lara)?${END}.{0,20}(?:söyleme|bildirme|haber verme|gösterme|açıklama(?!s)|bahsetme|haberi olmadan|bilgisi olmadan|sormadan|onayı olmadan)`,
  },
  uk: {
    setAside: worded(
      'ігноруй(?:те)?|проігноруй(?:те)?|забудь(?:те)?|відкинь(?:те)?|не враховуй(?:те)?',
      String.raw`інструкц\p{L}*|вказівк\p{L}*|вказівок|правил\p{L}*|розпоряджен\p{L}*|обмежен\p{L}*`,
      'попередн|минул|раніш|вищезазначен|усі|всі|системн|свої',
    ),
    conceal: [
      hidden('не|ніколи не', 'кажи|говори|повідомляй|розкривай|згадуй|розповідай|показуй', 'користувач'),
      hidden('без', 'відома|згоди|повідомлення|попередження|дозволу', 'користувач'),
    ].join('|'),
  },
  vi: {
    setAside: worded(
      'bỏ qua|phớt lờ|quên(?: đi)?|không tuân theo',
      'hướng dẫn|chỉ dẫn|chỉ thị|lệnh|quy tắc',
      'trước|ở trên|mọi|tất cả|hệ thống',
    ),
    conceal: [
      hidden('không|đừng|không được', 'nói|cho biết|tiết lộ|thông báo|đề cập|báo', 'người dùng'),
      hidden('mà không', 'hỏi|báo|thông báo cho|cho', 'người dùng'),
    ].join('|'),
  },
  zh: {
    setAside: String.raw`(?:忽略|无视|無視|忽视|忽視|忘记|忘記|忘掉|不要理会|不用理会|绕过).{0,12}(?:之前|以前|先前|此前|上述|以上|前面|所有|全部|系统|系統|任何|你的).{0,12}(?:指令|指示|说明|說明|规则|規則|提示|要求|限制)`,
    conceal: String.raw`(?:不要|不得|不可|切勿|请勿|請勿|别|勿).{0,4}(?:告诉|告訴|告知|通知|透露|提及|提示|让|讓).{0,8}(?:用户|用戶|使用者)|(?:瞒着|不经|未经|無需告知|无需告知).{0,4}(?:用户|用戶|使用者)`,
  },
})

/** One pattern for each language and meaning. All are bounded, and none backtracks over more than a sentence. */
export const FOREIGN_OVERRIDES: readonly RegExp[] = Object.values(OVERRIDE_LANGUAGES).flatMap(
  ({ setAside, conceal }) => [new RegExp(setAside, 'iu'), new RegExp(conceal, 'iu')],
)
