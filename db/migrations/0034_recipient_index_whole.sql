DO $$
DECLARE
  "part" text;
BEGIN
  FOR "part" IN
    SELECT "c"."relname" FROM pg_partition_tree('deliveries') "t" JOIN pg_class "c" ON "c"."oid" = "t"."relid"
    WHERE "t"."isleaf" AND NOT EXISTS (
      SELECT FROM pg_inherits "h" JOIN pg_index "i" ON "i"."indexrelid" = "h"."inhrelid"
      WHERE "h"."inhparent" = 'deliveries_recipient_idx'::regclass AND "i"."indrelid" = "t"."relid")
  LOOP
    EXECUTE format('ALTER INDEX "deliveries_recipient_idx" ATTACH PARTITION %I', "part" || '_recipient_idx');
  END LOOP;
END $$;
