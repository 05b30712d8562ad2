/** Which words of a reply are the user's own (docs/specification/habit.md 5), with texts as mail programs write them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { day } from '#domain/day/day.ts';
import { parseItems } from '#domain/log/append-items.ts';
import { MAIL_CLIENTS, writeReply, type Original } from '../../../simulators/mail-client/mail-clients.ts';
import { measureCpuMs } from '../../../tests/support/cpu-time.ts';
import { reminderMail, replyAnswerMail } from '../mail/habit-emails.ts';
import type { MailMessage } from '../mail/email-template.ts';
import { htmlToText } from './html-text.ts';
import { MAX_MAIL_BYTES } from './inbound.ts';
import { parseMail } from './parse-mail.ts';
import { readOwnText } from './reply-text.ts';

const DAY = day('2026-11-28');
const FROM = 'Hustle Forge <journal@example.com>';
const REPLY_TO = 'log+x6vctoye2beedattkcijnbozuteonc4qkcxoo3t7ewcrcbwnx5na@reply.example.org';
const ADDRESSES = ['journal@example.com', REPLY_TO];
const PROMPT = 'What did you get done today?';

const reminder = reminderMail({
  to: 'ana@example.org',
  day: DAY,
  prompt: PROMPT,
  writeLink: 'https://journal.example.com/journal?date=2026-11-28',
  taps: [{ label: 'Did nothing today', link: 'https://journal.example.com/evening/abc?entry=0' }],
  last: { day: day('2026-11-27'), items: ['Shipped the old thing', 'و كتبت التقرير'], more: 2 },
  replyTo: REPLY_TO,
  settingsLink: 'https://journal.example.com/settings',
  unsubscribeLink: 'https://journal.example.com/unsubscribe/abc',
});
const answer = replyAnswerMail({
  to: 'ana@example.org',
  replyTo: REPLY_TO,
  day: DAY,
  dayLink: 'https://journal.example.com/journal?date=2026-11-28',
  messageId: null,
  attachments: 0,
  items: ['A line that is stored already'],
});
const asOriginal = ({ subject, text, html }: MailMessage): Original => ({
  from: FROM,
  subject,
  text,
  html,
  messageId: '<1@example.com>',
});

const own = (text: string, name = ''): string =>
  readOwnText(text, { day: DAY, addresses: ADDRESSES, name: 'Hustle Forge' }, { address: 'ana@example.org', name });
const read = async (raw: string): Promise<string[]> => parseItems(own((await parseMail(Buffer.from(raw))).text));
const quoted = reminder.text
  .trimEnd()
  .split('\n')
  .map((line) => `> ${line}`.trimEnd())
  .join('\n');

const WORDS = 'Shipped the billing page\nReviewed two pull requests';

describe('a plain text with the quotation below', () => {
  test.each([
    ['English', `On Sat, Nov 28, 2026 at 6:00 PM ${FROM} wrote:`],
    ['English, wrapped', 'On Sat, Nov 28, 2026 at 6:00 PM Hustle Forge <\njournal@example.com> wrote:'],
    ['German', `Am Sa., 28. Nov. 2026 um 18:00 Uhr schrieb ${FROM}:`],
    ['French', `Le sam. 28 nov. 2026 à 18:00, ${FROM} a écrit :`],
    ['Spanish', `El sáb, 28 nov 2026 a las 18:00, Hustle Forge (<journal@example.com>) escribió:`],
    ['Italian', `Il giorno sab 28 nov 2026 alle ore 18:00 ${FROM} ha scritto:`],
    ['Portuguese', `Em sáb., 28 de nov. de 2026 às 18:00, ${FROM} escreveu:`],
    ['Dutch', `Op za 28 nov 2026 om 18:00 schreef ${FROM}:`],
    ['Polish', `sob., 28 lis 2026 o 18:00 ${FROM} napisał(a):`],
    ['Swedish', `Den lör 28 nov. 2026 kl 18:00 skrev ${FROM}:`],
    ['Finnish', `la 28. marrask. 2026 klo 18.00 ${FROM} kirjoitti:`],
    ['Czech', `so 28. 11. 2026 v 18:00 odesílatel ${FROM} napsal:`],
    ['Hungarian', `${FROM} ezt írta (időpont: 2026. nov. 28., Szo, 18:00):`],
    ['Turkish', `${FROM}, 28 Kas 2026 Cmt, 18:00 tarihinde şunu yazdı:`],
    ['Russian', `сб, 28 нояб. 2026 г. в 18:00, ${FROM}:`],
    ['Ukrainian', `сб, 28 лист. 2026 р. о 18:00 ${FROM} пише:`],
    ['Greek', `Στις Σάβ 28 Νοε 2026 στις 6:00 μ.μ., ο/η ${FROM} έγραψε:`],
    [
      'Arabic',
      `في السبت، 28 نوفمبر 2026 في 6:00 م تمت كتابة ما يلي بواسطة Hustle Forge <\u200Fjournal@example.com\u200F>:`,
    ],
    [
      'Hebrew',
      `\u202Bבתאריך שבת, 28 בנוב׳ 2026 ב-18:00 מאת \u202AHustle Forge\u202C\u200F <\u202Ajournal@example.com\u202C\u200F>:\u202C`,
    ],
    ['Chinese', `Hustle Forge <journal@example.com> 于2026年11月28日周六 18:00写道：`],
    ['Japanese', `2026年11月28日(土) 18:00 Hustle Forge <journal@example.com>:`],
    ['Korean', `2026년 11월 28일 (토) 오후 6:00, Hustle Forge <journal@example.com>님이 작성:`],
  ])('is read without the attribution in %s', (_language, attribution) => {
    for (const block of [quoted, reminder.text]) {
      expect(parseItems(own(`${WORDS}\n\n${attribution}\n\n${block}`))).toEqual(WORDS.split('\n'));
      expect(parseItems(own(`${WORDS}\r\n\r\n${attribution}\r\n${block}\r\n`.replaceAll(/\r?\n/g, '\r\n')))).toEqual(
        WORDS.split('\n'),
      );
    }
    // The user has deleted the quotation.
    expect(parseItems(own(`${WORDS}\n\n${attribution}\n`))).toEqual(WORDS.split('\n'));
  });

  test.each([
    ['English', 'From:', 'Sent:', 'To:', 'Subject:'],
    ['German', 'Von:', 'Gesendet:', 'An:', 'Betreff:'],
    ['French', 'De :', 'Envoyé :', 'À :', 'Objet :'],
    ['Polish', 'Od:', 'Wysłane:', 'Do:', 'Temat:'],
    ['Russian', 'От:', 'Отправлено:', 'Кому:', 'Тема:'],
    ['Japanese', '差出人:', '送信日時:', '宛先:', '件名:'],
    ['Arabic', 'من:', 'تاريخ الإرسال:', 'إلى:', 'الموضوع:'],
  ])('is read without the headers that Outlook writes in %s', (_language, from, sent, to, subject) => {
    const head = `${from} ${FROM}\n${sent} Saturday, November 28, 2026 6:00 PM\n${to} ana@example.org\n${subject} ${reminder.subject}`;
    for (const separator of ['', '________________________________\n', '-----Original Message-----\n'])
      expect(parseItems(own(`${WORDS}\n\n${separator}${head}\n\n${reminder.text}`))).toEqual(WORDS.split('\n'));
  });

  test.each([
    'Sent from my iPhone',
    'Sent with Proton Mail secure email.',
    'Gesendet mit der Spark-App',
    'Get Outlook for iOS<https://aka.ms/o0ukef>',
    'Gesendet von Outlook für Android',
    'Envoyé de mon iPhone',
    'Enviado desde mi iPhone',
    'Inviato da iPhone',
    'Verstuurd vanaf mijn iPhone',
    'Отправлено с iPhone',
    'iPhoneから送信',
    '发自我的 iPhone',
    'أُرسلت من الـ iPhone',
    '-- \nAna\nAnalytical Engines Ltd',
    '-- \nOn holiday from Monday',
    '--\nAna',
    '--\nDr. Ana Muster\nAnalytical Engines Ltd',
    '--\nBen Muster\nTel.: +49 (30) 123-4567',
    '--\nana@example.org',
    'ana@example.org',
    'Best wishes,\nAna',
    'Kind regards,\nAna',
    'Thanks,\nAna',
    'Mit freundlichen Grüßen\n\nAna Muster\nACME GmbH',
    'Saludos,\nAna',
    'Sent via Superhuman ( https://sprh.mn/?vip=ana@example.org )',
    'Sent from my Galaxy',
    'Von meinem Samsung Galaxy Smartphone gesendet.',
    'Télécharger Outlook pour iOS<https://aka.ms/o0ukef>',
    'This e-mail is confidential and intended solely for the addressee. If you are not the intended recipient, delete it.',
    '--\nDiese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.',
  ])('is read without the signature %j', (signature) => {
    expect(
      parseItems(own(`${WORDS}\n\n${signature}\n\nOn Sat, Nov 28, 2026 at 6:00 PM ${FROM} wrote:\n${quoted}`)),
    ).toEqual(WORDS.split('\n'));
    expect(parseItems(own(`${WORDS}\n\n${signature}`))).toEqual(WORDS.split('\n'));
  });
});

describe('words below or between the quotation', () => {
  test('below a quotation with signs', () => {
    expect(own(`On 28.11.26 18:00, Hustle Forge wrote:\n${quoted}\n\n${WORDS}`)).toBe(WORDS);
  });
  test('below a quotation without signs', () => {
    expect(own(`${reminder.text}\n\n${WORDS}`)).toBe(WORDS);
  });
  test('between its lines', () => {
    const [first, ...rest] = quoted.split('\n');
    expect(parseItems(own(`${first}\nShipped it\n${rest.join('\n')}\nReviewed it`))).toEqual([
      'Shipped it',
      'Reviewed it',
    ]);
  });
});

test.each([
  ['1. One\n2. Two', ['One', 'Two']],
  ['- One\n* Two', ['One', 'Two']],
  ['اليوم أنهيت التقرير\nראיון עבודה', ['اليوم أنهيت التقرير', 'ראיון עבודה']],
  ['🎉 Shipped 👩🏽‍💻', ['🎉 Shipped 👩🏽‍💻']],
  ['On Monday I spoke to Ann', ['On Monday I spoke to Ann']],
  ['Fixed the crash on iPhone', ['Fixed the crash on iPhone']],
  ['Wrote to support@example.com: no answer', ['Wrote to support@example.com: no answer']],
  [
    'Sent from the warehouse: 20 boxes\nBest customer call',
    ['Sent from the warehouse: 20 boxes', 'Best customer call'],
  ],
  ['On the blog I wrote', ['On the blog I wrote']],
  ['Shipped it\n\nSent with the courier to Basel', ['Shipped it', 'Sent with the courier to Basel']],
  ['Shipped it\n\nCheers from the whole team', ['Shipped it', 'Cheers from the whole team']],
  ['Morning\n--\nShipped it', ['Morning', '--', 'Shipped it']],
  ['Morning\n\n--\n\nShipped\nCalled Bob', ['Morning', '--', 'Shipped', 'Called Bob']],
  ['Morning\n--\nwww.example.com relaunched', ['Morning', '--', 'www.example.com relaunched']],
  ['Morning\n---\nShipped it', ['Morning', '---', 'Shipped it']],
  ['Morning\n====\nShipped it', ['Morning', '====', 'Shipped it']],
  ['Shipped it\n\nStill open:', ['Shipped it', 'Still open:']],
  ['Signed the confidential agreement by e-mail today', ['Signed the confidential agreement by e-mail today']],
  ['Shipped it\n=== Release done ===', ['Shipped it', '=== Release done ===']],
  ['Sent via email the offer to 20 customers', ['Sent via email the offer to 20 customers']],
  ['Sent with DHL the phone to Basel', ['Sent with DHL the phone to Basel']],
  ['Sent from Windows to Linux: the build server', ['Sent from Windows to Linux: the build server']],
  ['Shipped it\n\nThanks!\n\nFixed the login bug', ['Shipped it', 'Thanks!', 'Fixed the login bug']],
  ['Shipped it\n\nThank you\nPS: fixed the export', ['Shipped it', 'Thank you', 'PS: fixed the export']],
  [
    'Sent the confidential draft of the contract to each recipient and the board',
    ['Sent the confidential draft of the contract to each recipient and the board'],
  ],
  ['From: the new office, first day\nTo: do list emptied', ['From: the new office, first day', 'To: do list emptied']],
  ['Regards from the customer: they like it', ['Regards from the customer: they like it']],
])('the words %j are items %j', (words, items) => {
  expect(parseItems(own(`${words}\n\nOn Sat, Nov 28, 2026 at 6:00 PM ${FROM} wrote:\n${quoted}`))).toEqual(items);
});

test.each([
  ['--\nAna Lovelace', 'Ana Lovelace', []],
  ['--\nLovelace', 'Ana Lovelace', []],
  ['--\nAna Lovelace, PhD\nKey: 0xABC', 'Ana Lovelace', []],
  ['--\nAna Lovelace called back', 'Ana Lovelace', ['--', 'Ana Lovelace called back']],
  ['--\nGrace\nHopper Ltd', 'Ana Lovelace', ['--', 'Grace', 'Hopper Ltd']],
  ['--\nAda', 'Ada', []],
  ['--\nDeploy\ncall 0441 234567', 'Ana Lovelace', ['--', 'Deploy', 'call 0441 234567']],
  ['--\nDeploy\nTel.: 0441 234567', 'Ana Lovelace', ['--', 'Deploy', 'Tel.: 0441 234567']],
  ['--\nShipped Berlin\nCalled 0441 234567', 'Ana Lovelace', ['--', 'Shipped Berlin', 'Called 0441 234567']],
  ['--\nana\nBilling', 'Ana Lovelace', ['--', 'ana', 'Billing']],
  ['--\nBen Muster\nT +49 30 1234567', 'Ana Lovelace', []],
])('below %j of %s the items are %j', (rest, name, items) => {
  expect(parseItems(own(`Shipped it\n\n${rest}`, name))).toEqual(['Shipped it', ...items]);
});

test('the space of a delimiter stays in the text of HTML', () => {
  for (const delimiter of ['-- <br>', '<p>--&nbsp;</p>', '<pre>-- \n</pre>'])
    expect(own(htmlToText(`<div>Shipped it</div><div>${delimiter}</div><div>See you all on Monday</div>`))).toBe(
      'Shipped it',
    );
});

test('a long line of Gmail stays one item', async () => {
  const words =
    'Shipped the billing migration to production after two weeks of work with the whole team and a long night';
  expect(
    await read(writeReply('Gmail', { from: 'ana@example.org', to: REPLY_TO, words, original: asOriginal(reminder) })),
  ).toEqual([words]);
});

/** A quotation or signature that only its element marks. */
test.each([
  [
    'Roundcube',
    '<p id="reply-intro">Am 2026-11-28 18:00, schrieb Hustle Forge:</p><blockquote type="cite">Ours</blockquote>',
  ],
  [
    'Evolution',
    '<div>On Sat, 2026-11-28 at 18:00 +0100, Hustle Forge wrote:</div><blockquote type="cite">Ours</blockquote>',
  ],
  ['Zoho', '<div id="Zm-_Id_-Sgn"><div>Ana<br></div></div><div class="zmail_extra">Ours</div>'],
  ['Mailspring', '<signature id="local-1"><div>Ana</div></signature>'],
  ['Front', '<div class="front-signature">Ana</div>'],
  ['Mail.ru', '<div data-signature-widget="container"><div>Ana</div></div>'],
  ['a tracking text', '<div style="display: none">hidden</div>'],
])('the element of %s is left out', (_program, rest) => {
  expect(own(htmlToText(`<div>Shipped <img alt="🎉" src="x"> it</div>${rest}`))).toBe('Shipped 🎉 it');
});

