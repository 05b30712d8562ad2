/** Serializes orders, so that payments survive a restart of the sandbox, as they do in the product's database. */
import type { Capture, Order } from './model.ts';

export function serializeOrders(orders: Iterable<Order>): string {
  const plain = Array.from(orders, (order) => ({ ...order, capture: order.capture && plainCapture(order.capture) }));
  return JSON.stringify(plain);
}

/** Drops the circular references from captures and refunds to their parents. */
const plainCapture = (capture: Capture): unknown => ({
  ...capture,
  order: undefined,
  refunds: capture.refunds.map((refund) => ({ ...refund, capture: undefined })),
});

/** Throws on invalid text. */
export function parseOrders(text: string): Order[] {
  const orders = JSON.parse(text, (name, value: unknown) =>
    name.endsWith('At') && typeof value === 'string' ? new Date(value) : value,
  ) as Order[];
  for (const order of orders) {
    if (order.capture === null) continue;
    Object.assign(order.capture, { order });
    for (const refund of order.capture.refunds) Object.assign(refund, { capture: order.capture });
  }
  return orders;
}
