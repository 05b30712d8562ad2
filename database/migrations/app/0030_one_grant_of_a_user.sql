-- phase: migrate
-- Keys of users' tables begin with the user. A payment has one user, so it still adds one year at most.
create unique index concurrently if not exists plan_changes_granted_once on public.plan_changes (user_id, payment_id)
  where reason = 'payment';
