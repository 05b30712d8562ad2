/** The texts of emails about payments and plans. As in `account-emails.ts`, they contain no user input. */
import { PREMIUM_PRICE } from '#domain/plan/plan.ts';
import { MAX_COOLING_OFF_ANALYSES, COOLING_OFF_DAYS, RECEIPT_ITEM } from '#domain/payment/payment.ts';
import { renderEmail, type MailMessage, type EmailBlock } from './email-template.ts';

type Receipt = {
  to: string;
  number: string;
  /** For example `$24.00 USD`. */
  amount: string;
  paidOn: string;
  orderId: string;
  /** Null: no end date. */
  validUntil: string | null;
  receiptLink: string;
  profileLink: string;
  contact: string | null;
};

export const receiptMail = (receipt: Receipt): MailMessage =>
  renderEmail(receipt.to, 'Your receipt', [
    receipt.validUntil === null
      ? 'We received your payment. You are a Closer, and all your logs are open.'
      : `We received your payment. You are a Closer until ${receipt.validUntil}, and all your logs are open.`,
    {
      rows: [
        ['Receipt', receipt.number],
        ['For', RECEIPT_ITEM],
        ['Amount', receipt.amount],
        ['Paid on', receipt.paidOn],
        ['PayPal order', receipt.orderId],
        ...(receipt.validUntil === null ? [] : [['Valid until', receipt.validUntil] as const]),
      ],
    },
    { link: receipt.receiptLink, label: 'View and print this receipt' },
    `If you live in the European Economic Area, you can cancel this purchase within ${COOLING_OFF_DAYS} days, as long as you have not exported your logs and have run at most ${MAX_COOLING_OFF_ANALYSES} analyses. To cancel, ${receipt.contact === null ? 'contact the operator of this journal' : `write to ${receipt.contact}`}. There are no other refunds.`,
    'Your plan does not renew automatically. You can see it and all your payments in your profile:',
    { link: receipt.profileLink, label: 'See your plan' },
  ]);

type Declined = { to: string; amount: string; profileLink: string };

export const paymentDeclinedMail = ({ to, amount, profileLink }: Declined): MailMessage =>
  renderEmail(to, 'PayPal declined your payment', [
    `PayPal declined your payment of ${amount}. You were not charged, and your plan has not changed.`,
    'You can try again at any time, or use another payment method:',
    { link: profileLink, label: 'See your plan' },
  ]);

type Refunded = { to: string; amount: string; orderId: string; profileLink: string; contact: string | null };

export const refundMail = ({ to, amount, orderId, profileLink, contact }: Refunded): MailMessage =>
  renderEmail(to, 'Your refund', [
    `We refunded ${amount} to your PayPal account. It can take a few days to appear there.`,
    { rows: [['PayPal order', orderId]] },
    ...yearEnded(profileLink),
    ...questions(contact),
  ]);

export const paymentReversedMail = ({ to, amount, orderId, profileLink, contact }: Refunded): MailMessage =>
  renderEmail(to, 'PayPal reversed your payment', [
    `PayPal reversed your payment of ${amount}. This happens after a dispute, or when a bank recalls the money.`,
    { rows: [['PayPal order', orderId]] },
    ...yearEnded(profileLink),
    ...questions(contact),
  ]);

type YearEnds = { to: string; endsOn: string; profileLink: string };

export const yearEndsMail = ({ to, endsOn, profileLink }: YearEnds): MailMessage =>
  renderEmail(to, `Your year ends on ${endsOn}`, [
    `You are a Closer until the end of ${endsOn}. Your plan does not renew automatically. Nothing will be deleted: logs older than 30 days are locked until you renew.`,
    'You can renew now without losing a day: the new year starts when this one ends.',
    { link: profileLink, label: `Renew for ${PREMIUM_PRICE.label}` },
  ]);

const yearEnded = (profileLink: string): readonly EmailBlock[] => [
  'The year that it paid for has ended. Nothing was deleted: logs older than 30 days are locked until you upgrade again.',
  { link: profileLink, label: 'See your plan' },
];

const questions = (contact: string | null): readonly EmailBlock[] =>
  contact === null ? [] : [`Questions? Write to ${contact}.`];