test('a text signed by PGP is read without its armour, an encrypted one is empty', () => {
  const signed = '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n- - One\n- - Two\n';
  expect(own(`${signed}-----BEGIN PGP SIGNATURE-----\n\niQEz+/BA\n=abcd\n-----END PGP SIGNATURE-----\n`)).toBe(
    '- One\n- Two',
  );
  expect(own('-----BEGIN PGP MESSAGE-----\n\nhQEMA7abc\n=abcd\n-----END PGP MESSAGE-----\n')).toBe('');
});

test.each([
  ['an absent user', { Subject: 'Abwesenheitsnotiz: Saturday - November 28, 2026' }],
  ['Exchange', { Subject: 'Re: x', 'X-Auto-Response-Suppress': 'DR, OOF, AutoReply' }],
  ['a reaction', { Subject: 'Re: x', 'Content-Type': 'text/vnd.google.email-reaction+json' }],
])('a mail that a program has sent for %s is refused', async (_whom, headers) => {
  const head = Object.entries({ From: 'ana@example.org', To: REPLY_TO, ...headers }).map((pair) => pair.join(': '));
  await expect(parseMail(Buffer.from(`${head.join('\r\n')}\r\n\r\nI am away`))).rejects.toThrow('automatic');
});

describe('a mail', () => {
  const mail = (type: string, body: string, encoding = '8bit'): Buffer =>
    Buffer.from(
      `From: ana@example.org\r\nTo: ${REPLY_TO}\r\nMIME-Version: 1.0\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}`,
      'latin1',
    );
  test.each([
    ['of another charset', mail('text/plain; charset=iso-8859-1', 'Caf\xe9 er\xf6ffnet'), 'Café eröffnet'],
    [
      'in quoted-printable',
      mail('text/plain; charset=utf-8', 'Caf=C3=A9 is a long =\r\nline', 'quoted-printable'),
      'Café is a long line',
    ],
    [
      'with flowed text',
      mail('text/plain; format=flowed', 'One line that \r\nflows on\r\nAnother'),
      'One line that flows on\nAnother',
    ],
    [
      'with flowed text without spaces',
      mail('text/plain; format=flowed; delsp=yes', 'Donaudampf \r\nschiff'),
      'Donaudampfschiff',
    ],
    ['in Shift JIS', mail('text/plain; charset=shift_jis', '\x83\x65\x83\x58\x83\x67'), 'テスト'],
    [
      'of HTML alone',
      mail('text/html', '<p>One</p><ul><li>Two<li>Three</ul><script>alert(1)</script><style>p{}</style>'),
      'One\n\n- Two\n- Three',
    ],
  ])('%s is decoded', async (_name, raw, text) => {
    expect((await parseMail(raw)).text.trim()).toBe(text);
  });

  test('from a sender that looks like another one, with the Kelvin sign, is refused', async () => {
    const raw = `From: \u212Aate@example.org\r\nTo: ${REPLY_TO}\r\nMIME-Version: 1.0\r\n\r\nOne`;
    await expect(parseMail(Buffer.from(raw))).rejects.toThrow('sender');
    expect((await parseMail(Buffer.from(raw.replace('\u212A', 'K')))).from).toBe('kate@example.org');
  });

  test('has its attachments counted and dropped', async () => {
    const raw =
      `From: ana@example.org\r\nTo: ${REPLY_TO}\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n` +
      `--b\r\n\r\nOne\r\n--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=a.png\r\n\r\nxx\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nSubject: x\r\n\r\nQuoted mail\r\n--b--\r\n`;
    expect(await parseMail(Buffer.from(raw))).toMatchObject({
      text: expect.stringMatching(/^One\s*$/),
      attachments: 2,
    });
  });
});

