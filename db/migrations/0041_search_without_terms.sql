-- An email is found by the indexes of its id, its recipients, its sender and its status; everything else is compared.
SET LOCAL lock_timeout = '100ms';--> statement-breakpoint
DROP TRIGGER "emails_accepted" ON "emails";--> statement-breakpoint
DROP TRIGGER "emails_changed" ON "emails";--> statement-breakpoint
DROP FUNCTION "note_new_emails"();--> statement-breakpoint
DROP FUNCTION "note_changed_email"();--> statement-breakpoint
CREATE OR REPLACE FUNCTION "delete_with_emails"() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  "team" uuid;
  "ids" uuid[];
BEGIN
  FOR "team", "ids" IN SELECT "team_id", array_agg("id") FROM "old_emails" GROUP BY "team_id" LOOP
    DELETE FROM "deliveries" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "email_events" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "email_bodies" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "attachments" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "captured_messages" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
  END LOOP;
  RETURN NULL;
END $$;
--> statement-breakpoint
DROP TABLE "email_terms";--> statement-breakpoint
DROP TABLE "email_terms_backlog";--> statement-breakpoint
DROP TABLE "email_terms_pending";--> statement-breakpoint
DROP FUNCTION "search_terms"(uuid, uuid, text, jsonb, text, text, uuid, jsonb);--> statement-breakpoint
DROP FUNCTION "search_term"(bigint, text);--> statement-breakpoint
DROP FUNCTION "search_scope"(uuid, bigint);--> statement-breakpoint
DROP FUNCTION "search_words"(text);--> statement-breakpoint
DROP INDEX "emails_tags_idx";--> statement-breakpoint
-- Blocks writes while it is built. There is no installation with a release before this one.
DO $$ BEGIN
  CREATE INDEX "emails_sender_idx" ON "emails" USING btree (lower("sender_address"),"team_id","id");
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION "oldest_release"() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '0.2.0' $$;
