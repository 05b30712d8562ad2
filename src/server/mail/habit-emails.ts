/**
 * The reminder, the digest, and the answers to replies. They quote the user's own words, and nothing of another user.
 * Threat: a log holds anything that a user once pasted, so its text is text here, never HTML or a header.
 */
import { dayLabel, type Day } from '#domain/day/day.ts';
import { shortDate, type DayText } from '#domain/coach/win-bullets.ts';
import { isolateRightToLeft } from '#domain/isolate.ts';
import { renderEmail, type EmailBlock, type MailMessage } from './email-template.ts';

type HabitMail = {
  to: string;
  /** The page that turns the mail off. */
  unsubscribeLink: string;
  settingsLink: string;
};

type Reminder = HabitMail & {
  /** The day that the mail is for. */
  day: Day;
  prompt: string;
  writeLink: string;
  /** The quick entries, each with the page that stores it. */
  taps: readonly { label: string; link: string }[];
  /** The last day with a log; `more` counts the items that the mail leaves out. */
  last: { day: Day; items: readonly string[]; more: number } | null;
  /** The address whose mails become items of the day; null where no mail is received. */
  replyTo: string | null;
};

/** `inbound/reply-text.ts` finds a quoted reminder by the beginning of this sentence. */
export const REPLY_HINT =
  'Reply to this mail with what you did, one line for each thing. It becomes the log of this day.';

export function reminderMail(mail: Reminder): MailMessage {
  const { to, day, prompt, writeLink, taps, last, replyTo } = mail;
  return renderEmail(
    to,
    dayLabel(day),
    [
      prompt,
      ...(replyTo === null ? [] : [REPLY_HINT]),
      { link: writeLink, label: 'Write' },
      { choices: taps },
      ...(last === null ? [] : lastDayBlocks(last)),
      ...footer(mail, 'You get this mail on the evening of a workday without a log.'),
    ],
    { ...(replyTo !== null && { replyTo }), headers: unsubscribeHeaders(mail) },
  );
}

const lastDayBlocks = ({ day, items, more }: NonNullable<Reminder['last']>): EmailBlock[] => [
  { heading: `You wrote on ${dayLabel(day)}:` },
  { items: more === 0 ? items : [...items, `and ${more} more`] },
];

type ReplyAnswer = {
  to: string;
  /** A mail to this address adds more to the day. */
  replyTo: string;
  day: Day;
  dayLink: string;
  /** The Message-ID of the user's mail, so that the answer joins its thread. */
  messageId: string | null;
  attachments: number;
};

/** Tells which items of a user's reply were stored. */
export const replyAnswerMail = (mail: ReplyAnswer & { items: readonly string[] }): MailMessage =>
  renderAnswer(mail, [
    `${ADDED} ${dayLabel(mail.day)}:`,
    { items: mail.items, isNumbered: true },
    ...(mail.attachments === 0 ? [] : ['Attachments are not stored.']),
    { link: mail.dayLink, label: 'Open this day' },
    'Reply again to add more.',
  ]);

/** Why nothing of a user's reply was stored. */
export const replyRefusalMail = (mail: ReplyAnswer & { reason: string }): MailMessage =>
  renderAnswer(mail, [
    `${NOT_ADDED} ${dayLabel(mail.day)}.`,
    mail.reason,
    'You still have your words in the mail that you sent.',
    { link: mail.dayLink, label: 'Open this day' },
  ]);

const ADDED = 'Added to your log of';
const NOT_ADDED = 'Nothing was added to your log of';

/** The beginnings of our answers, by which `inbound/reply-text.ts` finds a quoted one. */
export const answerBeginnings = (day: Day): readonly string[] =>
  [ADDED, NOT_ADDED].map((beginning) => `${beginning} ${dayLabel(day)}`);

function renderAnswer({ to, replyTo, day, messageId }: ReplyAnswer, blocks: readonly EmailBlock[]): MailMessage {
  return renderEmail(to, `Re: ${dayLabel(day)}`, blocks, {
    replyTo,
    headers: {
      'Auto-Submitted': 'auto-replied',
      ...(messageId !== null && { 'In-Reply-To': messageId, References: messageId }),
    },
  });
}

type Digest = HabitMail & {
  from: Day;
  until: Day;
  /** For example `4 of 5 workdays accounted for`. */
  workdays: string;
  /** For Closers: the scores of the week, oldest first. Null on the free plan. */
  scores: readonly { day: Day; score: number }[] | null;
  wins: readonly DayText[];
  /** A review found the wins; otherwise they are the first lines of the logs. */
  hasWins: boolean;
  trend: string | null;
  /** The review of the week; null if none was asked for, or if it failed. */
  review: readonly EmailBlock[] | null;
  link: string;
};

export function digestMail(mail: Digest): MailMessage {
  const { to, from, until, workdays, scores, wins, hasWins, trend, review, link } = mail;
  return renderEmail(
    to,
    `Your week: ${shortDate(from)} to ${shortDate(until)}`,
    [
      trend === null ? `${workdays}.` : `${workdays}. ${trend}`,
      ...(scores === null || scores.length === 0
        ? []
        : [
            { heading: 'Scores' },
            { rows: scores.map(({ day, score }) => [shortDate(day), `${score} of 10`] as const) },
          ]),
      ...(wins.length === 0
        ? []
        : [
            { heading: hasWins ? 'Wins' : 'First lines of your logs' },
            { items: wins.map(({ date, text }) => `${shortDate(date)}: ${isolateRightToLeft(text)}`) },
          ]),
      ...(review === null ? [] : [{ heading: 'The review of your week' }, ...review]),
      { link, label: 'Open your reviews' },
      ...footer(mail, 'You get this mail on Friday evening after a week with a log.'),
    ],
    { headers: unsubscribeHeaders(mail) },
  );
}

const footer = ({ settingsLink, unsubscribeLink }: HabitMail, reason: string): EmailBlock[] => [
  { note: reason, link: settingsLink, label: 'Change this in the settings' },
  { note: 'Or turn it off with one click.', link: unsubscribeLink, label: 'Unsubscribe' },
];

/** One click in the mail client, without a page of ours (RFC 8058). */
const unsubscribeHeaders = ({ unsubscribeLink }: HabitMail): Record<string, string> => ({
  'List-Unsubscribe': `<${unsubscribeLink}>`,
  'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
});
