-- The roles and the database of the application. Run once as the superuser on the primary:
--   psql --host=pg1 --username=postgres --set=password=... --set=pooler_password=... --file=roles.sql
-- PostgreSQL 15 lets only a superuser create a role with `bypassrls`, so the three roles of requests are created here.
create role anon nologin noinherit;
create role authenticated nologin noinherit;
create role service_role nologin noinherit bypassrls;
create role journal login createrole password :'password';
grant anon, authenticated, service_role to journal with admin option;
create database journal owner journal;

-- PgBouncer may read the verifier of one login, the one of the application's requests.
create role pooler login password :'pooler_password';
\connect journal
create schema pooler;
grant usage on schema pooler to pooler;
create function pooler.find_login(login text) returns table (name text, verifier text)
  language sql stable security definer set search_path = pg_catalog as $$
  select rolname::text, rolpassword from pg_authid where rolname = login and rolname = 'journal_requests'
$$;
revoke execute on function pooler.find_login from public;
grant execute on function pooler.find_login to pooler;
