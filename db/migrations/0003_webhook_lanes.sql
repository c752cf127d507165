ALTER TABLE "webhook_attempts" ADD COLUMN "url" text NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "headers" jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD COLUMN "next_attempt_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "webhooks" ADD COLUMN "paused_until" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "webhook_attempts_delivery_idx" ON "webhook_attempts" USING btree ("delivery_id");
--> statement-breakpoint
-- UUIDv7 (RFC 9562, with the fraction of the millisecond in rand_a): ids of the outbox sort by the time they were made.
CREATE FUNCTION "uuid_v7"() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex(floor(t.ms)::bigint), 12, '0') || '7' || lpad(to_hex(floor((t.ms - floor(t.ms)) * 4096)::int), 3, '0')
          || substr(gen_random_uuid()::text, 20))::uuid
  FROM (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms) AS t
$$;
--> statement-breakpoint
CREATE OR REPLACE FUNCTION "announce_email_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "webhook_deliveries" ("id", "team_id", "webhook_id", "type", "email_id", "event_id")
  SELECT uuid_v7(), "s"."team_id", "s"."webhook_id", "s"."type", "s"."email_id", "s"."id"
  FROM (
    SELECT "e"."team_id", "w"."id" AS "webhook_id", "e"."type", "e"."email_id", "e"."id"
    FROM "new_events" "e"
    JOIN "webhooks" "w" ON "w"."team_id" = "e"."team_id" AND "w"."status" = 'enabled' AND "e"."type" = ANY("w"."events")
    ORDER BY "e"."id"
  ) AS "s";
  RETURN NULL;
END $$;
