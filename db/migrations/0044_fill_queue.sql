-- Processes of the release before change deliveries meanwhile, and the triggers write their rows. One that was written before is
-- newer than what is read here. One whose delivery ended meanwhile is claimed by nobody, and goes when its delivery is deleted or
-- its lease expires.
INSERT INTO "queue" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses", "stage", "lease_token")
SELECT "id", "team_id", "email_id", 'queued', "priority", "leased_until", "attempts", "lapses", "stage", "lease_token"
FROM "deliveries" WHERE "status" = 'sending' AND "lease_token" IS NOT NULL
ON CONFLICT ("id") DO NOTHING;
--> statement-breakpoint
INSERT INTO "queue" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses")
SELECT "id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses"
FROM "deliveries" WHERE "status" IN ('queued', 'scheduled') AND "lapses" < 3
ON CONFLICT ("id") DO NOTHING;
--> statement-breakpoint
INSERT INTO "queue" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses")
SELECT "id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses"
FROM "deliveries" WHERE "status" = 'queued' AND "lapses" >= 3
ON CONFLICT ("id") DO NOTHING;
