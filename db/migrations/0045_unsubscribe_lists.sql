ALTER TABLE "emails" ADD COLUMN "list_name" text;--> statement-breakpoint
ALTER TABLE "suppressions" ADD COLUMN "lists" text[];