-- phase: migrate
-- As in 0030_one_grant_of_a_user.sql: a payment's year is withdrawn once at most.
create unique index concurrently if not exists plan_changes_ended_once on public.plan_changes (user_id, payment_id)
  where reason in ('refund', 'reversal');
