-- phase: migrate
-- For the job that deletes accounts which nobody has confirmed in 30 days (src/server/auth/accounts/purge-expired.ts).
create index concurrently if not exists users_unconfirmed on auth.users (created_at)
 where email_confirmed_at is null and phone_confirmed_at is null;
