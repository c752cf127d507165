-- Processes of the release before change deliveries meanwhile, and the triggers write their rows, which are newer than what is read
-- here. A claim leaves out a row whose delivery ended meanwhile, and the row goes with its lease.
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
