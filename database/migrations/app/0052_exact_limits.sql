-- phase: expand
-- Threat: requests at once do not see each other's row, so they store more documents and links than an account may have. The
-- lock makes them wait for each other, as it does for push subscriptions.
create or replace function public.limit_document_links() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('document_links ' || new.user_id, 0));
  if (select count(*) from public.document_links where user_id = new.user_id and expires_at > now()) >= 20 then
    raise exception 'A user can have 20 links at most. End one first' using errcode = 'program_limit_exceeded';
  end if;
  return new;
end
$$;

create or replace function public.revise_document() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if tg_op = 'UPDATE' then
    new.revision := old.revision + 1;
  else
    perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('documents ' || new.user_id, 0));
    -- Threat: a client fills the disk with documents.
    if (select count(*) from public.documents where user_id = new.user_id) >= 100 then
      raise exception 'A user can have 100 documents at most. Delete one first' using errcode = 'program_limit_exceeded';
    end if;
  end if;
  new.updated_at := now();
  return new;
end
$$;
