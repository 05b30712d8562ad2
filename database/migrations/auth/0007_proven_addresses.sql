-- phase: expand
-- When a link, a code or a provider first proved that the account's owner reads the address (docs/specification/accounts.md 17).
-- Null while AUTH_AUTOCONFIRM alone has confirmed it: the next proof claims the account. Servers of an older version leave it
-- null, so that the next proof claims accounts that are confirmed there during an upgrade.
alter table auth.users add column email_proven_at timestamptz;
