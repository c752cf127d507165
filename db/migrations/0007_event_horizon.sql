-- The oldest open transaction of the cluster may be another database's, which writes no events here and obeys nobody's time
-- limits here. Those are passed over; one that cannot be told, such as a prepared one, counts as ours.
CREATE OR REPLACE FUNCTION "event_horizon"() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (
      SELECT min("x"."xact"::text::bigint) FROM pg_snapshot_xip(pg_current_snapshot()) AS "x"("xact")
      WHERE NOT EXISTS (
        SELECT FROM pg_locks "l"
        JOIN pg_stat_activity "a" ON "a"."pid" = "l"."pid"
        WHERE "l"."locktype" = 'transactionid' AND "l"."transactionid" = "x"."xact"::xid AND "l"."mode" = 'ExclusiveLock'
          AND "l"."granted" AND "a"."datname" <> current_database()
      )
    ),
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint
  ) + event_offset()
$$;
