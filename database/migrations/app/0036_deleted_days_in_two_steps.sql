-- phase: expand
-- The view chose one version of each deleted day after it had computed the excerpt of every version: a user with large
-- versions made one read take ten seconds. Now the excerpt follows the choice, and reads the beginning of the text.

create or replace view public.deleted_days with (security_invoker = true) as
  select user_id, date, version_id, deleted_at,
         -- A tag that the cut divides is left out.
         left(public.entry_text(regexp_replace(left(content, 8192), '<[^>]*$', '')), 200) as excerpt
    from (
      select distinct on (user_id, date) user_id, date, id as version_id, kept_at as deleted_at, content
        from public.entry_versions version
       where replaced_by = 'deletion'
         and not exists (
           select from public.entries
            where entries.user_id = version.user_id and entries.date = version.date and entries.content_text <> '')
       order by user_id, date, kept_at desc
    ) as deleted;
