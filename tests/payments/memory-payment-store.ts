/**
 * The payment store in memory, for the model test: each method does in one step what the database does in one
 * transaction. `payment-store.test.ts` compares this store with the PostgreSQL store.
 */
import { latestToday, type Day } from '#domain/day/day.ts';
import { extendPlan, revokeYear, paidYearStart, type PaymentStatus } from '#domain/payment/payment.ts';
import type { PlanId } from '#domain/plan/plan.ts';
import { isOpen, canBookCapture, type Buyer, type Payment, type PaymentStore } from '#server/payments/payment-store.ts';
import type { Capture } from '#server/payments/paypal/paypal.ts';

type Kind = 'capture' | 'fee' | 'refund' | 'reversal';
export type Line = { paymentId: string; kind: Kind; amountMinor: number; currency: string; ref: string };
export type PlanChange = {
  userId: string;
  plan: PlanId;
  until: Day | null;
  reason: string;
  paymentId: string | null;
  validFrom: Day | null;
};
type Event = { id: string; raw: string; receivedAt: Date; isDone: boolean };
type Change = { -readonly [K in keyof Payment]?: Payment[K] };

export class MemoryPaymentStore implements PaymentStore {
  buyers = new Map<string, Buyer>();
  payments = new Map<string, Payment>();
  /** Users who have asked to delete their account. */
  readonly leaving = new Set<string>();
  readonly ledger: Line[] = [];
  readonly planChanges: PlanChange[] = [];
  readonly events = new Map<string, Event>();
  readonly #newId: () => string;

  constructor(newId: () => string) {
    this.#newId = newId;
  }

  buyer(userId: string) {
    return this.#transact(() => this.buyers.get(userId) ?? null);
  }

  isLeaving(userId: string) {
    return this.#transact(() => this.leaving.has(userId));
  }

