-- phase: migrate
create index concurrently if not exists access_tokens_expired on public.access_tokens (expires_at);
