/**
 * Gives each user a clock of their own for the day rules of the database, because schedules run at the same time but on
 * different days. All rules call one of `CLOCK_FUNCTIONS`, whose parameter defaults to `now()`: only that default is
 * replaced.
 */
import type { Pool } from 'pg';

const CLOCK_FUNCTIONS = ['earliest_today', 'latest_today', 'earliest_current_day'] as const;
const ORIGINAL_DEFAULT = 'DEFAULT now()';

/** `security definer`, because policies call the function as roles that cannot read `world_clocks`. */
const CLOCK = `
create table public.world_clocks (user_id uuid primary key, at timestamptz not null);
create function public.world_now() returns timestamptz language sql stable security definer as $$
  select coalesce((select at from public.world_clocks
     where user_id = (nullif(current_setting('request.jwt.claims', true), '')::json ->> 'sub')::uuid), now())
$$`;

export async function installUserClocks(admin: Pool): Promise<(userId: string, now: number) => Promise<void>> {
  await admin.query(CLOCK);
  for (const name of CLOCK_FUNCTIONS) {
    const text = `select pg_get_functiondef('public.${name}'::regproc) as definition`;
    const { definition } = (await admin.query<{ definition: string }>(text)).rows[0]!;
    if (definition.split(ORIGINAL_DEFAULT).length !== 2) throw new Error(`${name} has no parameter with DEFAULT now()`);
    await admin.query(definition.replace(ORIGINAL_DEFAULT, 'DEFAULT public.world_now()'));
  }
  return async (userId, now) => {
    await admin.query(
      'insert into public.world_clocks values ($1, $2) on conflict (user_id) do update set at = excluded.at',
      [userId, new Date(now).toISOString()],
    );
  };
}

export const TIME_HEADER = 'x-world-time';
