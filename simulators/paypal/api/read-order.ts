/**
 * Validates request bodies as PayPal does: first against the schema (status 400), then by business rules (mostly 422).
 */
import { RefusedError, type Failure } from '../books/issues.ts';
import { type NewOrder, decimalsOf, isKnownCurrency, toMinor, type Money } from '../books/model.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** `mayBeEmpty`: an empty body counts as `{}`, on the endpoints where PayPal accepts one. */
export function readJson(body: string, { mayBeEmpty = false } = {}): Json {
  if (body.trim() === '' && mayBeEmpty) return {};
  try {
    const parsed: unknown = JSON.parse(body);
    if (isObject(parsed)) return parsed;
  } catch {
    // Invalid JSON is rejected like a JSON value that is not an object.
  }
  throw new RefusedError({ issue: 'MALFORMED_REQUEST_JSON', location: 'body' });
}

/** Reads fields and collects all schema failures, so that one error response names every failure. */
class Reader {
  readonly failures: Failure[] = [];

  fail(issue: string, field: string, value?: string): void {
    this.failures.push({ issue, field, ...(value !== undefined && { value }) });
  }

  object(parent: Json, name: string, path: string): Json {
    const value = parent[name];
    if (value === undefined) this.fail('MISSING_REQUIRED_PARAMETER', `${path}/${name}`);
    else if (!isObject(value)) this.fail('INVALID_PARAMETER_SYNTAX', `${path}/${name}`);
    return isObject(value) ? value : {};
  }

  optional(parent: Json, name: string, path: string): Json {
    return parent[name] === undefined ? {} : this.object(parent, name, path);
  }

  text(parent: Json, name: string, path: string, max: number): string | null {
    const value = parent[name];
    if (value === undefined) return null;
    if (typeof value !== 'string') this.fail('INVALID_PARAMETER_SYNTAX', `${path}/${name}`);
    else if (value.length < 1 || value.length > max) this.fail('INVALID_STRING_LENGTH', `${path}/${name}`, value);
    else return value;
    return null;
  }

  required(parent: Json, name: string, path: string, max: number): string {
    if (parent[name] === undefined) this.fail('MISSING_REQUIRED_PARAMETER', `${path}/${name}`);
    return this.text(parent, name, path, max) ?? '';
  }

  oneOf(parent: Json, name: string, path: string, allowed: readonly string[]): string | null {
    const value = this.text(parent, name, path, 255);
    if (value !== null && !allowed.includes(value)) this.fail('INVALID_PARAMETER_VALUE', `${path}/${name}`, value);
    return value;
  }

  url(parent: Json, name: string, path: string): string {
    const value = this.text(parent, name, path, 4000) ?? '';
    if (value !== '' && !/^https?:\/\/[^/]/.test(value))
      this.fail('INVALID_PARAMETER_SYNTAX', `${path}/${name}`, value);
    return value;
  }

  done(): void {
    if (this.failures.length > 0) throw new RefusedError(this.failures);
  }
}

export function readOrder(body: Json, clientId: string): NewOrder {
  const reader = new Reader();
  reader.oneOf(body, 'intent', '', ['CAPTURE', 'AUTHORIZE']);
  if (body['intent'] === undefined) reader.fail('MISSING_REQUIRED_PARAMETER', '/intent');
  const unit = onlyUnit(reader, body['purchase_units']);
  const path = "/purchase_units/@reference_id=='default'";
  const source = reader.optional(body, 'payment_source', '');
  const paypal = reader.optional(source, 'paypal', '/payment_source');
  const experience = reader.optional(paypal, 'experience_context', '/payment_source/paypal');
  const legacy = reader.optional(body, 'application_context', '');
  const hasPaymentSource = body['payment_source'] !== undefined;
  const context = hasPaymentSource ? experience : legacy;
  const contextPath = hasPaymentSource ? '/payment_source/paypal/experience_context' : '/application_context';
  reader.oneOf(context, 'landing_page', contextPath, ['LOGIN', 'GUEST_CHECKOUT', 'BILLING', 'NO_PREFERENCE']);
  reader.oneOf(context, 'user_action', contextPath, ['CONTINUE', 'PAY_NOW']);
  reader.oneOf(context, 'shipping_preference', contextPath, ['GET_FROM_FILE', 'NO_SHIPPING', 'SET_PROVIDED_ADDRESS']);
  reader.text(context, 'locale', contextPath, 10);
  const methods = ['UNRESTRICTED', 'IMMEDIATE_PAYMENT_REQUIRED'];
  const method = reader.oneOf(context, 'payment_method_preference', contextPath, methods);
  const amountBody = reader.object(unit, 'amount', path);
  const amount = readAmount(reader, amountBody, `${path}/amount`);
  const order: Omit<NewOrder, 'amount'> = {
    clientId,
    referenceId: reader.text(unit, 'reference_id', path, 256) ?? 'default',
    customId: reader.text(unit, 'custom_id', path, 127),
    invoiceId: reader.text(unit, 'invoice_id', path, 127),
    description: reader.text(unit, 'description', path, 127),
    softDescriptor: reader.text(unit, 'soft_descriptor', path, 22),
    brandName: reader.text(context, 'brand_name', contextPath, 127),
    returnUrl: reader.url(context, 'return_url', contextPath),
    cancelUrl: reader.url(context, 'cancel_url', contextPath),
    immediatePaymentRequired: method === 'IMMEDIATE_PAYMENT_REQUIRED',
    hasPaymentSource,
  };
  reader.done();
  if (body['intent'] === 'AUTHORIZE') throw new RefusedError({ issue: 'PERMISSION_DENIED' });
  const sum = checkAmount(amount, `${path}/amount`);
  checkBreakdown(amountBody, sum, `${path}/amount`);
  return { ...order, amount: sum };
}

