/** Reads the body of `POST /admin/users` and `PUT /admin/users/{id}` (docs/specification/api.md 33). */
import type { JsonObject } from '#server/database/tables.ts';
import type { AuthDeps } from '../http/auth-deps.ts';
import type { Body } from '../http/body.ts';
import { checkNewPassword, parseEmail, parsePhone } from '../http/credentials.ts';
import { invalidRequest } from '../http/errors.ts';
import { ADMIN_ROLES } from '../keys/service-token.ts';

/** Null, or false for a confirmation: the request does not set the attribute. */
export type UserAttributes = {
  email: string | null;
  phone: string | null;
  passwordHash: string | null;
  userMetadata: JsonObject | null;
  appMetadata: JsonObject | null;
  role: string | null;
  ban: { until: Date | null } | null;
  confirmsEmail: boolean;
  confirmsPhone: boolean;
};

export const NO_ATTRIBUTES: UserAttributes = {
  email: null,
  phone: null,
  passwordHash: null,
  userMetadata: null,
  appMetadata: null,
  role: null,
  ban: null,
  confirmsEmail: false,
  confirmsPhone: false,
};

const ROLE = /^[a-z][a-z0-9_]{0,62}$/;
/**
 * argon2id in the PHC format. Threat: a stored hash whose cost exhausts memory at every sign-in. The maxima below bound
 * the cost.
 */
const PASSWORD_HASH =
  /^\$argon2id\$v=19\$m=([1-9]\d{0,5}),t=([1-9]\d?),p=([1-9]\d?)\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,86}$/;
const MAX_MEMORY_KIB = 65_536;
const MAX_ITERATIONS = 10;
const MAX_PARALLELISM = 4;

/** Throws an AuthError for an invalid attribute. `user-store.ts` checks the size of the metadata. */
export async function readUserAttributes(deps: AuthDeps, body: Body): Promise<UserAttributes> {
  const [email, phone, role] = [body.text('email'), body.text('phone'), body.text('role')];
  if (role !== '' && (!ROLE.test(role) || ADMIN_ROLES.has(role) || role === 'anon'))
    throw invalidRequest('The role of a user cannot be an administrator’s');
  return {
    email: email === '' ? null : parseEmail(email),
    phone: phone === '' ? null : parsePhone(phone),
    role: role === '' ? null : role,
    userMetadata: body.object('user_metadata'),
    appMetadata: body.object('app_metadata'),
    ban: readBan(body.text('ban_duration'), deps.clock.now()),
    confirmsEmail: body.flag('email_confirm', false),
    confirmsPhone: body.flag('phone_confirm', false),
    passwordHash: await readPasswordHash(deps, body),
  };
}

function readBan(text: string, now: Date): UserAttributes['ban'] {
  if (text === '') return null;
  const milliseconds = parseBanDuration(text);
  if (milliseconds === null) throw invalidRequest(`invalid format for ban duration: ${text.slice(0, 100)}`);
  return { until: milliseconds === 0 ? null : new Date(now.getTime() + milliseconds) };
}

async function readPasswordHash(deps: AuthDeps, body: Body): Promise<string | null> {
  const [password, hash] = [body.text('password'), body.text('password_hash')];
  if (password !== '' && hash !== '') throw invalidRequest('Only a password or a password hash should be provided');
  if (hash !== '') {
    const [, memory, iterations, parallelism] = PASSWORD_HASH.exec(hash) ?? [];
    const isBounded =
      Number(memory) <= MAX_MEMORY_KIB &&
      Number(iterations) <= MAX_ITERATIONS &&
      Number(parallelism) <= MAX_PARALLELISM;
    if (!isBounded) throw invalidRequest('The password hash must be argon2id in the PHC format, of at most 64 MiB');
    return hash;
  }
  if (password === '') return null;
  const owner = { email: body.text('email'), phone: body.text('phone'), data: body.object('user_metadata') ?? {} };
  await checkNewPassword(deps, password, owner);
  return deps.passwords.hash(password);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
};
const DURATION = /^(?:\d+(?:\.\d*)?(?:ns|us|µs|μs|ms|s|m|h))+$/;
const PART = /(\d+(?:\.\d*)?)(ns|us|µs|μs|ms|s|m|h)/g;
const MAX_LENGTH = 100;
/** As in Go, whose durations are nanoseconds in 64 bits: about 292 years. */
const MAX_MS = 2 ** 63 / 1e6;

/**
 * Parses `ban_duration`: `none`, or a duration in the notation of Go such as `1h30m`. Returns milliseconds, 0 for
 * `none`, and null for a malformed or too long duration.
 */
export function parseBanDuration(text: string): number | null {
  if (text === 'none') return 0;
  if (text.length > MAX_LENGTH || !DURATION.test(text)) return null;
  const total = [...text.matchAll(PART)].reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit!]!, 0);
  return total > MAX_MS ? null : total;
}
