-- When this token was handed out again, after the reuse window, to somebody who presented its parent. A lost answer does
-- that once; an owner and a thief who share a session do it at every turn, and the second turn ends it.
alter table auth.refresh_tokens add column reissued_at timestamptz;

-- Links of mails that a newer mail of the same kind has followed. They stay good until they expire, so that a stranger who
-- asks for another mail does not kill the link that the owner is about to open. Whatever ends the token that replaced
-- them (its use, a use of one of these, a new password) ends them as well.
create table auth.earlier_links (
  -- SHA-256 of the link's token.
  link_hash bytea primary key check (octet_length(link_hash) = 32),
  user_id uuid not null,
  purpose text not null check (purpose in ('signup', 'recovery')),
  address text not null,
  expires_at timestamptz not null,
  foreign key (user_id, purpose) references auth.one_time_tokens on delete cascade
);
create index on auth.earlier_links (user_id, purpose);

alter table auth.earlier_links enable row level security;
grant select, insert, update, delete on auth.earlier_links to service_role;
