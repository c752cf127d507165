-- The place of an event in the feed: the number of the transaction that wrote it. Those below the oldest transaction that is
-- still open are settled, so a reader who stays below misses nothing that is committed later. STABLE and one SELECT each, so
-- that they are written into the statements that use them, and these are planned anew when the offset changes.
CREATE FUNCTION "event_offset"() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT 0::bigint $$;
--> statement-breakpoint
CREATE FUNCTION "event_position"() RETURNS bigint LANGUAGE sql STABLE AS
  $$ SELECT pg_current_xact_id()::text::bigint + event_offset() $$;
--> statement-breakpoint
CREATE FUNCTION "event_horizon"() RETURNS bigint LANGUAGE sql STABLE AS
  $$ SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint + event_offset() $$;
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"team_id" uuid NOT NULL,
	"day" date NOT NULL,
	"api_key_id" uuid,
	"domain" text NOT NULL,
	"accepted" integer NOT NULL,
	"sent" integer NOT NULL,
	"delivered" integer NOT NULL,
	"bounced" integer NOT NULL,
	"complained" integer NOT NULL,
	"failed" integer NOT NULL,
	"suppressed" integer NOT NULL,
	"unknown" integer NOT NULL,
	"first_position" bigint NOT NULL,
	CONSTRAINT "usage_days_key" UNIQUE NULLS NOT DISTINCT("team_id","day","api_key_id","domain")
);
--> statement-breakpoint
CREATE TABLE "usage_progress" (
	"team_id" uuid PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"event_id" uuid NOT NULL
);
--> statement-breakpoint
ALTER TABLE "email_events" ADD COLUMN "position" bigint DEFAULT event_position() NOT NULL;--> statement-breakpoint
CREATE INDEX "api_requests_created_idx" ON "api_requests" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "email_events_feed_idx" ON "email_events" USING btree ("team_id","position","id");--> statement-breakpoint
CREATE INDEX "suppressions_team_origin_idx" ON "suppressions" USING btree ("team_id","origin","id");
--> statement-breakpoint
-- A cluster into which a dump is restored counts its transactions from the start, so events of the dump lie ahead of all that
-- it writes. Then new positions begin above them; far above, because readers may hold places that were given after the dump.
CREATE FUNCTION "continue_event_feed"() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
  is_ahead boolean;
BEGIN
  FOR attempt IN 1..2 LOOP
    SELECT max("p"."position"), coalesce(max("p"."position") >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + event_offset(), false)
    INTO last, is_ahead
    FROM "teams" "t"
    CROSS JOIN LATERAL (
      SELECT "e"."position" FROM "email_events" "e" WHERE "e"."team_id" = "t"."id" ORDER BY "e"."position" DESC, "e"."id" DESC LIMIT 1
    ) AS "p";
    IF NOT is_ahead THEN
      RETURN false;
    END IF;
    -- Looked at again when nobody writes: whoever was first has settled it.
    LOCK TABLE "email_events" IN SHARE ROW EXCLUSIVE MODE;
  END LOOP;
  EXECUTE format('CREATE OR REPLACE FUNCTION event_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$ SELECT %s::bigint $body$', last + 4294967296);
  RETURN true;
END $$;
