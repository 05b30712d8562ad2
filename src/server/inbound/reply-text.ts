/**
 * Reads what a user has written in a reply: its text without the quoted mail, the signature and the lines that a mail
 * client adds (docs/specification/habit.md 5).
 *
 * The quoted mail is ours, so its own words mark it, whatever client and language quoted it. A signature is taken away
 * only where its form leaves no doubt: a line of the user that is lost is worse than a greeting that is stored.
 */
import { dayLabel, type Day } from '#domain/day/day.ts';
import { PROMPTS } from '#domain/habit/prompts.ts';
import { REMINDER_PROMPT } from '../habit/send-reminders.ts';
import { MAIL_END } from '../mail/email-template.ts';
import { answerBeginnings, REPLY_HINT } from '../mail/habit-emails.ts';

export type Quoted = {
  day: Day;
  /** The addresses in From and Reply-To of the quoted mail, in lower case. */
  addresses: readonly string[];
  /** The name of its sender; empty if it has none. */
  name: string;
};

/** The user who has written the reply. The address is in lower case, the name may be empty. */
export type Author = { address: string; name: string };

/**
 * How much of `REPLY_HINT` marks our mail: long enough that no sentence of a user begins with it, short enough that no
 * client wraps it.
 */
const MARKER_LENGTH = 30;

/** Further lines are ignored. */
const MAX_LINES = 5_000;

export function readOwnText(text: string, quoted: Quoted, author: Author): string {
  const lines = withoutPgp(text.replaceAll(/\r\n?/g, '\n'))
    .split('\n', MAX_LINES)
    .map((line) => (DELIMITER.test(line) ? '-- ' : line.trimEnd()));
  return withoutSignature(collapse(withoutQuotes(cutOurMail(lines, quoted), quoted)), author);
}

/** The delimiter of a signature (RFC 3676, section 4.3). */
const DELIMITER = /^--\s+$/;

const ARMOUR_HEADERS = String.raw`(?:[A-Za-z-]{1,40}: .*\n){0,9}`;
const SIGNED_TEXT = new RegExp(`^-----BEGIN PGP SIGNED MESSAGE-----\\n${ARMOUR_HEADERS}`, 'm');
/** Threat: many beginnings without an end. A block has no dash, so each is read only up to the next one. */
const ARMOUR = new RegExp(
  String.raw`^-----BEGIN PGP (?:SIGNATURE|MESSAGE)-----\n${ARMOUR_HEADERS}[\w+/=\s]*-----END PGP (?:SIGNATURE|MESSAGE)-----$`,
  'm',
);

/** Without the armour around a signed text, and without encrypted text, which nobody can read here. */
const withoutPgp = (text: string): string =>
  (SIGNED_TEXT.test(text) ? text.replace(SIGNED_TEXT, '').replaceAll(/^- (?=-)/gm, '') : text).replace(ARMOUR, '');

/**
 * Without quotation signs, emphasis signs, invisible characters and repeated spaces, because mail clients change them.
 */
