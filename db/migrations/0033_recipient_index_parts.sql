-- What an interrupted run has left is built again.
SELECT format('DROP INDEX CONCURRENTLY IF EXISTS %I', "c"."relname" || '_recipient_idx') AS "statement"
FROM pg_partition_tree('deliveries') "t" JOIN pg_class "c" ON "c"."oid" = "t"."relid"
WHERE "t"."isleaf" AND NOT EXISTS (
  SELECT FROM pg_inherits "h" JOIN pg_index "i" ON "i"."indexrelid" = "h"."inhrelid"
  WHERE "h"."inhparent" = 'deliveries_recipient_idx'::regclass AND "i"."indrelid" = "t"."relid");
--> statement-breakpoint
SELECT format('CREATE INDEX CONCURRENTLY %I ON %I USING btree ("team_id",lower("address"),"email_id")', "c"."relname" || '_recipient_idx', "c"."relname") AS "statement"
FROM pg_partition_tree('deliveries') "t" JOIN pg_class "c" ON "c"."oid" = "t"."relid"
WHERE "t"."isleaf" AND NOT EXISTS (
  SELECT FROM pg_inherits "h" JOIN pg_index "i" ON "i"."indexrelid" = "h"."inhrelid"
  WHERE "h"."inhparent" = 'deliveries_recipient_idx'::regclass AND "i"."indrelid" = "t"."relid");
