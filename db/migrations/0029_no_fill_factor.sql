-- A finished delivery kept the space that was reserved for its updates. Without it fewer updates leave the indexes unchanged, but
-- the database needs no more time for a delivery, and later deliveries use all free space (.github/PERFORMANCE.md). The lock blocks
-- no reads or writes.
DO $$
DECLARE
  "part" regclass;
BEGIN
  FOR "part" IN SELECT "relid" FROM pg_partition_tree('deliveries') WHERE "isleaf" LOOP
    EXECUTE format('ALTER TABLE %s RESET (fillfactor)', "part");
  END LOOP;
END $$;
