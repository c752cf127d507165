-- Shorter than the time after which PostgreSQL looks for deadlocks, so that only the migration is repeated and no statement of
-- another transaction fails.
SET LOCAL lock_timeout = '100ms';--> statement-breakpoint
-- The foreign key to endpoints is added to the partitioned table, too. It finds the one of the only partition, so nothing is read.
LOCK TABLE "webhooks" IN SHARE ROW EXCLUSIVE MODE;--> statement-breakpoint
LOCK TABLE "webhook_deliveries", "webhook_attempts" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
-- Instead of a foreign key to a partitioned table, which could not be added without a scan. An attempt is written with a change
-- of its event delivery, so none is added to a deleted one. Custom plans, because the first one could be made with empty tables.
CREATE FUNCTION "delete_with_webhook_deliveries"() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  "team" uuid;
  "ids" uuid[];
BEGIN
  FOR "team", "ids" IN SELECT "team_id", array_agg("id") FROM "old_deliveries" GROUP BY "team_id" LOOP
    DELETE FROM "webhook_attempts" WHERE "team_id" = "team" AND "delivery_id" = ANY ("ids");
  END LOOP;
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "webhook_deliveries_deleted" AFTER DELETE ON "webhook_deliveries"
  REFERENCING OLD TABLE AS "old_deliveries" FOR EACH STATEMENT EXECUTE FUNCTION "delete_with_webhook_deliveries"();
--> statement-breakpoint
ALTER TABLE "webhook_attempts" DROP CONSTRAINT "webhook_attempts_delivery_id_webhook_deliveries_id_fk";--> statement-breakpoint
-- Only the foreign key used it.
DROP INDEX "webhook_attempts_delivery_idx";--> statement-breakpoint
-- The partitioned table's key has this name.
ALTER INDEX "webhook_deliveries_pkey" RENAME TO "webhook_deliveries_first_pkey";--> statement-breakpoint
SELECT partition_table('webhook_deliveries', 'id');--> statement-breakpoint
SELECT partition_table('webhook_attempts', 'delivery_id');--> statement-breakpoint
-- Release 0.2.0 still runs on this schema: names and columns are the same, and no statement uses the name of the renamed index.
CREATE OR REPLACE FUNCTION "oldest_release"() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '0.2.0' $$;
