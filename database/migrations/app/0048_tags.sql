-- phase: expand
-- The tags of each log as it spells them, for the list in Find (docs/specification/screens.md 9). `tags_revision` is the
-- revision of the log that both `words` and `tags` were made of. A server that knows no tags sets `revision` alone, so the
-- row that it writes is stale for a newer server, as all rows are that existed before.
alter table public.entry_words
  add column tags text[] not null default '{}',
  add column tags_revision integer;
