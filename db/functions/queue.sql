-- The queue follows the deliveries: it has a row for each one that waits or is being sent. What claims a delivery, hands it over
-- or renews its lease changes only that row. The holder of the lease deletes the row before it changes the delivery, and these
-- triggers add it again if the delivery still waits. All other statements change the delivery, and the row follows.
CREATE OR REPLACE FUNCTION "queue_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "queue" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses")
  SELECT "id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses" FROM "new_deliveries"
  WHERE "status" IN ('queued', 'scheduled');
  RETURN NULL;
END $$;

CREATE OR REPLACE TRIGGER "deliveries_queued" AFTER INSERT ON "deliveries"
  REFERENCING NEW TABLE AS "new_deliveries" FOR EACH STATEMENT EXECUTE FUNCTION "queue_deliveries"();

-- A delivery whose row is leased, or locked by a claim, is being sent: a statement of another process skips it, as if it did not
-- match. It does not wait for the row, whose holder may wait for the delivery.
--
-- Release 0.2.0 writes its leases into deliveries, and they are repeated here. It sees deliveries that this release claimed as
-- queued, and can claim only those that are idle and due here. After a roll-back it also finds leases of workers that are gone. It
-- takes over what was only claimed. The outcome of a dialogue is unknown, and the policy of the team decides: the release then gets
-- the delivery without a lease token, and sends nothing without one.
CREATE OR REPLACE FUNCTION "follow_delivery"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  "row" "queue"%ROWTYPE;
  "is_claim" boolean := NEW."status" = 'sending' AND OLD."status" <> 'sending';
BEGIN
  SELECT * INTO "row" FROM "queue" WHERE "id" = NEW."id" FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    IF EXISTS (SELECT FROM "queue" WHERE "id" = NEW."id") THEN
      RETURN NULL;
    END IF;
  ELSIF "row"."lease_token" IS DISTINCT FROM OLD."lease_token" AND NOT ("is_claim" AND "row"."due_at" < now())
    OR "is_claim" AND "row"."due_at" > now() THEN
    RETURN NULL;
  ELSIF "is_claim" AND "row"."stage" = 'handed_over' THEN
    SELECT CASE "unknown_policy" WHEN 'retry' THEN 'queued' ELSE 'unknown' END INTO NEW."status" FROM "teams"
    WHERE "id" = NEW."team_id";
    NEW."attempts" := "row"."attempts";
    NEW."stage" := 'idle';
    NEW."lease_token" := NULL;
    NEW."leased_until" := NULL;
    NEW."due_at" := now();
    NEW."wait_rule" := CASE NEW."status" WHEN 'queued' THEN 'unknown_retry' END;
    NEW."last_reason" := 'The worker stopped while it was sending the message, so it is unknown whether the server accepted it.';
    INSERT INTO "email_events" ("id", "team_id", "email_id", "delivery_id", "type", "recipient", "data")
    VALUES (uuid_v7(), NEW."team_id", NEW."email_id", NEW."id", 'email.unknown', NEW."address",
      jsonb_build_object('attempt', NEW."attempts", 'reason', NEW."last_reason", 'rule', NEW."wait_rule"));
    UPDATE "emails" SET "status" = CASE NEW."status" WHEN 'queued' THEN 'deferred' ELSE 'unknown' END
    WHERE "team_id" = NEW."team_id" AND "id" = NEW."email_id" AND "status" NOT IN ('complained', 'bounced', 'failed', 'unknown');
  END IF;
  IF NEW."status" IN ('queued', 'scheduled', 'sending') THEN
    INSERT INTO "queue" AS "q" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses", "stage", "lease_token")
    VALUES (NEW."id", NEW."team_id", NEW."email_id", CASE NEW."status" WHEN 'sending' THEN 'queued' ELSE NEW."status" END,
      NEW."priority", CASE NEW."status" WHEN 'sending' THEN NEW."leased_until" ELSE NEW."due_at" END, NEW."attempts", NEW."lapses",
      NEW."stage", NEW."lease_token")
    ON CONFLICT ("id") DO UPDATE SET "status" = excluded."status", "due_at" = excluded."due_at", "attempts" = excluded."attempts",
      "lapses" = excluded."lapses", "stage" = excluded."stage", "lease_token" = excluded."lease_token", "destination" = NULL;
  ELSE
    DELETE FROM "queue" WHERE "id" = NEW."id";
  END IF;
  RETURN NEW;
END $$;

-- A result leaves the due time as it is, and needs no trigger.
CREATE OR REPLACE TRIGGER "deliveries_followed" BEFORE UPDATE ON "deliveries" FOR EACH ROW
  WHEN ((OLD."due_at", OLD."lapses", OLD."stage", OLD."lease_token", OLD."leased_until")
      IS DISTINCT FROM (NEW."due_at", NEW."lapses", NEW."stage", NEW."lease_token", NEW."leased_until")
    OR NEW."status" = 'canceled'
    OR NEW."status" IN ('queued', 'scheduled') AND OLD."status" NOT IN ('queued', 'scheduled'))
  EXECUTE FUNCTION "follow_delivery"();
