/**
 * Renders the schemas `auth` and `public` of a database as SQL text, in a fixed order so that a diff shows only
 * changes.
 */
import pg from 'pg';

const HEADER = `-- Written by \`npm run schema\` from the migrations. For reading: never applied, never edited.
`;

/** The roles whose grants are rendered. The owner has all privileges implicitly. */
const GRANTEES = "('anon', 'authenticated', 'service_role')";
const IN_SCHEMA = 'relnamespace = $1::regnamespace';

// Each of the following queries returns rows of one column `line` in output order.
const FUNCTIONS = `
  select rtrim(pg_get_functiondef(oid), E'\\n') || ';' as line from pg_proc
   where pronamespace = $1::regnamespace order by proname, oid::regprocedure::text`;

const TABLES = `
  select format(E'create %stable %s.%s (\\n%s\\n)%s;',
           case relpersistence when 'u' then 'unlogged ' else '' end, $1::text, relname,
           (select string_agg('  ' || part, E',\\n' order by place, name) from (
              select 0 as place, lpad(attnum::text, 4, '0') as name,
                     quote_ident(attname) || ' ' || format_type(atttypid, atttypmod)
                     || case when attidentity = 'a' then ' generated always as identity' else '' end
                     || case when attnotnull then ' not null' else '' end
                     || coalesce(' default ' || pg_get_expr(adbin, adrelid), '') as part
                from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
               where attrelid = c.oid and attnum > 0 and not attisdropped
              union all
              select 1, contype::text || conname, 'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(oid)
                from pg_constraint where conrelid = c.oid and contype <> 'n') parts),
           coalesce(' with (' || array_to_string(reloptions, ', ') || ')', '')) as line
    from pg_class c where ${IN_SCHEMA} and relkind = 'r' order by relname`;

const VIEWS = `
  select format(E'create view %s.%s%s as\\n%s', $1::text, relname,
           coalesce(' with (' || array_to_string(reloptions, ', ') || ')', ''), pg_get_viewdef(oid)) as line
    from pg_class where ${IN_SCHEMA} and relkind = 'v' order by relname`;

const INDEXES = `
  select pg_get_indexdef(indexrelid) || ';' as line
    from pg_index join pg_class on pg_class.oid = indexrelid
   where ${IN_SCHEMA} and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
   order by relname`;

const TRIGGERS = `
  select pg_get_triggerdef(t.oid) || ';' as line from pg_trigger t join pg_class on pg_class.oid = tgrelid
   where ${IN_SCHEMA} and not tgisinternal order by relname, tgname`;

const ROW_SECURITY = `
  select format('alter table %s.%s enable row level security%s;', $1::text, relname,
           case when relforcerowsecurity then ', force row level security' else '' end) as line
    from pg_class where ${IN_SCHEMA} and relrowsecurity order by relname`;

const POLICIES = `
  select format('create policy %I on %s.%s%s for %s to %s', policyname, schemaname, tablename,
           case permissive when 'PERMISSIVE' then '' else ' as restrictive' end, lower(cmd), array_to_string(roles, ', '))
         || coalesce(E'\\n  using (' || qual || ')', '') || coalesce(E'\\n  with check (' || with_check || ')', '')
         || ';' as line
    from pg_policies where schemaname = $1 order by tablename, policyname`;

const GRANTS = `
  select format('grant %s on schema %s to %s;', lower(privilege_type), $1::text, grantee::regrole) as line
    from pg_namespace, aclexplode(nspacl)
   where nspname = $1 and grantee <> 0 and grantee::regrole::text in ${GRANTEES}
  union all
  select format('grant %s%s on %s.%s to %s;', lower(privilege_type), columns, $1::text, relname, grantee) from (
    select relname, privilege_type, grantee::regrole::text as grantee, '' as columns
      from pg_class, aclexplode(relacl) where ${IN_SCHEMA} and grantee <> 0
    union all
    select relname, privilege_type, grantee::regrole::text,
           ' (' || string_agg(quote_ident(attname), ', ' order by attnum) || ')'
      from pg_class join pg_attribute on attrelid = pg_class.oid, aclexplode(attacl)
     where ${IN_SCHEMA} and grantee <> 0 group by 1, 2, 3) rights
   where grantee in ${GRANTEES}
  union all
  select format('grant execute on function %s to %s;', pg_proc.oid::regprocedure,
           case grantee when 0 then 'public' else grantee::regrole::text end)
    from pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
   where pronamespace = $1::regnamespace and (grantee = 0 or grantee::regrole::text in ${GRANTEES})
   order by 1`;

const SECTIONS = [TABLES, VIEWS, INDEXES, FUNCTIONS, TRIGGERS, ROW_SECURITY, POLICIES, GRANTS];

export async function describeSchema(ownerUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    // With an empty search path PostgreSQL qualifies every name with its schema.
    await client.query("set search_path = ''");
    const parts = [HEADER];
    for (const schema of ['auth', 'public']) {
      parts.push(`-- Schema ${schema}\n`);
      for (const section of SECTIONS) {
        const { rows } = await client.query<{ line: string }>(section, [schema]);
        const separator = section === TABLES || section === FUNCTIONS || section === POLICIES ? '\n\n' : '\n';
        if (rows.length > 0) parts.push(`${rows.map(({ line }) => line.trimEnd()).join(separator)}\n`);
      }
    }
    return parts.join('\n');
  } finally {
    await client.end();
  }
}
