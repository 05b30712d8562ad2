/**
 * Makes payment operations notify buyers: each operation triggers the job `send-receipts`, so that the buyer gets the
 * mail within seconds.
 *
 * @param requestMails triggers the job, which also runs every five minutes; a run is cheap when no mail is due
 */
export function createBuyerNotifier(requestMails: () => void) {
  return {
    /** Requests the mails also after a failure: an operation may have booked money before it failed. */
    thenNotify: <T>(work: Promise<T>): Promise<T> => work.finally(requestMails),
    async thenNotifyIfSwept(work: Promise<{ events: number; payments: number }>) {
      const swept = await work;
      if (swept.events + swept.payments > 0) requestMails();
      return swept;
    },
  };
}
