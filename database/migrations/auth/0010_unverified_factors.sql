-- phase: migrate
create index concurrently if not exists mfa_factors_unverified on auth.mfa_factors (created_at) where status = 'unverified';
