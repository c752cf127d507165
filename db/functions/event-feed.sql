-- A cluster into which a dump is restored counts its transactions from the start, so events of the dump are ahead of all that it
-- writes. New positions then begin above them, far above, because clients may have positions that were given after the dump.
-- `event_offset` is not defined here, because this function replaces it.
CREATE OR REPLACE FUNCTION "continue_event_feed"() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
  is_ahead boolean;
BEGIN
  FOR attempt IN 1..2 LOOP
    SELECT max("p"."position"),
      coalesce(max("p"."position") >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + event_offset(), false)
    INTO last, is_ahead
    FROM "teams" "t"
    CROSS JOIN LATERAL (
      SELECT "e"."position" FROM "email_events" "e" WHERE "e"."team_id" = "t"."id"
      ORDER BY "e"."position" DESC, "e"."id" DESC LIMIT 1
    ) AS "p";
    IF NOT is_ahead THEN
      RETURN false;
    END IF;
    -- Checked again while the lock blocks writes, because another session may have raised the offset in the meantime.
    LOCK TABLE "email_events" IN SHARE ROW EXCLUSIVE MODE;
  END LOOP;
  EXECUTE format(
    'CREATE OR REPLACE FUNCTION event_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$ SELECT %s::bigint $body$',
    last + 4294967296);
  RETURN true;
END $$;

-- The position of an event in the feed: the number of the transaction that wrote it. Those below the oldest transaction that is
-- still open are settled, so a client that stays below misses nothing that is committed later. STABLE and one SELECT each, so
-- that they are inlined into the statements that use them, and these are planned again when the offset changes.
CREATE OR REPLACE FUNCTION "event_position"() RETURNS bigint LANGUAGE sql STABLE AS
  $$ SELECT pg_current_xact_id()::text::bigint + event_offset() $$;

-- The oldest open transaction of the cluster may belong to another database. It writes no events here, and the timeouts of
-- this database do not apply to it, so it is skipped. One whose database is unknown, such as a prepared one, counts as ours.
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
