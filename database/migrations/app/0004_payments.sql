-- What was paid: one row for every attempt to buy a year, and books that are only ever added to.
-- The rules stand in src/domain/payment.ts; src/server/payments moves the rows from one status to the next.

create table public.payments (
  -- Goes to PayPal as custom_id and invoice_id, so that every order and every capture names its row.
  id uuid primary key default gen_random_uuid(),
  -- No foreign key: what was paid must outlive the account.
  user_id uuid not null,
  provider text not null default 'paypal' constraint payments_known_provider check (provider in ('paypal')),
  -- Set once each, as soon as PayPal has named them.
  order_id text unique,
  capture_id text unique,
  amount_minor integer not null constraint payments_amount_range check (amount_minor > 0),
  currency text not null constraint payments_currency_code check (currency ~ '^[A-Z]{3}$'),
  -- Where the buyer said to be when the order was made; what the law there says about refunds goes by it.
  country text constraint payments_country_code check (country ~ '^[A-Z]{2}$'),
  status text not null default 'created' constraint payments_known_status check (status in
    ('created', 'approved', 'capturing', 'pending', 'completed', 'declined', 'voided', 'expired', 'refunded',
     'reversed', 'needs_review')),
  -- Whoever works on this payment does so alone until then. A worker that died is followed by the next one.
  lease_until timestamptz,
  -- When the sweep looks at this payment next; null when there is nothing left to find out.
  due_at timestamptz,
  -- How often a capture was refused for good: every try after that is a request of its own at PayPal.
  refused_captures integer not null default 0,
  refund_requested_at timestamptz,
  approval_url text,
  debug_id text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  receipt_mailed_at timestamptz,
  -- When the buyer is to be told of this status by mail; null when there is nothing to tell.
  mail_due_at timestamptz
);
create index payments_of_user on public.payments (user_id, created_at desc);
create index payments_due on public.payments (due_at) where due_at is not null;
create index payments_mail_due on public.payments (mail_due_at) where mail_due_at is not null;

-- The facts of a payment are never changed, and what PayPal has named is never renamed.
create function public.keep_payment_facts() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  if (new.id, new.user_id, new.provider, new.amount_minor, new.currency, new.created_at)
       is distinct from (old.id, old.user_id, old.provider, old.amount_minor, old.currency, old.created_at)
     or new.country is distinct from old.country
     or (old.order_id is not null and new.order_id is distinct from old.order_id)
     or (old.capture_id is not null and new.capture_id is distinct from old.capture_id) then
    raise exception 'the facts of a payment are never changed' using errcode = 'restrict_violation';
  end if;
  -- With the status itself, so that no end of the process comes between them. A refusal is told to whoever was asked
  -- to wait for it; everybody else sees it on the screen.
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

create trigger keep_payment_facts before update on public.payments
  for each row execute function public.keep_payment_facts();
create trigger never_deleted before delete or truncate on public.payments
  for each statement execute function public.refuse_change_of_ledger();

-- Every status that a payment has had, and when.
create table public.payment_changes (
  payment_id uuid not null references public.payments,
  id bigint generated always as identity,
  status text not null,
  changed_at timestamptz not null default now(),
  primary key (payment_id, id)
);

create function public.note_payment_status() returns trigger
  language plpgsql set search_path = ''
as $$
begin
  insert into public.payment_changes (payment_id, status) values (new.id, new.status);
  return null;
end
$$;

create trigger note_first_status after insert on public.payments
  for each row execute function public.note_payment_status();
create trigger note_status after update on public.payments
  for each row when (old.status is distinct from new.status) execute function public.note_payment_status();

create trigger only_added_to before update or delete or truncate on public.payment_changes
  for each statement execute function public.refuse_change_of_ledger();

-- What PayPal has told us by webhook. The key is PayPal's own, so that an event told twice is one event.
create table public.payment_events (
  id text primary key,
  type text not null,
  raw text not null,
  received_at timestamptz not null default now(),
  processed_at timestamptz
);
create index payment_events_waiting on public.payment_events (received_at) where processed_at is null;

-- The money itself: what came, what PayPal kept of it, what went back.
create table public.payment_ledger (
  payment_id uuid not null references public.payments,
  id bigint generated always as identity,
  kind text not null constraint payment_ledger_known_kind check (kind in ('capture', 'fee', 'refund', 'reversal')),
  amount_minor integer not null constraint payment_ledger_amount_range check (amount_minor >= 0),
  currency text not null,
  -- PayPal's name for it. Together with the kind it is booked once, whoever brings it.
  provider_ref text not null,
  booked_at timestamptz not null default now(),
  primary key (payment_id, id),
  constraint payment_ledger_booked_once unique (kind, provider_ref)
);

create trigger only_added_to before update or delete or truncate on public.payment_ledger
  for each statement execute function public.refuse_change_of_ledger();

-- A change of plan that a payment brought about names it, and the first day that it added.
alter table public.plan_changes
  add column payment_id uuid references public.payments,
  add column valid_from date;
-- The last word on "one grant per payment", whatever the program does.
create unique index plan_changes_one_grant on public.plan_changes (payment_id) where reason = 'payment';
create unique index plan_changes_one_end on public.plan_changes (payment_id) where reason in ('refund', 'reversal');

-- Which reminders of a plan's end have been sent.
create table public.plan_reminders (
  user_id uuid not null references auth.users on delete cascade,
  access_valid_until date not null,
  days_before integer not null,
  mailed_at timestamptz not null default now(),
  primary key (user_id, access_valid_until, days_before)
);

alter table public.payments enable row level security;
alter table public.payments force row level security;
alter table public.payment_changes enable row level security;
alter table public.payment_changes force row level security;
alter table public.payment_events enable row level security;
alter table public.payment_events force row level security;
alter table public.payment_ledger enable row level security;
alter table public.payment_ledger force row level security;
alter table public.plan_reminders enable row level security;
alter table public.plan_reminders force row level security;

create policy "own payments are read" on public.payments
  for select to authenticated using (user_id = (select auth.uid()));

revoke all on public.payments, public.payment_changes, public.payment_events, public.payment_ledger,
  public.plan_reminders from anon, authenticated, service_role;
grant select (id, user_id, order_id, amount_minor, currency, status, country, created_at, completed_at)
  on public.payments to authenticated;
grant select, insert, update on public.payments to service_role;
grant select, insert on public.payment_changes, public.payment_ledger to service_role;
grant select, insert, update (processed_at) on public.payment_events to service_role;
grant select, insert, delete on public.plan_reminders to service_role;
