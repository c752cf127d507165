-- Until now an unsubscribe had the origin of an entry that was added manually, and only an unsubscribe was limited to lists. Rows
-- that release 0.2.0 still adds get the origin by the trigger of suppressions.sql.
UPDATE "suppressions" SET "origin" = 'unsubscribe' WHERE "lists_only" AND "origin" = 'manual';
