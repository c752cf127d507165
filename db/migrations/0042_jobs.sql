CREATE TABLE "jobs" (
	"name" text PRIMARY KEY NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"lease_token" uuid,
	"failures" integer DEFAULT 0 NOT NULL,
	"fault" text
);
--> statement-breakpoint
DROP TABLE "alert_rounds" CASCADE;--> statement-breakpoint
ALTER TABLE "team_deletions" DROP COLUMN "lease_token";--> statement-breakpoint
-- Release 0.2.0 has neither of these. It still writes retention.lease_token, which nothing else reads.
CREATE OR REPLACE FUNCTION "oldest_release"() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '0.2.0' $$;
