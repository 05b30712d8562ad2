/** PayPal's error responses: status, name and description of each issue (docs/specification/providers.md 2). */
const NAMES = {
  400: ['INVALID_REQUEST', 'Request is not well-formed, syntactically incorrect, or violates schema.'],
  401: ['AUTHENTICATION_FAILURE', 'Authentication failed due to missing authorization header, or invalid credentials.'],
  403: ['NOT_AUTHORIZED', 'Authorization failed due to insufficient permissions.'],
  404: ['RESOURCE_NOT_FOUND', 'The specified resource does not exist.'],
  409: ['RESOURCE_CONFLICT', 'The server has detected a conflict while processing this request.'],
  415: ['UNSUPPORTED_MEDIA_TYPE', 'The server does not support the request payload’s media type.'],
  422: [
    'UNPROCESSABLE_ENTITY',
    'The requested action could not be performed, semantically incorrect, or failed business validation.',
  ],
  429: ['RATE_LIMIT_REACHED', 'Too many requests. Blocked due to rate limiting.'],
  500: ['INTERNAL_SERVER_ERROR', 'An internal server error has occurred.'],
  503: ['SERVICE_UNAVAILABLE', 'Service Unavailable.'],
} as const;

type Status = keyof typeof NAMES;

/** Other issues have status 422. PayPal returns more issues than it documents, so clients must handle unknown ones. */
const STATUS_OF_ISSUE: Readonly<Record<string, Status>> = {
  MISSING_REQUIRED_PARAMETER: 400,
  INVALID_PARAMETER_SYNTAX: 400,
  INVALID_PARAMETER_VALUE: 400,
  INVALID_STRING_LENGTH: 400,
  INVALID_ARRAY_MAX_ITEMS: 400,
  INVALID_ARRAY_MIN_ITEMS: 400,
  PAYPAL_REQUEST_ID_REQUIRED: 400,
  MALFORMED_REQUEST_JSON: 400,
  INVALID_ACCOUNT_STATUS: 401,
  PERMISSION_DENIED: 403,
  CONSENT_NEEDED: 403,
  INVALID_RESOURCE_ID: 404,
  PREVIOUS_REQUEST_IN_PROGRESS: 409,
  INVALID_CONTENT_TYPE: 415,
  RATE_LIMIT_REACHED: 429,
  INTERNAL_SERVER_ERROR: 500,
  INTERNAL_SERVICE_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
};

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  MISSING_REQUIRED_PARAMETER: 'A required field / parameter is missing.',
  INVALID_PARAMETER_SYNTAX: 'The value of a field does not conform to the expected format.',
  INVALID_PARAMETER_VALUE: 'The value of a field is invalid.',
  INVALID_STRING_LENGTH: 'The value of a field is either too short or too long.',
  INVALID_ARRAY_MAX_ITEMS: 'The number of items in an array parameter is too large.',
  INVALID_ARRAY_MIN_ITEMS: 'The number of items in an array parameter is too small.',
  PAYPAL_REQUEST_ID_REQUIRED: 'A PayPal-Request-Id is required if you are trying to process payment for an Order.',
  MALFORMED_REQUEST_JSON: 'The request JSON is not well formed.',
  INVALID_RESOURCE_ID: 'Specified resource ID does not exist. Please check the resource ID and try again.',
  PREVIOUS_REQUEST_IN_PROGRESS:
    'A previous request on this resource is currently in progress. Please wait for sometime.',
  INVALID_CURRENCY_CODE: 'Currency code is invalid or is not currently supported.',
  DECIMAL_PRECISION: 'If the currency supports decimals, only two decimal place precision is supported.',
  DECIMALS_NOT_SUPPORTED: 'Currency does not support decimals.',
  CANNOT_BE_ZERO_OR_NEGATIVE: 'Must be greater than zero.',
  AMOUNT_MISMATCH: 'Should equal item_total + tax_total + shipping + handling + insurance - discounts.',
  ORDER_NOT_APPROVED: 'Payer has not yet approved the Order for payment.',
  ORDER_ALREADY_CAPTURED: 'Order already captured. If intent=CAPTURE only one capture per order is allowed.',
  INSTRUMENT_DECLINED: 'The instrument presented was either declined by the processor or bank.',
  DUPLICATE_INVOICE_ID: 'Duplicate Invoice ID detected.',
  CAPTURE_FULLY_REFUNDED: 'The capture has already been fully refunded.',
  REFUND_AMOUNT_EXCEEDED:
    'The refund amount must be less than or equal to the capture amount that has not yet been refunded.',
  REFUND_TIME_LIMIT_EXCEEDED: 'You are over the time limit to perform a refund on this capture.',
  PENDING_CAPTURE: 'Cannot initiate a refund as the capture is pending.',
  CURRENCY_MISMATCH: 'The currency of the refund must be the currency of the capture.',
  TRANSACTION_DISPUTED:
    'Partial refunds cannot be offered at this time because there is an open case on this transaction.',
  REFUND_NOT_PERMITTED_DUE_TO_CHARGEBACK:
    'Refunds not allowed on this capture due to a chargeback on the card or bank.',
  REFUND_NOT_ALLOWED: 'A capture that took no money cannot be refunded.',
};

export type Failure = { issue: string; field?: string; value?: string; location?: 'body' | 'path' | 'header' };

/** A rejected request. The API converts it to an error response. */
export class RefusedError extends Error {
  readonly failures: readonly Failure[];
  /** The approval URL for the payer after a declined instrument. */
  readonly redirect: string | null;

  constructor(failure: Failure | Failure[], redirect: string | null = null) {
    const failures = Array.isArray(failure) ? failure : [failure];
    super(failures.map(({ issue }) => issue).join(', '));
    this.failures = failures;
    this.redirect = redirect;
  }
}

const statusOfIssue = (issue: string): number => STATUS_OF_ISSUE[issue] ?? 422;

/** @param status overrides the issue's status, for faults */
export function errorBody(refused: RefusedError, debugId: string, status?: number): { status: number; body: string } {
  const answered = status ?? statusOfIssue(refused.failures[0]!.issue);
  const [name, message] = NAMES[answered as Status] ?? NAMES[answered >= 500 ? 500 : 422];
  const help = 'https://developer.paypal.com/docs/api/orders/v2/';
  const details = refused.failures.map((failure) => ({
    ...(answered === 400 && failure.field !== undefined && { location: 'body' }),
    ...failure,
    description: DESCRIPTIONS[failure.issue] ?? 'The request was refused.',
  }));
  const links = [
    { href: `${help}#error-${refused.failures[0]!.issue}`, rel: 'information_link', method: 'GET' },
    ...(refused.redirect === null ? [] : [{ href: refused.redirect, rel: 'redirect', method: 'GET' }]),
  ];
  return { status: answered, body: JSON.stringify({ name, message, debug_id: debugId, details, links }) };
}
