/** Asks the SMS provider for the state of the account. Sends no text message. */
import type { Config } from '#server/config/config.ts';
import { textAt } from '#server/payments/paypal/json-value.ts';
import { fault, off, ok, type Check } from '../../check.ts';
import { sendRequest } from '../../request.ts';
import { CHECK_NETWORK, CREDENTIALS_REFUSED, describeUnreachable } from './describe-unreachable.ts';

export const smsCheck = ({ auth: { sms } }: Config): Check => ({
  name: 'sms',
  async run(signal) {
    if (sms === null) return [off('text messages are off: SMS_ACCOUNT_SID is not set')];
    const { apiBase, accountSid, authToken } = sms;
    const basic = Buffer.from(`${accountSid}:${authToken.reveal()}`).toString('base64');
    const reply = await sendRequest(`${apiBase}/2010-04-01/Accounts/${encodeURIComponent(accountSid)}.json`, {
      headers: { Authorization: `Basic ${basic}` },
      signal,
    });
    if (CREDENTIALS_REFUSED.has(reply.status) || reply.status === 404) {
      return [
        fault(
          `the SMS provider refuses the credentials (${reply.status})`,
          'Check SMS_ACCOUNT_SID and SMS_AUTH_TOKEN.',
        ),
      ];
    }
    const status = reply.status === 200 ? textAt(reply.json, 'status') : null;
    if (status === null) return [describeUnreachable(`the SMS provider at ${apiBase}`, reply, CHECK_NETWORK)];
    return [
      status === 'active'
        ? ok('the SMS provider accepts the credentials; no text was sent')
        : fault(`the account at the SMS provider is ${status}`, 'Reactivate it in the console of the provider.'),
    ];
  },
});
