drop table "saved_filters" cascade;--> statement-breakpoint
-- Release 0.2.0 still runs on this schema: it has no saved filters.
create or replace function "oldest_release"() returns text language sql immutable as $$ select '0.2.0' $$;
