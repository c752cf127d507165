-- Processes of the release before change deliveries meanwhile, and the triggers write their rows, which are newer than what is read
-- here. A row that is read here is locked: its delivery does not end before the row is there to be removed.
INSERT INTO "queue" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses", "stage", "lease_token")
SELECT "id", "team_id", "email_id", 'queued', "priority", "leased_until", "attempts", "lapses", "stage", "lease_token"
FROM "deliveries" WHERE "status" = 'sending' AND "lease_token" IS NOT NULL FOR UPDATE
ON CONFLICT ("id") DO NOTHING;
--> statement-breakpoint
INSERT INTO "queue" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses")
SELECT "id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses"
FROM "deliveries" WHERE "status" IN ('queued', 'scheduled') AND "lapses" < 3 FOR UPDATE
ON CONFLICT ("id") DO NOTHING;
--> statement-breakpoint
INSERT INTO "queue" ("id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses")
SELECT "id", "team_id", "email_id", "status", "priority", "due_at", "attempts", "lapses"
FROM "deliveries" WHERE "status" = 'queued' AND "lapses" >= 3 FOR UPDATE
ON CONFLICT ("id") DO NOTHING;
