CREATE TABLE "queue" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	"status" text NOT NULL,
	"priority" smallint NOT NULL,
	"due_at" timestamp with time zone NOT NULL,
	"attempts" integer NOT NULL,
	"lapses" integer NOT NULL,
	"stage" text DEFAULT 'idle' NOT NULL,
	"lease_token" uuid
);
--> statement-breakpoint
CREATE INDEX "queue_order_idx" ON "queue" USING btree ("team_id","priority","due_at","id") WHERE "queue"."lapses" < 3;--> statement-breakpoint
CREATE INDEX "queue_lease_idx" ON "queue" USING btree ("due_at") WHERE "queue"."lease_token" is not null;--> statement-breakpoint
CREATE INDEX "queue_suspect_idx" ON "queue" USING btree ("due_at","id") WHERE "queue"."lapses" >= 3;--> statement-breakpoint
-- Rows come and go: the space of removed ones, and their entries at the start of the index, are used again within seconds.
ALTER TABLE "queue" SET (fillfactor = 50, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_threshold = 2000, autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_threshold = 2000);--> statement-breakpoint
-- Only processes of the release before write deliveries until db/functions/queue.sql replaces these functions: each row repeats
-- its delivery. The next migration adds the rows of earlier deliveries.
CREATE FUNCTION "queue_deliveries"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "queue" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses")
  SELECT "id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses" FROM "new_deliveries"
  WHERE "status" IN ('queued', 'scheduled');
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE FUNCTION "follow_delivery"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM "queue" WHERE "id" = NEW."id";
  IF NEW."status" IN ('queued', 'scheduled', 'sending') THEN
    INSERT INTO "queue" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses", "stage", "lease_token")
    VALUES (NEW."id", NEW."team_id", NEW."email_id", CASE NEW."status" WHEN 'scheduled' THEN 'scheduled' ELSE 'queued' END,
      NEW."priority", CASE NEW."status" WHEN 'sending' THEN NEW."leased_until" ELSE NEW."due_at" END, NEW."attempts", NEW."lapses",
      NEW."stage", NEW."lease_token");
  END IF;
  RETURN NEW;
END $$;
--> statement-breakpoint
CREATE TRIGGER "deliveries_queued" AFTER INSERT ON "deliveries"
  REFERENCING NEW TABLE AS "new_deliveries" FOR EACH STATEMENT EXECUTE FUNCTION "queue_deliveries"();--> statement-breakpoint
CREATE TRIGGER "deliveries_followed" BEFORE UPDATE ON "deliveries" FOR EACH ROW EXECUTE FUNCTION "follow_delivery"();
