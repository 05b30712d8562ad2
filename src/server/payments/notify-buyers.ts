/**
 * Makes payment operations notify buyers: each one is followed by a request for the mails that are due, so that a buyer
 * hears of the result within seconds and not at the next scheduled run.
 *
 * @param requestMails only a hint, and cheap when no mail is due
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
