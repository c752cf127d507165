DROP TABLE "counted_tags" CASCADE;--> statement-breakpoint
DROP TABLE "usage_hours" CASCADE;--> statement-breakpoint
ALTER TABLE "metrics_progress" DROP COLUMN "counted_since";--> statement-breakpoint
-- Release 0.2.0 still writes usage_days and usage_progress, which nothing else reads. It has none of the others.
CREATE OR REPLACE FUNCTION "oldest_release"() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '0.2.0' $$;