const bare = (line: string): string =>
  line
    .replace(/^[>\s|]+/, '')
    .replaceAll(/[\u200B-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF*_]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/**
 * Removes our mail where a client quotes it without signs, as Outlook does. One of our sentences marks it, and it ends
 * with our last line; the user wrote the text below that line. Without our last line, the rest is removed.
 */
function cutOurMail(lines: readonly string[], quoted: Quoted): string[] {
  const isMarker = createMarkerTest(quoted.day);
  const at = lines.findIndex((line) => !isQuoted(line) && isMarker(bare(line)));
  if (at === -1) return [...lines];
  const end = lines.findLastIndex((line, index) => index > at && bare(line) === MAIL_END);
  const begin = findQuoteBegin(lines, at, quoted);
  return [...lines.slice(0, begin), '', ...(end === -1 ? [] : lines.slice(end + 1))];
}

function createMarkerTest(day: Day): (line: string) => boolean {
  const beginnings = [REPLY_HINT.slice(0, MARKER_LENGTH), ...answerBeginnings(day)];
  return (line) => beginnings.some((beginning) => line.startsWith(beginning));
}

const OUR_FIRST_LINES: ReadonlySet<string> = new Set([REMINDER_PROMPT, ...PROMPTS]);

/** Goes up from our first sentence over our title and prompt, and over what the client wrote above them. */
function findQuoteBegin(lines: readonly string[], marker: number, quoted: Quoted): number {
  const title = dayLabel(quoted.day);
  let begin = marker;
  for (let at = marker - 1; at >= 0; at -= 1) {
    const line = bare(lines[at]!);
    if (line === '') continue;
    if (!OUR_FIRST_LINES.has(line) && line !== title && line !== `Re: ${title}`) break;
    begin = at;
  }
  return findAttributionBegin(lines, begin, quoted);
}

/**
 * The most lines of an attribution or of a header block. Outlook writes such a block: "From: …", "Sent: …", in any
 * language.
 */
const MAX_HEADER_LINES = 8;
/**
 * The search for an attribution stops after this many blank lines above a quotation. Threat: without a limit, many
 * quotations, each below many blank lines, take quadratic time.
 */
const MAX_GAP_LINES = 20;
const RULE = /^[-_=*\u2014\s]{3,}$/;
/** A rule above a header block, which may have words in it: `-----Original Message-----`. */
const RULE_WITH_WORDS = /^[-_=*\u2014\s]{3,}(?:[^-_=*\u2014]{1,40}[-_=*\u2014\s]{3,})?$/;
const HEADER_LINE = /^\p{L}[\p{L} ]{0,20}\s?[:：]\s*\S/u;
/** A header block that has the name of the sender but no address needs this many lines from that name down. */
const MIN_HEADER_LINES = 3;
const WRAPPED_ATTRIBUTION = /\b\d{4}\b|\d{1,2}[:.]\d{2}/;

/**
 * Returns the index of the first line of the attribution above a quotation, or `quote` if there is none. No list of
 * languages is complete, so an attribution is recognised by our address, or a header block by our name.
 */
function findAttributionBegin(lines: readonly string[], quote: number, { addresses, name }: Quoted): number {
  let at = quote - 1;
  while (at >= 0 && quote - at <= MAX_GAP_LINES && bare(lines[at]!) === '') at -= 1;
  const paragraphEnd = at;
  const names = (line: string): boolean => addresses.some((address) => line.toLowerCase().includes(address));
  let first = -1;
  let headers = 0;
  for (; at >= 0 && paragraphEnd - at < MAX_HEADER_LINES && bare(lines[at]!) !== ''; at -= 1) {
    const line = bare(lines[at]!);
    const isHeader = HEADER_LINE.test(line);
    headers = isHeader ? headers + 1 : 0;
    const namesSender = name !== '' && isHeader && line.endsWith(name) && headers >= MIN_HEADER_LINES;
    if (names(line) || namesSender) first = at;
  }
  if (first === -1) return quote;
  // The date may stand above the sender: in a header, or in the first line of an attribution that a client has wrapped.
  const before = bare(lines[first - 1] ?? '');
  const isSameForm = HEADER_LINE.test(before) || !HEADER_LINE.test(bare(lines[first]!));
  if (isSameForm && WRAPPED_ATTRIBUTION.test(before)) first -= 1;
  let begin = first;
  const rule = HEADER_LINE.test(bare(lines[first]!)) ? RULE_WITH_WORDS : RULE;
  while (begin > 0 && (bare(lines[begin - 1]!) === '' || rule.test(lines[begin - 1]!))) begin -= 1;
  return begin;
}

const ENDS_WITH_COLON = /[:：]$/;
const isQuoted = (line: string): boolean => /^\s*>/.test(line);

/** Removes the lines that begin with a quotation sign, and the attribution above each block of them. */
function withoutQuotes(lines: readonly string[], quoted: Quoted): string[] {
  const kept: string[] = [];
  for (const [index, line] of lines.entries()) {
    if (!isQuoted(line)) {
      kept.push(line);
      continue;
    }
    if (index === 0 || !isQuoted(lines[index - 1]!)) {
      kept.splice(findAttributionBegin(kept, kept.length, quoted));
      // Thunderbird names the sender without an address.
      const last = findLastWords(kept);
      const attribution = last === -1 ? '' : bare(kept[last]!);
      if (quoted.name !== '' && attribution.includes(quoted.name) && ENDS_WITH_COLON.test(attribution))
        kept.splice(last);
    }
    if (kept.at(-1) !== '') kept.push('');
  }
  // If the user has deleted the quotation, its attribution is the end of the text.
  return kept.slice(0, findAttributionBegin(kept, kept.length, quoted));
}

/** The index of the last line with text right above a quotation; -1 if the lines above it are blank. */
function findLastWords(lines: readonly string[]): number {
  for (let at = lines.length - 1; at >= 0 && lines.length - at <= MAX_GAP_LINES; at -= 1)
    if (lines[at] !== '') return at;
  return -1;
}

const collapse = (lines: readonly string[]): string =>
  lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .replaceAll(/^\s+|\n\s*$/g, '');

/** With more lines below it, a delimiter begins no signature. A greeting may have fewer. */
const MAX_SIGNATURE_LINES = 10;
const MAX_CLOSING_LINES = 4;
const MAX_CLOSING_LENGTH = 60;

/**
 * "Sent from my iPhone" in the languages of mail programs. "Sent from the warehouse" begins so too: a signature also
 * names a `PROGRAM`.
 */
const SENT =
  /^(?:Sent (?:from|with|via|using)|Von (?:mein|Outlook)|Gesendet (?:mit|vo[nm])|Diese Nachricht wurde|Envoyé (?:de|à partir|avec|par|via)|Enviad[oa] (?:desde|do|a partir|con|com|pelo)|Inviato (?:da|con)|Verzonden|Verstuurd|Отправлено (?:с|из)|Надіслано з|Изпратено от|Στάλθηκε από|发自|發自|從我的|从我的|来自|Wysłan[eo] z|Skickat från|Sendt fra|Lähetetty|Odesláno z|Odoslané z|Trimis de pe|Küldve|Enviat des|Dikirim dari|Được gửi từ|ส่งจาก|أُ?رسلت من|تم الإرسال من|נשלח מ)|(?:から送信|에서 보냄|gönderildi)$/u;
const PROGRAM =
  /\b(?:iPhone|iPad|iPod|Android|Galaxy|Samsung|BlackBerry|Outlook|Windows|Yahoo|AOL|Mail|Proton(?:Mail)?|Tuta|Spark|Superhuman|Xiaomi|Huawei|Handy)\b|mobil|(?:smart|my |\d)phone|téléphone|telefon|teléfono|móvil|手机|手機/u;
const GET_OUTLOOK = /^.{2,25} Outlook .{1,6} (?:iOS|Android|Mac)\b/u;
const MAX_SENT_LENGTH = 80;
const ADDRESS_OF_PAGE = /[<([]?\s*https?:\S+\s*[>)\]]?/g;

const CLOSING =
  /^(?:(?:with )?(?:(?:best|kind|kindest|warm|warmest|many) )?regards|best wishes|all the best|cheers|(?:many )?thanks|thank you|(?:yours )?sincerely|mit (?:freundlichen|besten|vielen|lieben|herzlichen) grü(?:ß|ss)en|(?:viele|liebe|beste|freundliche|herzliche|schöne) grü(?:ß|ss)e|mfg|(?:bien )?cordialement|bien à vous|bonne (?:journée|soirée)|saludos(?: cordiales)?|un saludo|(?:cordiali|distinti) saluti|saluti|atenciosamente|abraços?|(?:met vriendelijke )?groet(?:en)?|med venlig hilsen|(?:med )?vänliga hälsningar|hilsen|pozdrawiam|с уважением|よろしくお願い(?:いた|致)?します)[\s,.!。]*$/iu;

/** The name below a greeting: one word, or some with capitals. */
const NAME =
  /^(?:\p{L}[\p{L}.'’-]*|[\p{Lu}\p{Lo}][\p{L}.'’-]*(?: (?:[\p{Lu}\p{Lo}][\p{L}.'’-]*|van|von|de|da|del|di|der|den)){1,4})$/u;

/** A notice of confidentiality, as companies append it to mails. */
const DISCLAIMER =
  /^(?=\W*(?:this|the|diese|der|ce|cette?|les|este?|esta|el|la|quest[oa]|il|le|dit|deze|de|confidential(?:ity)?)\b)(?=.*(?:confidential|vertraulich|confidentiel|confidencial|riservat|vertrouwelijk))(?=.*(?:recipient|addressee|solely|empfänger|adressat|destinat|geadresseerde)).{60}/iu;

function isSentFrom(line: string): boolean {
  const words = line.replaceAll(ADDRESS_OF_PAGE, '').trim();
  // Only a user writes a colon: "Sent from Windows to Linux: the build server".
  if (words.length > MAX_SENT_LENGTH || /[:：]/.test(words)) return false;
  return (SENT.test(words) && PROGRAM.test(words)) || GET_OUTLOOK.test(words);
}

const MIN_NAME_LENGTH = 3;
const MAX_CONTACT_LENGTH = 100;
/**
 * A telephone number, an address of mail or a page, alone or behind a label: "T", "Tel.:". "Called 0441 234567" is
 * none.
 */
const CONTACT =
  /^(?:\p{L}{1,3}\s|\p{L}[\p{L} ]{0,15}[.:]{1,2}\s?)?(?:\+?\(?\d[\d ()/.-]{6,}|\S+@\S+\.\S+|https?:\S+|www\.\S+)$/u;

const isContact = (line: string): boolean => line.length <= MAX_CONTACT_LENGTH && CONTACT.test(line);

/**
 * Many programs cut the space of the delimiter, and `--` may be a rule that the user has typed. It begins a signature
 * if nothing follows, or if the line after it has the author's name or address, or is a full name and a contact
 * follows.
 */
function isSignatureBlock(lines: readonly string[], { address, name }: Author): boolean {
  const [first = ''] = lines;
  const line = first.toLowerCase();
  const names = `${name} ${address.replace(/@.*/, '')}`.toLowerCase();
  const words = line.split(/[^\p{L}]+/u).filter((word) => word.length >= MIN_NAME_LENGTH);
  return (
    lines.length === 0 ||
    line.includes(address) ||
    (name !== '' && line.startsWith(name.toLowerCase()) && !/^[ ,]*\p{Ll}/u.test(first.slice(name.length))) ||
    (/^[\p{Lu}\p{Lo}]/u.test(first) &&
      NAME.test(first) &&
      (words.some((word) => names.includes(word)) || (first.includes(' ') && lines.some(isContact))))
  );
}

function withoutSignature(text: string, author: Author): string {
  const lines = text.split('\n');
  let end = lines.length;
  /** The lines with text between `at` and `end`, the last one first. */
  let below: string[] = [];
  for (let at = end - 1; at >= 0 && below.length <= MAX_SIGNATURE_LINES; at -= 1) {
    const line = bare(lines[at]!);
    const above = at === 0 ? null : bare(lines[at - 1]!);
    const isLast = below.length === 0;
    const isSignature =
      lines[at] === '-- ' ||
      (line === '--' && isSignatureBlock(below.toReversed(), author)) ||
      (isLast && (line === '' || RULE.test(line) || DISCLAIMER.test(line))) ||
      (isLast && (above === null || above === '' || above === '--') && isSentFrom(line)) ||
      // The default signature of Foxmail is the user's address.
      (isLast && line.toLowerCase() === author.address) ||
      (above === '' &&
        below.length <= MAX_CLOSING_LINES &&
        below.every(({ length }) => length <= MAX_CLOSING_LENGTH) &&
        NAME.test(below.at(-1) ?? 'none') &&
        CLOSING.test(line));
    if (isSignature) {
      end = at;
      below = [];
    } else if (line !== '') below.push(line);
  }
  return lines.slice(0, end).join('\n').trim();
}
