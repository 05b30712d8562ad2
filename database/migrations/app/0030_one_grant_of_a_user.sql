-- phase: migrate
-- Replaces the index on the payment alone: unique keys begin with the user, because tables may be partitioned by user. A
-- payment belongs to one user, so it still adds one year at most.
create unique index concurrently if not exists plan_changes_granted_once on public.plan_changes (user_id, payment_id)
  where reason = 'payment';
