/** The commands `payments` and `refund`. */
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { createPayments } from '../payments/payments.ts';
import { listPayments, refundByOperator } from '../payments/refunds/refund-command.ts';
import { CommandError, findUserId, withDatabase, type Command, type Invocation } from './command.ts';

export const PAYMENT_COMMANDS: readonly Command[] = [
  {
    usage: 'payments ADDRESS',
    help: ['list the payments of this account'],
    run: (invocation) =>
      withDatabase(invocation, async (database) =>
        listPayments(database, await findUserId(database, invocation.subject)),
      ),
  },
  {
    usage: 'refund PAYMENT [--anyway]',
    help: ['give a payment back, within the right of withdrawal or anyway'],
    run: refund,
  },
];

function refund(invocation: Invocation): Promise<string> {
  const { subject: id, options } = invocation;
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) {
    throw new CommandError(`"${id}" names no payment: "payments ADDRESS" lists them`);
  }
  return withDatabase(invocation, async (database, config) => {
    const payments = createPayments({
      config,
      database,
      clock: systemClock,
      log: createLog('warn'),
      requestMails: () => undefined,
    });
    const refundNow = payments && ((payment: string) => payments.refund(payment));
    const answer = await refundByOperator({ database, clock: systemClock, refundNow }, id, options.anyway ?? false);
    if ('refused' in answer) throw new CommandError(answer.refused);
    return answer.done;
  });
}
