-- phase: migrate
-- The jobs expire-plans and send-reminders look for plans that end, over all users.
create index concurrently if not exists profiles_paid_until on public.profiles (access_valid_until)
  where subscription_plan = 'premium';
