/**
 * The statements that work on the rows of all users: none runs for a request. Each reads the whole table or an index
 * over all users, so on several shards it runs on each of them.
 */
export type SystemSweep = {
  table: string;
  /** A part of the statement's text, without line breaks. */
  text: string;
  reason: string;
};

export const SYSTEM_SWEEPS: readonly SystemSweep[] = [
  {
    table: 'analysis_runs',
    text: 'delete from public.analysis_runs where counted_on < ',
    reason: 'a job deletes the tries of earlier days, over an index by day',
  },
  {
    table: 'profiles',
    text: 'select "id" from "profiles" where "subscription_plan" = $1 and "access_valid_until" < $2',
    reason: 'the job expire-plans looks for the plans that ended, over an index of paid plans',
  },
  {
    table: 'profiles',
    text: 'from "profiles" inner join "auth"."users" on',
    reason: 'the job send-reminders looks for the plans that end soon, over an index of paid plans',
  },
  {
    table: 'plan_reminders',
    text: 'from "profiles" inner join "auth"."users" on',
    reason: 'the same job looks up the reminders of each user whose plan ends',
  },
  {
    table: 'profiles',
    text: 'update public.profiles set ai_consent = false where ai_consent',
    reason: 'a change of the AI provider withdraws the consent of every user, once, at the start of the server',
  },
  {
    table: 'entry_versions',
    text: 'delete from public.entry_versions where (user_id, date, id) in (select user_id, date, id from public.entry_versions where kept_at <= $1 limit',
    reason: 'the job purge-versions deletes what is older than 30 days, over an index by age',
  },
  {
    table: 'import_days',
    text: 'delete from public.import_days where (user_id, import_id, date) in ( select user_id, import_id, date from public.import_days where written_at <= $1 limit',
    reason: 'the same job deletes the records of imports, over an index by age',
  },
  {
    table: 'reminder_schedule',
    text: 'select user_id, kind from public.reminder_schedule where due_at <= $1 and kind = $2',
    reason: 'the jobs send-evening-reminders and send-digests claim what is due, over an index by time',
  },
  {
    table: 'mail_tokens',
    text: 'delete from public.mail_tokens where expires_at <= $1',
    reason: 'the job purge-sign-in-data deletes expired tokens, over an index by time',
  },
  {
    table: 'access_tokens',
    text: 'delete from public.access_tokens where expires_at <= $1',
    reason: 'the job purge-sign-in-data deletes expired tokens; a user has few',
  },
  {
    table: 'appended_items',
    text: 'delete from public.appended_items where (user_id, key) in (select user_id, key from public.appended_items where created_at <= $1 limit',
    reason: 'the same job deletes the keys of appended items, over an index by age',
  },
];

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

export const findSweep = (table: string, text: string): SystemSweep | undefined =>
  SYSTEM_SWEEPS.find((sweep) => sweep.table === table && oneLine(text).includes(sweep.text));
