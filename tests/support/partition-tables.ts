/**
 * Divides the tables of users of a migrated database into hash partitions by user, as an operator of hundreds of
 * millions of rows could (docs/operations/scaling.md). Only for empty tables.
 *
 * A table cannot become partitioned in place, so it is created again with everything that depends on it: constraints,
 * indexes, triggers, policies, grants, views and functions. Partitions get row-level security without policies, so no
 * role can read them except through their table.
 */
import pg from 'pg';
import { readUserTables } from './statements/check-statements.ts';

/** Runs a query of the catalogue whose column `sql` has statements. */
const queryStatements = async (client: pg.Client, text: string, values: unknown[]): Promise<string[]> =>
  (await client.query<{ sql: string }>(text, values)).rows.map(({ sql }) => sql);

export async function partitionTables(ownerUrl: string, partitions: number): Promise<void> {
  const client = new pg.Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    const tables = await readUserTables(client);
    const names = tables.map(({ name }) => name);
    await client.query('begin');
    // With an empty search path the catalogue qualifies every name with its schema.
    await client.query("set local search_path = ''; set local check_function_bodies = off");
    const definitions = await readDefinitions(client, names);
    const storage = await readStorage(client, names);
    for (const { name, userColumn } of tables) {
      await client.query(`create table public.${name}_divided
        (like public.${name} including defaults including generated including identity including storage)
        partition by hash (${userColumn})`);
    }
    await client.query(`drop table ${names.map((name) => `public.${name}`).join(', ')} cascade`);
    for (const name of names) {
      await client.query(`alter table public.${name}_divided rename to ${name}`);
      const options = storage.get(name);
      for (let part = 0; part < partitions; part += 1) {
        const partition = `public.${name}_p${String(part).padStart(2, '0')}`;
        await client.query(`create table ${partition} partition of public.${name}
          for values with (modulus ${partitions}, remainder ${part}) ${options ? `with (${options})` : ''}`);
        await client.query(`alter table ${partition} enable row level security, force row level security`);
      }
    }
    for (const sql of definitions) await client.query(sql);
    await client.query('commit');
  } finally {
    await client.end();
  }
}

/** Settings of storage and of autovacuum, which only the partitions of a table can have. */
async function readStorage(client: pg.Client, names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const { rows } = await client.query<{ name: string; options: string }>(
    `select relname as name, array_to_string(reloptions, ', ') as options
       from pg_catalog.pg_class where ${TABLES} and reloptions is not null`,
    [names],
  );
  return new Map(rows.map(({ name, options }) => [name, options]));
}

const TABLES = `relnamespace = 'public'::regnamespace and relname = any($1)`;

/** Objects that the catalogue records as depending on a table, directly or through another one of them. */
const DEPENDENTS = `with recursive dependent (classid, objid) as (
    select 'pg_class'::regclass::oid, oid from pg_catalog.pg_class where ${TABLES}
    union
    select case when rule.oid is null then depend.classid else 'pg_class'::regclass end,
           coalesce(rule.ev_class, depend.objid)
      from dependent
           join pg_catalog.pg_depend depend on depend.refclassid = dependent.classid and depend.refobjid = dependent.objid
           left join pg_catalog.pg_rewrite rule on depend.classid = 'pg_rewrite'::regclass and rule.oid = depend.objid
     where depend.deptype = 'n')`;

/** Returns the statements that create the tables' dependent objects, each after the objects that it needs. */
async function readDefinitions(client: pg.Client, names: readonly string[]): Promise<string[]> {
  const read = (text: string): Promise<string[]> => queryStatements(client, text, [names]);
  return [
    // Keys before the foreign keys that refer to them.
    ...(await read(`select format('alter table public.%I add constraint %I %s', relname, conname, pg_get_constraintdef(c.oid)) as sql
      from pg_catalog.pg_constraint c join pg_catalog.pg_class on pg_class.oid = conrelid
     where ${TABLES} and contype in ('p', 'u', 'c', 'f') order by array_position(array['p', 'u', 'c', 'f'], contype::text)`)),
    ...(await read(`select pg_get_indexdef(indexrelid) as sql
      from pg_catalog.pg_index join pg_catalog.pg_class on pg_class.oid = indrelid
     where ${TABLES} and not exists (select from pg_catalog.pg_constraint where conindid = indexrelid)`)),
    ...(await read(
      `${DEPENDENTS} select pg_get_functiondef(objid) as sql from dependent where classid = 'pg_proc'::regclass`,
    )),
    ...(await read(`${DEPENDENTS}
      select format('create view %s%s as %s', objid::regclass,
               coalesce(' with (' || array_to_string(reloptions, ', ') || ')', ''), pg_get_viewdef(objid)) as sql
        from dependent join pg_catalog.pg_class on pg_class.oid = objid
       where classid = 'pg_class'::regclass and relkind = 'v'`)),
    ...(await read(`select pg_get_triggerdef(t.oid) as sql
      from pg_catalog.pg_trigger t join pg_catalog.pg_class on pg_class.oid = tgrelid where ${TABLES} and not tgisinternal`)),
    ...(await read(`select format('alter table public.%I enable row level security, force row level security', relname) as sql
      from pg_catalog.pg_class where ${TABLES} and relrowsecurity and relforcerowsecurity`)),
    ...(await read(`select format('create policy %I on public.%I as %s for %s to %s', policyname, tablename, permissive, cmd,
               array_to_string(roles, ', ')) || coalesce(' using (' || qual || ')', '')
             || coalesce(' with check (' || with_check || ')', '') as sql
      from pg_catalog.pg_policies where schemaname = 'public' and tablename = any($1)`)),
    ...(await read(`${DEPENDENTS}, relation as (
        select pg_class.oid, relname, relacl from pg_catalog.pg_class join dependent on objid = pg_class.oid
         where classid = 'pg_class'::regclass)
      select format('revoke all on public.%I from public, anon, authenticated, service_role', relname) as sql from relation
      union all
      select format('grant %s on public.%I to %s', privilege_type, relname, grantee::regrole)
        from relation, aclexplode(relacl) where grantee <> 0
      union all
      select format('grant %s (%I) on public.%I to %s', privilege_type, attname, relname, grantee::regrole)
        from relation join pg_catalog.pg_attribute on attrelid = relation.oid, aclexplode(attacl)`)),
    ...(await read(`${DEPENDENTS}
      select format('revoke execute on function %s from public, anon, authenticated, service_role', objid::regprocedure) as sql
        from dependent where classid = 'pg_proc'::regclass
      union all
      select format('grant execute on function %s to %s', objid::regprocedure,
               case grantee when 0 then 'public' else grantee::regrole::text end)
        from dependent join pg_catalog.pg_proc on pg_proc.oid = objid, aclexplode(coalesce(proacl, acldefault('f', proowner)))
       where classid = 'pg_proc'::regclass and privilege_type = 'EXECUTE'`)),
  ];
}

export const PARTITIONS = Number(process.env['TEST_PARTITIONS'] ?? 0);

/**
 * Skips tests of the plain layout: the names of indexes, the schema file, and a concurrent index build, which
 * PostgreSQL does not support on a partitioned table. `npm run bench -- plans` checks the plans on partitions.
 */
export const isPartitioned = PARTITIONS > 0;
