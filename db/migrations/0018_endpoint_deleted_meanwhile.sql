-- The endpoints are locked against being deleted before their rows are written: one that is just deleted gets none. Else its
-- deletion would refuse the mail, or the result, whose event it wanted to hear of.
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
