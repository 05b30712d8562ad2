/** The errors of Twilio's API that the simulator gives (https://www.twilio.com/docs/api/errors). */

const ERRORS = {
  20003: [401, () => 'Authenticate'],
  20404: [404, ({ path }) => `The requested resource ${path} was not found`],
  20429: [429, () => 'Too Many Requests'],
  21211: [400, ({ to }) => `Invalid 'To' Phone Number: ${to}`],
  21408: [
    400,
    ({ to }) => `Permission to send an SMS has not been enabled for the region indicated by the 'To' number: ${to}`,
  ],
  21602: [400, () => 'Message body is required.'],
  21603: [400, () => "A 'From' phone number is required."],
  21604: [400, () => "A 'To' phone number is required."],
  21606: [400, ({ from }) => `The 'From' phone number ${from} is not a valid, SMS-capable inbound phone number`],
  21610: [400, () => 'Attempt to send to unsubscribed recipient'],
  21614: [400, ({ to }) => `'To' number: ${to}, is not a mobile number`],
  21617: [400, () => 'The concatenated message body exceeds the 1600 character limit'],
} as const satisfies Record<number, [number, (request: Details) => string]>;

type Details = { path: string; to: string; from: string };

export type ErrorCode = keyof typeof ERRORS;

/** Twilio's own test numbers, each with its error. */
export const UNROUTABLE_NUMBERS: Readonly<Record<string, ErrorCode>> = {
  '+15005550001': 21211,
  '+15005550003': 21408,
  '+15005550004': 21610,
  '+15005550009': 21614,
};

export function apiError(code: ErrorCode, path: string, form: URLSearchParams) {
  const [status, message] = ERRORS[code];
  const details: Details = { path, to: form.get('To') ?? '', from: form.get('From') ?? '' };
  return { code, message: message(details), more_info: `https://www.twilio.com/docs/errors/${code}`, status };
}
