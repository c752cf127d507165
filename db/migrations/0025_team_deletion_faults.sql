ALTER TABLE "team_deletions" ADD COLUMN "fault" text;--> statement-breakpoint
-- A requested deletion stops a team by itself. Earlier builds paused the team for it, and nothing else would end these pauses.
UPDATE "queue_pauses" SET "lifted_at" = now(), "released_at" = now()
  WHERE "lifted_at" IS NULL AND "id" IN (SELECT "pause_id" FROM "team_deletions" WHERE "ended_at" IS NULL);
