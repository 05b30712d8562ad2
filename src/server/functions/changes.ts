/** `GET changes`: streams which of the caller's days have changed (docs/specification/live.md 1). */
import type { Context } from 'hono';
import { dataError } from '../data/errors.ts';
import type { AppEnv } from '../http/app-env.ts';
import { authenticate, type SignedInCaller } from '../http/authenticate.ts';
import type { AccessTokens } from '../auth/keys/access-tokens.ts';
import type { ChangeStreams } from '../live/change-streams.ts';
import { eventStream } from '../http/event-stream.ts';

/** An event has at most 200 bytes, so the unread events of a stream take at most 40 kB. */
const MAX_UNREAD_EVENTS = 200;

type ChangesDeps = {
  config: { publishableKey: string };
  accessTokens: Pick<AccessTokens, 'verify'>;
  changeStreams: ChangeStreams;
};

export function streamChanges({ config, accessTokens, changeStreams }: ChangesDeps) {
  const { publishableKey } = config;
  return (context: Context<AppEnv>, { userId }: SignedInCaller): Response => {
    const authorization = context.req.header('authorization');
    const events = changeStreams.open({
      userId,
      lastEventId: context.req.header('last-event-id'),
      authenticate: () => authenticate(authorization, { accessTokens, publishableKey }),
    });
    if (!events) throw dataError('PGRST000', { message: 'Too many streams are open. Please try again in a moment' });
    return eventStream(events, { maxUnread: MAX_UNREAD_EVENTS });
  };
}
