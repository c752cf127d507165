-- Existing partitions; a new one gets the options of the one before it. The lock blocks no reads or writes.
--
-- "fillfactor": a hand-over changes no index if its row version stays on the page. With less than 30% of free space fewer do,
-- with 60% (before) not more, and the space stays free when the delivery is finished (.github/PERFORMANCE.md).
-- Vacuum and analyze: by default after a fifth or a tenth of the rows changed, which is late for the removed entries at the start
-- of a queue's index. The usual cost limit allows about 5,000 changed pages per second, more than a thousand emails change.
DO $$
DECLARE
  "part" regclass;
BEGIN
  FOR "part" IN SELECT "relid" FROM pg_partition_tree('deliveries') WHERE "isleaf" LOOP
    EXECUTE format('ALTER TABLE %s SET (fillfactor = 70)', "part");
  END LOOP;
  FOR "part" IN
    SELECT "relid" FROM pg_partition_tree('deliveries') WHERE "isleaf"
    UNION ALL SELECT "relid" FROM pg_partition_tree('emails') WHERE "isleaf"
  LOOP
    EXECUTE format('ALTER TABLE %s SET (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05)', "part");
  END LOOP;
END $$;
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" SET (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);--> statement-breakpoint
-- All rows of a day are deleted on the next one, from the start of an index.
ALTER TABLE "idempotency_keys" SET (autovacuum_vacuum_threshold = 10000, autovacuum_vacuum_scale_factor = 0.05);--> statement-breakpoint
-- The version of a row from before the email was sent contains its links.
ALTER TABLE "system_mails" SET (autovacuum_vacuum_threshold = 50, autovacuum_vacuum_scale_factor = 0);--> statement-breakpoint
-- A few rows that change with each batch of hand-overs, and no index with them.
ALTER TABLE "sending_days" SET (fillfactor = 50, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_scale_factor = 0);
