ALTER TABLE "email_bodies" ADD COLUMN "idempotency_key" text;--> statement-breakpoint
ALTER TABLE "email_bodies" ADD COLUMN "sent_again_of" uuid;--> statement-breakpoint
ALTER TABLE "email_bodies" ADD COLUMN "sent_again_as" uuid;