  begin(request: Parameters<PaymentStore['begin']>[0], canReuse: (open: Payment) => boolean) {
    return this.#transact(() => {
      if (!this.buyers.has(request.userId)) return null;
      const open = [...this.payments.values()]
        .filter(({ userId, status }) => userId === request.userId && isOpen(status))
        .toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
      const reusable = open.find(canReuse);
      if (reusable) return reusable;
      const created: Payment = {
        ...request,
        id: this.#newId(),
        status: 'created',
        orderId: null,
        captureId: null,
        leaseUntil: null,
        refusedCaptures: 0,
        refundRequestedAt: null,
        approvalUrl: null,
        completedAt: null,
      };
      this.payments.set(created.id, created);
      return created;
    });
  }

  find(by: Parameters<PaymentStore['find']>[0]) {
    return this.#transact(() => {
      if ('id' in by) return this.payments.get(by.id) ?? null;
      const all = [...this.payments.values()];
      const found =
        'orderId' in by
          ? all.find((payment) => payment.orderId === by.orderId)
          : all.find((payment) => payment.captureId === by.captureId);
      return found ?? null;
    });
  }

  saveOrder(id: string, { orderId, approvalUrl }: { orderId: string; approvalUrl: string }, dueAt: Date) {
    return this.#transact(() => {
      if (this.#get(id).orderId === null) this.#change(id, { orderId, approvalUrl, dueAt });
      return this.#get(id);
    });
  }

  claim(read: Payment, now: Date, leaseUntil: Date) {
    return this.#transact(() => {
      const { status, leaseUntil: lease } = this.#get(read.id);
      if (status !== read.status || isLeased(lease, now)) return null;
      return this.#change(read.id, { status: 'capturing', leaseUntil, dueAt: leaseUntil });
    });
  }

  release(claimed: Payment, { status, dueAt, refused = false }: Parameters<PaymentStore['release']>[1]) {
    return this.#transact(() => {
      const now = this.#get(claimed.id);
      if (now.status !== 'capturing' || now.leaseUntil?.getTime() !== claimed.leaseUntil?.getTime()) return;
      const refusedCaptures = now.refusedCaptures + (refused ? 1 : 0);
      this.#change(claimed.id, { status, leaseUntil: null, dueAt, refusedCaptures });
    });
  }

  close(id: string, status: PaymentStatus, { captureId, dueAt, claimed }: Parameters<PaymentStore['close']>[2]) {
    return this.#transact(() => {
      const now = this.#get(id);
      if (!isOpen(now.status)) return;
      const holdsLease = now.status === 'capturing' && now.leaseUntil?.getTime() === claimed?.leaseUntil?.getTime();
      if (claimed && !holdsLease) return;
      this.#change(id, {
        status,
        leaseUntil: null,
        dueAt: dueAt ?? null,
        ...(captureId !== undefined && { captureId }),
      });
    });
  }

  markPending(id: string, captureId: string, dueAt: Date) {
    return this.#transact(() => {
      if (isOpen(this.#get(id).status)) this.#change(id, { status: 'pending', captureId, leaseUntil: null, dueAt });
    });
  }

  schedulePoll(id: string, dueAt: Date | null) {
    return this.#transact(() => {
      if (this.#get(id).status !== 'capturing') this.#change(id, { leaseUntil: null, dueAt });
    });
  }

  complete(id: string, capture: Capture, now: Date, dueAt: Date | null) {
    return this.#transact(() => {
      const payment = this.#get(id);
      if (!canBookCapture(payment.status)) return 'already_booked' as const;
      this.#bookCapture(id, capture);
      const granted = this.#grant(payment, now);
      this.#change(id, {
        status: 'completed',
        captureId: capture.id,
        completedAt: now,
        leaseUntil: null,
        refundRequestedAt: granted ? null : now,
        dueAt: granted && capture.status === 'COMPLETED' ? dueAt : now,
      });
      return granted ? ('granted' as const) : ('no_account' as const);
    });
  }

  bookForReview(id: string, capture: Capture) {
    return this.#transact(() => {
      if (!canBookCapture(this.#get(id).status)) return;
      this.#bookCapture(id, capture);
      this.#change(id, { status: 'needs_review', captureId: capture.id, leaseUntil: null, dueAt: null });
    });
  }

  bookReturn(
    id: string,
    { kind, part, total, now, dueAt, dueAtFullReturn }: Parameters<PaymentStore['bookReturn']>[1],
  ) {
    return this.#transact(() => {
      const payment = this.#get(id);
      if (payment.status !== 'completed') return;
      const { captureId, currency, amountMinor } = payment;
      const booked = this.ledger.filter((line) => line.paymentId === id && /refund|reversal/.test(line.kind));
      let sum = booked.reduce((before, line) => before + line.amountMinor, 0);
      if (part && !booked.some(({ ref }) => ref === part.ref) && sum + part.amountMinor <= (total ?? amountMinor)) {
        this.#book({ paymentId: id, kind, amountMinor: part.amountMinor, currency, ref: part.ref });
        sum += part.amountMinor;
      }
      if (total !== null && sum < total) {
        this.#book({ paymentId: id, kind, amountMinor: total - sum, currency, ref: `${captureId}/${total}` });
        sum = total;
      }
      if (sum >= amountMinor) {
        this.#withdraw(payment, kind, now);
        this.#change(id, {
          status: kind === 'refund' ? 'refunded' : 'reversed',
          leaseUntil: null,
          dueAt: dueAtFullReturn,
        });
      } else if (payment.refundRequestedAt === null) {
        this.#change(id, { dueAt });
      }
    });
  }

  requestRefund(id: string, now: Date) {
    return this.#transact(() => {
      const payment = this.payments.get(id);
      if (payment?.status !== 'completed') return false;
      this.#change(id, { refundRequestedAt: payment.refundRequestedAt ?? now, dueAt: now });
      return true;
    });
  }

  claimRefund(id: string, now: Date, leaseUntil: Date) {
    return this.#transact(() => {
      const { status, refundRequestedAt, leaseUntil: lease } = this.#get(id);
      if (status !== 'completed' || refundRequestedAt === null || isLeased(lease, now)) return null;
      return this.#change(id, { leaseUntil, dueAt: leaseUntil });
    });
  }

  cancelRefund(id: string, dueAt: Date | null) {
    return this.#transact(() => {
      if (this.#get(id).status === 'completed') {
        this.#change(id, { refundRequestedAt: null, leaseUntil: null, dueAt });
      }
    });
  }

  due(now: Date, limit: number) {
    return this.#transact(() =>
      [...this.payments.values()]
        .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
        .toSorted((a, b) => a.dueAt!.getTime() - b.dueAt!.getTime())
        .slice(0, limit)
        .map(({ id }) => id),
    );
  }

  unprocessedEvents(limit: number) {
    return this.#transact(() =>
      [...this.events.values()]
        .filter(({ isDone }) => !isDone)
        .slice(0, limit)
        .map(({ id, raw, receivedAt }) => ({ id, raw, receivedAt })),
    );
  }

  markEventProcessed(id: string) {
    return this.#transact(() => {
      const event = this.events.get(id);
      if (event) event.isDone = true;
    });
  }

  /** Stores an event as the webhook route does, once per PayPal id. Returns whether it is new. */
  receive(id: string, raw: string, receivedAt: Date): boolean {
    if (this.events.has(id)) return false;
    this.events.set(id, { id, raw, receivedAt, isDone: false });
    return true;
  }

  /** Atomic: rolls back when `work` throws. */
  #transact<T>(work: () => T): Promise<T> {
    const before = [new Map(this.payments), new Map(this.buyers), this.ledger.length, this.planChanges.length] as const;
    return new Promise((resolve, reject) => {
      try {
        resolve(work());
      } catch (error) {
        [this.payments, this.buyers] = before;
        this.ledger.length = before[2];
        this.planChanges.length = before[3];
        reject(error);
      }
    });
  }

  #get(id: string): Payment {
    const payment = this.payments.get(id);
    if (!payment) throw new Error(`no payment ${id}`);
    return payment;
  }

  #change(id: string, change: Change): Payment {
    const before = this.#get(id);
    const changed = { ...before, ...change };
    if (before.captureId !== null && changed.captureId !== before.captureId) throw new Error('capture_id is immutable');
    this.payments.set(id, changed);
    return changed;
  }

  #bookCapture(paymentId: string, { id: ref, amountMinor, feeMinor, currency }: Capture): void {
    this.#book({ paymentId, kind: 'capture', amountMinor, currency, ref });
    if (feeMinor !== null) this.#book({ paymentId, kind: 'fee', amountMinor: feeMinor, currency, ref });
  }

  /** Enforces the unique constraint of the table `payment_ledger` on kind and provider reference. */
  #book(line: Line): void {
    if (this.ledger.some(({ kind, ref }) => kind === line.kind && ref === line.ref)) throw new Error('booked twice');
    this.ledger.push(line);
  }

  #grant({ id: paymentId, userId }: Payment, now: Date): boolean {
    const buyer = this.buyers.get(userId);
    if (!buyer) return false;
    const today = latestToday(now);
    const { subscription_plan: plan, access_valid_until: validUntil } = buyer;
    const before = plan === 'premium' ? validUntil : null;
    const until = plan === 'premium' && validUntil === null ? null : extendPlan(before, today);
    const validFrom = paidYearStart(before, today);
    this.changePlan({ userId, plan: 'premium', until, reason: 'payment', paymentId, validFrom });
    return true;
  }

  #withdraw({ id: paymentId, userId }: Payment, reason: string, now: Date): void {
    const buyer = this.buyers.get(userId);
    if (buyer?.subscription_plan !== 'premium' || buyer.access_valid_until === null) return;
    const userChanges = this.planChanges.filter((change) => change.userId === userId);
    const granted = userChanges.findIndex((change) => change.paymentId === paymentId && change.reason === 'payment');
    const grant = userChanges[granted];
    if (!grant?.until || !grant.validFrom) return;
    if (userChanges.slice(granted + 1).some((change) => change.paymentId === null || change.plan === 'free')) return;
    const year = { from: grant.validFrom, until: grant.until };
    const left = revokeYear(buyer.access_valid_until, year, latestToday(now));
    const plan = left === null ? 'free' : 'premium';
    this.changePlan({ userId, plan, until: left, reason, paymentId, validFrom: null });
  }

  changePlan(change: PlanChange): void {
    const group = (reason: string): string => (reason === 'reversal' ? 'refund' : reason);
    const isDuplicate = (other: PlanChange): boolean =>
      other.paymentId === change.paymentId && group(other.reason) === group(change.reason);
    if (change.paymentId !== null && this.planChanges.some(isDuplicate))
      throw new Error('two plan changes for one payment');
    const buyer = this.buyers.get(change.userId)!;
    this.buyers.set(change.userId, { ...buyer, subscription_plan: change.plan, access_valid_until: change.until });
    this.planChanges.push(change);
  }
}

const isLeased = (leaseUntil: Date | null, now: Date): boolean => leaseUntil !== null && leaseUntil > now;
