-- phase: expand
-- The program that an import came from, as the list of imports names it. Null for an import of a client that did not say. Only
-- the service writes it, at most 100 characters.
alter table public.import_days add column program text;
