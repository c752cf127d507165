-- The outbox: whatever writes events also writes, in the same transaction, a row for each endpoint that asked for them.
-- A trigger, because events are written by several statements and none of them may forget it.
CREATE FUNCTION "announce_email_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "webhook_deliveries" ("id", "team_id", "webhook_id", "type", "email_id", "event_id")
  SELECT gen_random_uuid(), "e"."team_id", "w"."id", "e"."type", "e"."email_id", "e"."id"
  FROM "new_events" "e"
  JOIN "webhooks" "w" ON "w"."team_id" = "e"."team_id" AND "w"."status" = 'enabled' AND "e"."type" = ANY("w"."events");
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "email_events_announced" AFTER INSERT ON "email_events"
  REFERENCING NEW TABLE AS "new_events" FOR EACH STATEMENT EXECUTE FUNCTION "announce_email_events"();
