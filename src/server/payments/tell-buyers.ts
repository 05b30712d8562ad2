/** The same payments, with one thing more: what became of one is told by mail within seconds, not at the next sweep. */
import type { Payments } from './payments.ts';

/** @param tell asks for the mails that are due; only a hint, and cheap where there are none */
export function tellBuyers(payments: Payments, tell: () => void): Payments {
  return {
    ...payments,
    finish: (userId, orderId) => payments.finish(userId, orderId).finally(tell),
    follow: (event) => payments.follow(event).finally(tell),
    async reconcile(signal) {
      const looked = await payments.reconcile(signal);
      if (looked.events + looked.payments > 0) tell();
      return looked;
    },
    refund: (id) => payments.refund(id).finally(tell),
  };
}
