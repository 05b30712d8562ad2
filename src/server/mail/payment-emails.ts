/** The texts of mails about payments and paid years. As in `account-emails.ts`, they contain no user input. */
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { MAX_COOLING_OFF_ANALYSES, COOLING_OFF_DAYS } from '#domain/payment/payment.ts';
import { RECEIPT_ITEM } from '#domain/payment/receipt.ts';
import type { MailMessage } from './mail-message.ts';
import { renderEmail } from './email-template.ts';
import type { EmailBlock } from './email-template.ts';

type Receipt = {
  to: string;
  number: string;
  /** `$24.00 USD`. */
  amount: string;
  paidOn: string;
  orderId: string;
  /** Null: no end date. */
  validUntil: string | null;
  receiptLink: string;
  profileLink: string;
  contact: string | null;
};

export const receiptMail = (given: Receipt): MailMessage =>
  renderEmail(given.to, 'Your receipt', [
    given.validUntil === null
      ? 'Your payment went through. You are a Closer, and every log is open.'
      : `Your payment went through. You are a Closer until ${given.validUntil}, and every log is open.`,
    {
      rows: [
        ['Receipt', given.number],
        ['For', RECEIPT_ITEM],
        ['Amount', given.amount],
        ['Paid on', given.paidOn],
        ['PayPal order', given.orderId],
        ...(given.validUntil === null ? [] : [['Valid until', given.validUntil] as const]),
      ],
    },
    { link: given.receiptLink, label: 'Print this receipt' },
    `If you live in the European Economic Area, you may undo this purchase within ${COOLING_OFF_DAYS} days, as long as you have exported nothing and asked the coach no more than ${MAX_COOLING_OFF_ANALYSES} times: ${given.contact === null ? 'tell whoever runs this journal' : `write to ${given.contact}`}. There are no other refunds.`,
    'Nothing renews by itself. Your plan and all your payments:',
    { link: given.profileLink, label: 'See your plan' },
  ]);

type Declined = { to: string; amount: string; profileLink: string };

export const paymentDeclinedMail = ({ to, amount, profileLink }: Declined): MailMessage =>
  renderEmail(to, 'PayPal declined your payment', [
    `PayPal has checked your payment of ${amount} and declined it. Nothing was charged, and your plan is as it was.`,
    'You can try again at any time, also with another way to pay:',
    { link: profileLink, label: 'See your plan' },
  ]);

type Refunded = { to: string; amount: string; orderId: string; profileLink: string; contact: string | null };

export const refundMail = ({ to, amount, orderId, profileLink, contact }: Refunded): MailMessage =>
  renderEmail(to, 'Your refund', [
    `${amount} went back to your PayPal account. It may take PayPal some days to show it.`,
    { rows: [['PayPal order', orderId]] },
    ...yearTakenBack(profileLink),
    ...questions(contact),
  ]);

export const paymentReversedMail = ({ to, amount, orderId, profileLink, contact }: Refunded): MailMessage =>
  renderEmail(to, 'PayPal took your payment back', [
    `PayPal has taken your payment of ${amount} back from us, as it does after a dispute or when a bank recalls the money.`,
    { rows: [['PayPal order', orderId]] },
    ...yearTakenBack(profileLink),
    ...questions(contact),
  ]);

type YearEnds = { to: string; endsOn: string; profileLink: string };

export const yearEndsMail = ({ to, endsOn, profileLink }: YearEnds): MailMessage =>
  renderEmail(to, `Your year ends on ${endsOn}`, [
    `You are a Closer until the end of ${endsOn}. Nothing is deleted then, and nothing renews by itself: logs older than 30 days lock, and open again whenever you renew.`,
    'Renew now and lose no day: the new year begins where this one ends.',
    { link: profileLink, label: `Renew for ${PREMIUM_PRICE.label}` },
  ]);

const yearTakenBack = (profileLink: string): readonly EmailBlock[] => [
  'The year that it paid for has ended with it. Nothing was deleted: logs older than 30 days are locked, and open again with the next payment.',
  { link: profileLink, label: 'See your plan' },
];

const questions = (contact: string | null): readonly EmailBlock[] =>
  contact === null ? [] : [`Is something wrong? Write to ${contact}.`];