test('HTML is read by its structure, also far down', () => {
  expect(htmlToText('<div>a<div>b</div>c</div>')).toBe('a\nb\nc');
  expect(htmlToText('<table><tr><td>a</td><td>b</td></tr></table>')).toBe('a\tb');
  expect(htmlToText('<ol><li>a<ul><li>b</ul><li>c</ol>')).toBe('1. a\n  - b\n2. c');
  expect(htmlToText(`${'<div>'.repeat(900)}deep`)).toBe('deep');
});

/** Words that a user may type: any letters, no blank line only. */
const words = fc
  .array(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 }).filter((line) => /\p{L}/u.test(line)),
    { minLength: 1, maxLength: 5 },
  )
  .map((lines) => lines.map((line) => `Item ${line.replaceAll(/[\r\n\v\f\u0085\u2028\u2029]/g, '')}`).join('\n'));

test('no client makes a word of ours an item, whatever the user writes', async () => {
  await fc.assert(
    fc.asyncProperty(
      words,
      fc.constantFrom(...Object.keys(MAIL_CLIENTS)),
      fc.constantFrom(reminder, answer),
      async (text, client, original) => {
        const raw = writeReply(client, {
          from: 'ana@example.org',
          to: REPLY_TO,
          words: text,
          original: asOriginal(original),
        });
        const items = (await read(raw)).join('\n');
        for (const ours of [
          PROMPT,
          'Reply to this mail',
          'Shipped the old thing',
          'Unsubscribe',
          'Added to your log',
          'stored already',
          'Hustle Forge',
          'journal@example.com',
        ])
          expect(items).not.toContain(ours);
        expect(items).toContain('Item ');
      },
    ),
    { numRuns: 200 },
  );
});

