-- phase: expand
-- The keys that sign access tokens, and the bytes from which all other secrets are derived, for servers without
-- AUTH_SIGNING_KEY_FILE (docs/decisions/0034). A reader of this row can sign in as any user.
create table auth.signing_keys (
  -- At most one row: two servers that start at the same moment agree on one set of keys.
  is_only_row boolean primary key default true check (is_only_row),
  -- As in a key file (docs/operations.md, "The signing key").
  key_set text not null,
  rotated_at timestamptz not null default now()
);

-- Without a policy only service_role, which bypasses row-level security, sees the row. Forced, so that the owner of the
-- tables does not see it either.
alter table auth.signing_keys enable row level security, force row level security;
grant select, insert, update, delete on auth.signing_keys to service_role;
