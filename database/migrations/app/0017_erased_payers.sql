-- When an account is deleted, its payments stay as figures that name no one. `erase_payer` is the only way to change the
-- user of a row in these tables, and it works only for a user whose account no longer exists.

-- The user whom `erase_payer` is erasing; null outside of it. Threat: any role can set the variable, but only the owner
-- of the table, whom `erase_payer` runs as, gets an answer.
create function public.erased_user(relation oid) returns uuid
  language sql stable set search_path = ''
return (
  select nullif(current_setting('hustle_forge.erased_user', true), '')::uuid
    from pg_catalog.pg_class where oid = relation and pg_catalog.pg_has_role(current_user, relowner, 'member'));

create or replace function public.keep_payment_facts() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if old.user_id = public.erased_user(tg_relid) then
    if to_jsonb(new) - array['user_id', 'country', 'approval_url', 'debug_id', 'mail_due_at']
         is distinct from to_jsonb(old) - array['user_id', 'country', 'approval_url', 'debug_id', 'mail_due_at'] then
      raise exception 'erasing a payer changes no facts of a payment' using errcode = 'restrict_violation';
    end if;
    return new;
  end if;
  if (new.id, new.user_id, new.provider, new.amount_minor, new.currency, new.created_at)
       is distinct from (old.id, old.user_id, old.provider, old.amount_minor, old.currency, old.created_at)
     or new.country is distinct from old.country
     or (old.order_id is not null and new.order_id is distinct from old.order_id)
     or (old.capture_id is not null and new.capture_id is distinct from old.capture_id) then
    raise exception 'the facts of a payment are never changed' using errcode = 'restrict_violation';
  end if;
  -- Set together with the status, so that no crash comes between them. A refusal is mailed only to a buyer who was asked
  -- to wait for it; any other buyer sees it on the screen.
  if new.status is distinct from old.status
     and (new.status in ('completed', 'refunded', 'reversed')
          or (new.status = 'declined' and exists (
                select from public.payment_changes where payment_id = new.id and status = 'pending'))) then
    new.mail_due_at := now();
  end if;
  new.updated_at := now();
  return new;
end
$$;

create function public.allow_only_erasure() returns trigger
  language plpgsql set search_path = ''
as $$
declare
  erased uuid := public.erased_user(tg_relid);
  is_refused boolean := erased is null;
begin
  if not is_refused and tg_level = 'ROW' then
    is_refused := old.user_id is distinct from erased
      or to_jsonb(new) - 'user_id' is distinct from to_jsonb(old) - 'user_id';
  end if;
  if is_refused then
    raise exception 'rows of % are never changed', tg_table_name using errcode = 'restrict_violation';
  end if;
  if tg_level = 'STATEMENT' then
    return null;
  end if;
  return new;
end
$$;

do $$
declare
  name text;
begin
  foreach name in array array['plan_changes', 'plan_uses'] loop
    execute format('drop trigger only_added_to on public.%I', name);
    execute format('create trigger only_added_to before delete or truncate on public.%I
      for each statement execute function public.refuse_change_of_ledger()', name);
    -- Also for the statement: it refuses an update that row-level security leaves without rows.
    execute format('create trigger updated_by_erasure_alone before update on public.%I
      for each statement execute function public.allow_only_erasure()', name);
    execute format('create trigger only_user_is_erased before update on public.%I
      for each row execute function public.allow_only_erasure()', name);
  end loop;
  -- Row-level security is forced on the owner too. An update whose `where` reads the row checks the policy for reading on
  -- the changed row as well, which names another user.
  foreach name in array array['payments', 'plan_changes', 'plan_uses'] loop
    execute format('create policy %I on public.%I for select to current_user
      using ((select public.erased_user(%L::regclass)) is not null)', 'owner_select_' || name, name, 'public.' || name);
    execute format('create policy %I on public.%I for update to current_user
      using (user_id = (select public.erased_user(%L::regclass))) with check (true)',
      'owner_erase_user_of_' || name, name, 'public.' || name);
  end loop;
end
$$;

-- Replaces the user in every ledger by one random id, which it returns: the rows still belong together, and to no one.
create function public.erase_payer(payer uuid) returns uuid
  language plpgsql security definer set search_path = ''
as $$
declare
  nobody uuid := gen_random_uuid();
begin
  if exists (select from auth.users where id = payer) then
    raise exception 'the account of this user still exists' using errcode = 'restrict_violation';
  end if;
  perform set_config('hustle_forge.erased_user', payer::text, true);
  update public.payments
     set user_id = nobody, country = null, approval_url = null, debug_id = null, mail_due_at = null
   where user_id = payer;
  update public.plan_changes set user_id = nobody where user_id = payer;
  update public.plan_uses set user_id = nobody where user_id = payer;
  perform set_config('hustle_forge.erased_user', '', true);
  return nobody;
end
$$;
revoke execute on function public.erase_payer(uuid) from public, anon, authenticated;
grant execute on function public.erase_payer(uuid) to service_role;
