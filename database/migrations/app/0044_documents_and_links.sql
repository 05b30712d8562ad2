-- phase: expand
-- Wins documents and read-only links (docs/specification/wins.md).

-- A document of its owner's picked lines. Writing one is part of the paid plan. When that ends, what was written can still be
-- read and deleted.
create table public.documents (
  user_id uuid not null references auth.users on delete cascade,
  id uuid not null default gen_random_uuid(),
  title text not null constraint documents_title_length check (char_length(title) <= 200),
  first_day date not null,
  last_day date not null,
  -- JSON (src/domain/documents/wins-document.ts) as text: it comes back byte for byte.
  content text not null constraint documents_content_size check (octet_length(content) <= 262144),
  -- Raised with every change: a save names the revision that it is based on.
  revision integer not null default 1,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint documents_period check (first_day <= last_day),
  primary key (user_id, id)
);

create function public.revise_document() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if tg_op = 'UPDATE' then
    new.revision := old.revision + 1;
  -- Threat: a client fills the disk with documents.
  elsif (select count(*) from public.documents where user_id = new.user_id) >= 100 then
    raise exception 'A user can have 100 documents at most. Delete one first' using errcode = 'program_limit_exceeded';
  end if;
  new.updated_at := now();
  return new;
end
$$;
create trigger revise_document before insert or update on public.documents
  for each row execute function public.revise_document();

alter table public.documents enable row level security, force row level security;
create policy user_select_documents on public.documents for select to authenticated
  using (user_id = (select auth.uid()));
create policy user_insert_documents on public.documents for insert to authenticated
  with check (user_id = (select auth.uid()) and (select public.is_premium()));
create policy user_update_documents on public.documents for update to authenticated
  using (user_id = (select auth.uid()) and (select public.is_premium()))
  with check (user_id = (select auth.uid()) and (select public.is_premium()));
create policy user_delete_documents on public.documents for delete to authenticated
  using (user_id = (select auth.uid()));
revoke all on public.documents from anon, authenticated, service_role;
grant select on public.documents to authenticated, service_role;
grant insert (user_id, id, title, first_day, last_day, content) on public.documents to authenticated;
grant update (title, first_day, last_day, content) on public.documents to authenticated;
grant delete on public.documents to authenticated;

-- Shows one document or one review to whoever has the token. The token itself is stored nowhere. A link ends with its
-- document, its review and its account.
create table public.document_links (
  user_id uuid not null references auth.users on delete cascade,
  id uuid not null default gen_random_uuid(),
  document_id uuid,
  review_id uuid,
  token_hash bytea not null constraint document_links_token_hash check (octet_length(token_hash) = 32),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint document_links_one_target check (num_nonnulls(document_id, review_id) = 1),
  -- Threat: a client makes a link that never ends. `created_at` has no grant.
  constraint document_links_expiry check (expires_at <= created_at + interval '2161 hours'),
  constraint document_links_of_document foreign key (user_id, document_id) references public.documents on delete cascade,
  constraint document_links_of_review foreign key (user_id, review_id) references public.reviews on delete cascade,
  primary key (user_id, id),
  unique (token_hash)
);
create index document_links_by_document on public.document_links (user_id, document_id);
create index document_links_by_review on public.document_links (user_id, review_id);
create index document_links_by_expiry on public.document_links (expires_at);

create function public.limit_document_links() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if (select count(*) from public.document_links where user_id = new.user_id and expires_at > now()) >= 20 then
    raise exception 'A user can have 20 links at most. End one first' using errcode = 'program_limit_exceeded';
  end if;
  return new;
end
$$;
create trigger limit_document_links before insert on public.document_links
  for each row execute function public.limit_document_links();

alter table public.document_links enable row level security, force row level security;
create policy user_select_document_links on public.document_links for select to authenticated
  using (user_id = (select auth.uid()));
create policy user_insert_document_links on public.document_links for insert to authenticated
  with check (user_id = (select auth.uid()) and (select public.is_premium()));
create policy user_delete_document_links on public.document_links for delete to authenticated
  using (user_id = (select auth.uid()));
revoke all on public.document_links from anon, authenticated, service_role;
-- Without `token_hash`: only the server compares it.
grant select (user_id, id, document_id, review_id, created_at, expires_at) on public.document_links to authenticated;
grant insert (user_id, document_id, review_id, token_hash, expires_at) on public.document_links to authenticated;
grant delete on public.document_links to authenticated;
grant select, delete on public.document_links to service_role;
