import type { World } from "./world";

/**
 * Remembers the rows of a world's database and its time. The returned function restores both, for
 * `beforeEach`: connections that stay open have parsed all statements, so it takes a small part of the time
 * of a new world. It does not restore the schema.
 */
export async function keepState({ hot, deps, clock }: World): Promise<() => Promise<void>> {
  const aheadMs = clock.now().getTime() - Date.now();
  // A partition's rows are those of its table.
  const tables = `select relname from pg_class where relnamespace = 'public'::regnamespace
    and relkind in ('r', 'p') and not relispartition`;
  await hot.unsafe(`
    create schema kept;
    create function kept.restore() returns void language plpgsql as $$
      declare name text; is_filled boolean;
      begin
        for name in ${tables} loop
          execute format('select exists (select from public.%I)', name) into is_filled;
          if is_filled then execute format('delete from public.%I', name); end if;
        end loop;
        for name in select relname from pg_class where relnamespace = 'kept'::regnamespace and relkind = 'r' loop
          execute format('insert into public.%I overriding system value select * from kept.%I', name, name);
        end loop;
      end $$;
    do $$
      declare name text; is_filled boolean;
      begin
        for name in ${tables} loop
          execute format('select exists (select from public.%I)', name) into is_filled;
          if is_filled then execute format('create table kept.%I as table public.%I', name, name); end if;
        end loop;
      end $$`);
  return async () => {
    await deps.requestLog.flush();
    clock.advance(aheadMs - (clock.now().getTime() - Date.now()));
    await hot.begin(async (tx) => {
      // Neither triggers nor foreign keys.
      await tx`set local session_replication_role = replica`;
      await tx`select kept.restore()`;
    });
  };
}
