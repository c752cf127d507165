-- The outbox of webhook events: whatever writes events also writes, in the same transaction, a row for each endpoint that is
-- subscribed to them. A trigger, because several statements write events and none of them may omit it. The endpoints are locked
-- against deletion before their rows are written: one that is being deleted gets none. Otherwise its deletion would reject the
-- email, or the result, whose event it subscribed to.
CREATE OR REPLACE FUNCTION "announce_email_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "webhook_deliveries" ("id", "team_id", "webhook_id", "type", "email_id", "event_id")
  SELECT uuid_v7(), "s"."team_id", "s"."webhook_id", "s"."type", "s"."email_id", "s"."id"
  FROM (
    SELECT "e"."team_id", "w"."id" AS "webhook_id", "e"."type", "e"."email_id", "e"."id"
    FROM "new_events" "e"
    JOIN "webhooks" "w" ON "w"."team_id" = "e"."team_id" AND "w"."status" = 'enabled' AND "e"."type" = ANY("w"."events")
    ORDER BY "e"."id"
    FOR KEY SHARE OF "w"
  ) AS "s";
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "email_events_announced" AFTER INSERT ON "email_events"
  REFERENCING NEW TABLE AS "new_events" FOR EACH STATEMENT EXECUTE FUNCTION "announce_email_events"();

-- UUIDv7 (RFC 9562, with the fraction of the millisecond in rand_a): ids of the outbox sort by their creation time.
CREATE OR REPLACE FUNCTION "uuid_v7"() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex(floor(t.ms)::bigint), 12, '0') || '7' || lpad(to_hex(floor((t.ms - floor(t.ms)) * 4096)::int), 3, '0')
          || substr(gen_random_uuid()::text, 20))::uuid
  FROM (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms) AS t
$$;
