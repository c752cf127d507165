DROP INDEX CONCURRENTLY IF EXISTS "queue_destination_idx";--> statement-breakpoint
CREATE INDEX CONCURRENTLY "queue_destination_idx" ON "queue" USING btree ("destination","priority","due_at","id") WHERE "queue"."destination" is not null;
