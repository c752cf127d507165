CREATE TABLE "counted_tags" (
	"team_id" uuid NOT NULL,
	"day" date NOT NULL,
	"tag" text NOT NULL,
	CONSTRAINT "counted_tags_team_id_day_tag_pk" PRIMARY KEY("team_id","day","tag")
);
--> statement-breakpoint
CREATE TABLE "metrics_progress" (
	"team_id" uuid PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"event_id" uuid NOT NULL,
	"counted_since" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "recipient_counts" (
	"team_id" uuid NOT NULL,
	"tag" text NOT NULL,
	"unit" text NOT NULL,
	"starts_at" timestamp with time zone NOT NULL,
	"domain" text NOT NULL,
	"api_key_id" uuid,
	"provider" text NOT NULL,
	"received" integer NOT NULL,
	"sent" integer NOT NULL,
	"delivered" integer NOT NULL,
	"bounced_permanent" integer NOT NULL,
	"bounced_transient" integer NOT NULL,
	"bounced_undetermined" integer NOT NULL,
	"complained" integer NOT NULL,
	"failed" integer NOT NULL,
	"unknown" integer NOT NULL,
	"suppressed" integer NOT NULL,
	"canceled" integer NOT NULL,
	"delayed" integer NOT NULL,
	"opens" integer NOT NULL,
	"clicks" integer NOT NULL,
	"openers" integer NOT NULL,
	"clickers" integer NOT NULL,
	"opens_tracked" integer NOT NULL,
	"clicks_tracked" integer NOT NULL,
	"unsubscribed" integer NOT NULL,
	CONSTRAINT "recipient_counts_key" UNIQUE NULLS NOT DISTINCT("team_id","tag","unit","starts_at","domain","api_key_id","provider")
);
--> statement-breakpoint
-- The rows of the latest hour and day change with each batch of events. With free space on the page, their index does not.
ALTER TABLE "recipient_counts" SET (fillfactor = 60);