test('any bytes are a mail or refused, and never crash', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), fc.string(), async (bytes, head) => {
      const raw = Buffer.concat([Buffer.from(`From: ana@example.org\r\nContent-Type: ${head}\r\n\r\n`), bytes]);
      const parsed = await parseMail(raw).catch((error: Error) => error.name);
      if (typeof parsed === 'string') expect(parsed).toBe('UnreadableMail');
      else expect(Array.isArray(parseItems(own(parsed.text)))).toBe(true);
    }),
    { numRuns: 300 },
  );
});

describe('the largest mail is read in short time', () => {
  const head = `From: ana@example.org\r\nTo: ${REPLY_TO}\r\nMIME-Version: 1.0\r\n`;
  const fill = (piece: string, bytes = MAX_MAIL_BYTES - 2_000): string =>
    piece.repeat(Math.floor(bytes / piece.length));
  const parts = (count: number): string =>
    `Content-Type: multipart/mixed; boundary=b\r\n\r\n${`--b\r\n\r\nx\r\n`.repeat(count)}--b--\r\n`;
  test.each([
    ['empty lines', `${head}\r\n${fill('\n')}`],
    ['one line', `${head}\r\n${fill('a')}`],
    ['quotation signs', `${head}\r\n${fill('>\n')}`],
    [
      'quotations below lines of invisible letters',
      `${head}Content-Type: text/plain; charset=utf-8\r\n\r\n${fill(`${'\u200B'.repeat(20)}\n> a\n`, 70_000)}`,
    ],
    ['lines like an attribution', `${head}\r\n${fill('Op a schreef b\n')}`],
    ['lines like a signature', `${head}\r\n${fill('-- \n')}`],
    ['lines with our address', `${head}\r\n${fill(`On 2026 ${ADDRESSES[0]!} wrote:\n`)}`],
    ['our first sentence', `${head}\r\n${fill('Reply to this mail with what you did\n')}`],
    ['open tags', `${head}Content-Type: text/html\r\n\r\n${fill('<div>')}`],
    ['tags in tags', `${head}Content-Type: text/html\r\n\r\n${fill('<i>', 100_000)}${fill('</p>', 100_000)}`],
    ['list items', `${head}Content-Type: text/html\r\n\r\n${fill('<ol><li>')}`],
    ['quotations', `${head}Content-Type: text/html\r\n\r\n${fill('<blockquote type=cite>')}`],
    ['entities', `${head}Content-Type: text/html\r\n\r\n${fill('&lt;')}`],
    ['an attribute', `${head}Content-Type: text/html\r\n\r\n<div class="${fill('gmail_ ')}">`],
    ['quotes in the sender', `From: ana@example.org "${fill('\\"', 120_000)}\r\nTo: ${REPLY_TO}\r\n\r\nOne`],
    ['encoded words', `${head}Subject: ${fill('=?utf-8?q?=61?= ', 100_000)}\r\n\r\nOne`],
    ['many headers', `${head}${fill('X: y\r\n', 100_000)}\r\nOne`],
    ['many addresses', `${head}Cc: ${fill('a@b.c, ', 100_000)}\r\n\r\nOne`],
    ['parts', `${head}${parts(100_000)}`],
    ['base64', `${head}Content-Transfer-Encoding: base64\r\n\r\n${fill('YWFh\r\n')}`],
    ['quoted-printable', `${head}Content-Transfer-Encoding: quoted-printable\r\n\r\n${fill('=61=\r\n')}`],
  ])('%s', async (_name, raw) => {
    const bytes = Buffer.from(raw.slice(0, MAX_MAIL_BYTES));
    const readRaw = () =>
      parseMail(bytes).then(
        ({ text }) => parseItems(own(text).slice(0, 16_000)),
        () => [],
      );
    // Below 100 ms on a quiet machine; without the bounds most of these take seconds.
    expect(await measureCpuMs(readRaw)).toBeLessThan(500);
  });
});
