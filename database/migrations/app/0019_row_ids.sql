-- An insert may name its row: a browser that lost the answer to an insert finds the row by this id, even if another device
-- moved the log to another day meanwhile.

-- Ids are unique per user. Threat: under a global constraint a client could insert the id of another user's row. The
-- refusal would reveal that the row exists, and an id taken in advance would block the other user's insert for good.
alter table public.entries drop constraint entries_id_key;
alter table public.entries add constraint entries_id_key unique (user_id, id);

grant insert (id) on public.entries to authenticated;
