-- phase: migrate
-- For the job that deletes expired links and codes (src/server/auth/accounts/purge-expired.ts).
create index concurrently if not exists one_time_tokens_expired on auth.one_time_tokens (expires_at);
