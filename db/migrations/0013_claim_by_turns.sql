-- Claims go from team to team, so the team leads the index they walk. The new one is there before the old one goes.
CREATE INDEX "deliveries_turn_idx" ON "deliveries" USING btree ("team_id","due_at","id") WHERE "deliveries"."status" in ('queued', 'scheduled') and "deliveries"."lapses" < 3;--> statement-breakpoint
CREATE INDEX "deliveries_parked_idx" ON "deliveries" USING btree ("id") WHERE "deliveries"."status" = 'queued' and "deliveries"."wait_rule" = 'no_transport' and "deliveries"."due_at" = 'infinity';--> statement-breakpoint
DROP INDEX "deliveries_due_idx";
