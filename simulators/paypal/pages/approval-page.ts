/** The approval page, where the payer chooses the outcome of the payment. */
import { escapeHtml, renderSandboxPage } from '../../page.ts';
import type { Order } from '../books/model.ts';
import { moneyBody, type Money } from '../books/money.ts';

const NO_MONEY = '<p class="stamp">PayPal sandbox: no money moves</p>';

/** Formats as `$24.00 USD`. The code distinguishes currencies that share a symbol. */
export const moneyText = (money: Money): string => {
  const { value, currency_code: currency } = moneyBody(money);
  const text = new Intl.NumberFormat('en-US', { style: 'currency', currency }).format(Number(value));
  return `${text} ${currency}`;
};

export function approvalPage(order: Order): string {
  const brand = escapeHtml(order.brandName ?? 'This shop');
  const amount = escapeHtml(moneyText(order.amount));
  const declined = order.declined
    ? '<p class="trouble" role="status">The bank declined the last try. Choose another way to pay.</p>'
    : '';
  return renderSandboxPage(
    `Pay ${order.brandName ?? 'this shop'}`,
    `${NO_MONEY}
${declined}
<dl class="bill">
<div><dt>To</dt><dd>${brand}</dd></div>
${order.description === null ? '' : `<div><dt>For</dt><dd>${escapeHtml(order.description)}</dd></div>`}
<div><dt>Paid by</dt><dd>Pat Payer, payer@example.com</dd></div>
<div class="total"><dt>Amount</dt><dd>${amount}</dd></div>
</dl>
<p class="quiet">${brand} sees the payer’s name, e-mail address and country, and never how they paid.</p>
<form method="post" action="/sandbox/paypal/checkoutnow?token=${escapeHtml(order.id)}" class="choices">
<button name="choice" value="pay" class="primary">Pay now</button>
<button name="choice" value="decline">Pay, the bank will decline</button>
<button name="choice" value="echeck">Pay with eCheck (pending)</button>
<button name="choice" value="cancel" class="text">Cancel</button>
</form>`,
  );
}

/** The page instead of the approval page for an order that is paid, expired or unknown. */
export const gonePage = (): string =>
  renderSandboxPage(
    'Nothing to pay here',
    `${NO_MONEY}
<p>This order is paid already, has expired, or never existed. Nothing was taken just now.</p>
<p><a href="/journal">Back to the journal</a>, or look at <a href="/sandbox/payments">the payments</a> so far.</p>`,
  );
