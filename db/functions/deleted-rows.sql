-- Instead of foreign keys to partitioned tables: one cannot be added without a scan, and each insert would check the key of every
-- partition. What is written beside an email or an event delivery locks it first, so nothing is added to a deleted one. Custom
-- plans, because only they skip partitions for a list of ids, and the first plan could be made with empty tables.
CREATE OR REPLACE FUNCTION "delete_with_emails"() RETURNS trigger LANGUAGE plpgsql SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  "team" uuid;
  "ids" uuid[];
BEGIN
  FOR "team", "ids" IN SELECT "team_id", array_agg("id") FROM "old_emails" GROUP BY "team_id" LOOP
    DELETE FROM "queue" WHERE "id" IN (SELECT "id" FROM "deliveries" WHERE "team_id" = "team" AND "email_id" = ANY ("ids")
      AND "status" IN ('queued', 'scheduled', 'sending'));
    DELETE FROM "deliveries" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "email_events" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "email_bodies" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "attachments" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "captured_messages" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
    DELETE FROM "return_copies" WHERE "team_id" = "team" AND "email_id" = ANY ("ids");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "emails_deleted" AFTER DELETE ON "emails"
  REFERENCING OLD TABLE AS "old_emails" FOR EACH STATEMENT EXECUTE FUNCTION "delete_with_emails"();

CREATE OR REPLACE FUNCTION "delete_with_webhook_deliveries"() RETURNS trigger LANGUAGE plpgsql
  SET plan_cache_mode = force_custom_plan AS $$
DECLARE
  "team" uuid;
  "ids" uuid[];
BEGIN
  FOR "team", "ids" IN SELECT "team_id", array_agg("id") FROM "old_deliveries" GROUP BY "team_id" LOOP
    DELETE FROM "webhook_attempts" WHERE "team_id" = "team" AND "delivery_id" = ANY ("ids");
  END LOOP;
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "webhook_deliveries_deleted" AFTER DELETE ON "webhook_deliveries"
  REFERENCING OLD TABLE AS "old_deliveries" FOR EACH STATEMENT EXECUTE FUNCTION "delete_with_webhook_deliveries"();
