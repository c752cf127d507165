CREATE TABLE "sending_days" (
	"team_id" uuid NOT NULL,
	"domain" text NOT NULL,
	"day" date NOT NULL,
	"handed_over" integer DEFAULT 0 NOT NULL,
	"held_over" boolean DEFAULT false NOT NULL,
	CONSTRAINT "sending_days_team_id_domain_day_pk" PRIMARY KEY("team_id","domain","day")
);
--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "priority" smallint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "counted_on" date;--> statement-breakpoint
ALTER TABLE "domains" ADD COLUMN "daily_cap" integer;--> statement-breakpoint
ALTER TABLE "domains" ADD COLUMN "warm_up_from" date;--> statement-breakpoint
ALTER TABLE "domains" ADD COLUMN "warm_up_first" integer;--> statement-breakpoint
ALTER TABLE "domains" ADD COLUMN "warm_up_growth" integer;--> statement-breakpoint
ALTER TABLE "domains" ADD COLUMN "warm_up_target" integer;--> statement-breakpoint
ALTER TABLE "emails" ADD COLUMN "priority" text DEFAULT 'normal' NOT NULL;--> statement-breakpoint
ALTER TABLE "teams" ADD COLUMN "daily_cap" integer;--> statement-breakpoint
CREATE INDEX "sending_days_held_over_idx" ON "sending_days" USING btree ("day") WHERE "sending_days"."held_over";--> statement-breakpoint
CREATE INDEX "deliveries_priority_idx" ON "deliveries" USING btree ("team_id","priority","due_at","id") WHERE "deliveries"."status" in ('queued', 'scheduled') and "deliveries"."lapses" < 3;--> statement-breakpoint
CREATE INDEX "deliveries_held_over_idx" ON "deliveries" USING btree ("team_id","wait_rule","due_at","id") WHERE "deliveries"."status" = 'queued' and "deliveries"."wait_rule" in ('daily_cap', 'warm_up', 'team_daily_cap');--> statement-breakpoint
ALTER TABLE "domains" ADD CONSTRAINT "domains_warm_up_whole" CHECK (num_nulls("domains"."warm_up_from", "domains"."warm_up_first", "domains"."warm_up_growth") in (0, 3));--> statement-breakpoint
-- What a domain's warm-up allows on a day: null before its start, and from the day on that would allow the target.
CREATE FUNCTION "warm_up_allows"("starts" date, "first" integer, "growth" integer, "target" integer, "on_day" date) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN "on_day" >= "starts" AND ("n" < "target" OR "target" IS NULL) THEN "n" END
  FROM (SELECT round(exp(least(20, ln("first"::float8) + ("on_day" - "starts") * ln(1 + "growth" / 100.0::float8))))::int AS "n") AS "w"
$$;