/** PayPal allows ten purchase units. The simulator supports one, because the product sells one item per order. */
function onlyUnit(reader: Reader, units: unknown): Json {
  if (units === undefined) reader.fail('MISSING_REQUIRED_PARAMETER', '/purchase_units');
  else if (!Array.isArray(units)) reader.fail('INVALID_PARAMETER_SYNTAX', '/purchase_units');
  else if (units.length === 0) reader.fail('INVALID_ARRAY_MIN_ITEMS', '/purchase_units');
  else if (units.length > 1) reader.fail('INVALID_ARRAY_MAX_ITEMS', '/purchase_units');
  else if (isObject(units[0])) return units[0];
  else reader.fail('INVALID_PARAMETER_SYNTAX', '/purchase_units/0');
  return { amount: { currency_code: 'USD', value: '1.00' } };
}

type AmountText = { currency: string; value: string };

function readAmount(reader: Reader, amount: Json, path: string): AmountText {
  const currency = reader.required(amount, 'currency_code', path, 3);
  const value = reader.required(amount, 'value', path, 32);
  if (currency !== '' && currency.length !== 3) reader.fail('INVALID_STRING_LENGTH', `${path}/currency_code`, currency);
  if (value !== '' && !/^-?(\d+|\d*\.\d+)$/.test(value))
    reader.fail('INVALID_PARAMETER_SYNTAX', `${path}/value`, value);
  return { currency, value };
}

function checkAmount({ currency, value }: AmountText, path: string): Money {
  const fail = (issue: string, field: string): never => {
    throw new RefusedError({ issue, field: `${path}/${field}`, value: field === 'value' ? value : currency });
  };
  if (!isKnownCurrency(currency)) fail('INVALID_CURRENCY_CODE', 'currency_code');
  const decimals = value.split('.')[1]?.length ?? 0;
  if (decimals > 2) fail('DECIMAL_PRECISION', 'value');
  if (decimals > decimalsOf(currency)) fail('DECIMALS_NOT_SUPPORTED', 'value');
  if (Number(value) <= 0) fail('CANNOT_BE_ZERO_OR_NEGATIVE', 'value');
  return { currency, minor: toMinor(currency, value) };
}

/** If a breakdown is given, its items minus its discounts must sum to the amount. */
function checkBreakdown(amount: Json, { currency, minor }: Money, path: string): void {
  const breakdown = amount['breakdown'];
  if (!isObject(breakdown)) return;
  let sum = 0;
  for (const [name, part] of Object.entries(breakdown)) {
    const value = isObject(part) && typeof part['value'] === 'string' ? part['value'] : '0';
    sum += toMinor(currency, value) * (name.endsWith('discount') ? -1 : 1);
  }
  if (sum !== minor) throw new RefusedError({ issue: 'AMOUNT_MISMATCH', field: `${path}/value` });
}

export type AskedRefund = { amount: Money | null; note: string | null };

export function readRefund(body: Json): AskedRefund {
  const reader = new Reader();
  const amount = body['amount'] === undefined ? null : readAmount(reader, reader.object(body, 'amount', ''), '/amount');
  const note = reader.text(body, 'note_to_payer', '', 255);
  reader.text(body, 'invoice_id', '', 127);
  reader.text(body, 'custom_id', '', 127);
  reader.done();
  return { amount: amount === null ? null : checkAmount(amount, '/amount'), note };
}
