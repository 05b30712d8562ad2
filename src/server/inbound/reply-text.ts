/**
 * What a user has written in a reply: its text without the quoted mail, the signature and the lines that a mail client adds
 * (docs/specification/habit.md 5).
 *
 * The quoted mail is ours, so its own words mark it, whatever client and language quoted it. `email-reply-parser` knows
 * the rest: the lines "On … wrote:" of many languages and the signatures of mail programs.
 */
import EmailReplyParser from 'email-reply-parser';
import { dayLabel, type Day } from '#domain/day/day.ts';
import { PROMPTS } from '#domain/habit/prompts.ts';
import { REMINDER_PROMPT } from '../habit/send-reminders.ts';
import { MAIL_END } from '../mail/email-template.ts';
import { answerBeginnings, REPLY_HINT } from '../mail/habit-emails.ts';

export type Quoted = {
  day: Day;
  /** The addresses that the quoted mail was sent from and is answered to, in lower case. */
  addresses: readonly string[];
};

/** Long enough that no own sentence begins with it, short enough that no client wraps it. */
const MARKER_LENGTH = 30;

/** More than a reply of the largest size with what it quotes. */
const MAX_LINES = 5_000;

export function readOwnText(text: string, quoted: Quoted): string {
  const lines = text
    .replaceAll(/\r\n?/g, '\n')
    .split('\n', MAX_LINES)
    .map((line) => line.trimEnd());
  return withoutSignature(collapse(withoutQuotes(cutOurMail(lines, quoted), quoted)));
}

/** Without quotation signs, invisible characters and spaces, as clients change them. */
const bare = (line: string): string =>
  line
    .replace(/^[>\s|]+/, '')
    .replaceAll(/[\u200B-\u200F\u202A-\u202E\u2060\u2066-\u2069\uFEFF*_]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();

/**
 * Removes our mail where a client quotes it without signs, as Outlook does. It begins with one of our sentences and ends with
 * our last line; what follows was written below it.
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

/** Lines of a header block that Outlook writes: "From: …", "Sent: …", in any language. */
const MAX_HEADER_LINES = 8;
/** Blank lines that a client puts between it and the quotation. Threat: a mail of quotations with all lines blank above each. */
const MAX_GAP_LINES = 20;
const SEPARATOR = /^[-_=*\u2014\s]{3,}$/;
const WRAPPED_ATTRIBUTION = /\b\d{4}\b|\d{1,2}[:.]\d{2}/;

/**
 * The line "On … wrote:" and a block of headers name our address. No list of languages is complete; the address is the same in
 * all.
 */
function findAttributionBegin(lines: readonly string[], quote: number, { addresses }: Quoted): number {
  let at = quote - 1;
  while (at >= 0 && quote - at <= MAX_GAP_LINES && bare(lines[at]!) === '') at -= 1;
  const paragraphEnd = at;
  const names = (line: string): boolean => addresses.some((address) => line.toLowerCase().includes(address));
  let first = -1;
  for (; at >= 0 && paragraphEnd - at < MAX_HEADER_LINES && bare(lines[at]!) !== ''; at -= 1) {
    if (names(lines[at]!)) first = at;
  }
  if (first === -1) return quote;
  // A client wraps a long attribution: its first line has the date.
  const before = lines[first - 1];
  if (before !== undefined && !/^\p{L}+\s?[:：]/u.test(lines[first]!) && WRAPPED_ATTRIBUTION.test(before)) first -= 1;
  let begin = first;
  while (begin > 0 && (bare(lines[begin - 1]!) === '' || SEPARATOR.test(lines[begin - 1]!))) begin -= 1;
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
      // Thunderbird names no address.
      const last = findLastWords(kept);
      if (last !== -1 && ENDS_WITH_COLON.test(bare(kept[last]!))) kept.splice(last);
    }
    if (kept.at(-1) !== '') kept.push('');
  }
  // An attribution stays where the user has deleted the quotation.
  return kept.slice(0, findAttributionBegin(kept, kept.length, quoted));
}

/** Of the lines right above a quotation. -1: these are blank. */
function findLastWords(lines: readonly string[]): number {
  for (let at = lines.length - 1; at >= 0 && lines.length - at <= MAX_GAP_LINES; at -= 1)
    if (lines[at] !== '') return at;
  return -1;
}

const collapse = (lines: readonly string[]): string =>
  lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();

/**
 * What the library reads: signatures end a mail. Threat: its regular expressions take cubic time, so it gets little text and no
 * long line, which is not a signature.
 */
const MAX_TAIL_LENGTH = 1_000;
const MAX_LINE_LENGTH = 200;

/** "Sent from my iPhone" in languages that the library does not know, and the names of programs. */
const SENT_FROM =
  /^(?:(?:Sent with|Gesendet mit|Envoyé avec|Enviado con|Enviado com|Inviato con) .{0,20}(?:Proton|Spark|Tuta|Airmail|Mailspring|Superhuman).{0,60}|(?:Inviato da|Enviado do|Enviado a partir|Enviat des|Отправлено (?:с|из)|Надіслано з|Изпратено от|Στάλθηκε από|发自|發自|從我的|从我的|Wysłan[eo] z|Skickat från|Sendt fra|Lähetetty|Odesláno z|Odoslané z|Trimis de pe|Küldve|Dikirim dari|Được gửi từ|ส่งจาก|أُ?رسلت من|تم الإرسال من|נשלח מ|Obtener|Holen Sie sich|Scarica|Baixe|Hämta) ?.{2,60}|.{2,40}(?:から送信|에서 보냄|['’]?(?:umdan|ımdan|dan|den|ndan) gönderildi))$/u;

function withoutSignature(text: string): string {
  const lines = text.split('\n');
  while (lines.length > 1 && (lines.at(-1) === '' || SENT_FROM.test(bare(lines.at(-1)!)))) lines.pop();
  let first = lines.length;
  for (let length = 0; first > 0; first -= 1) {
    length += lines[first - 1]!.length + 1;
    if (length > MAX_TAIL_LENGTH || lines[first - 1]!.length > MAX_LINE_LENGTH) break;
  }
  const tail = new EmailReplyParser().parseReply(lines.slice(first).join('\n'));
  return `${lines.slice(0, first).join('\n')}\n${tail}`.trim();
}
