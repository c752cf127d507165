-- Shorter than the time after which PostgreSQL looks for deadlocks, so that only the migration is repeated and no statement of
-- another transaction fails.
SET LOCAL lock_timeout = '100ms';--> statement-breakpoint
LOCK TABLE "emails", "email_bodies", "deliveries", "attachments", "captured_messages", "email_events" IN ACCESS EXCLUSIVE MODE;--> statement-breakpoint
-- The tables of emails are partitioned later. A foreign key to a partitioned table cannot be added without a scan, and each
-- insert would check every partition's key. What is written beside an email locks the email first, and the trigger deletes it.
-- Custom plans, because only they skip partitions for a list of ids.
CREATE FUNCTION "delete_with_emails"() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
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
CREATE TRIGGER "emails_deleted" AFTER DELETE ON "emails"
  REFERENCING OLD TABLE AS "old_emails" FOR EACH STATEMENT EXECUTE FUNCTION "delete_with_emails"();
--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_team_id_email_id_emails_team_id_id_fk";--> statement-breakpoint
ALTER TABLE "attachments" DROP CONSTRAINT "attachments_team_id_email_id_emails_team_id_id_fk";--> statement-breakpoint
ALTER TABLE "captured_messages" DROP CONSTRAINT "captured_messages_team_id_email_id_emails_team_id_id_fk";--> statement-breakpoint
ALTER TABLE "email_bodies" DROP CONSTRAINT "email_bodies_team_id_email_id_emails_team_id_id_fk";--> statement-breakpoint
ALTER TABLE "email_events" DROP CONSTRAINT "email_events_team_id_email_id_emails_team_id_id_fk";
