CREATE TABLE "return_copies" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"message_hash" text NOT NULL,
	"message" "bytea",
	"recipient" text NOT NULL,
	"status" text DEFAULT 'queued' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"lease_token" uuid,
	"expires_at" timestamp with time zone NOT NULL,
	"last_reply" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "return_copies_message_key" UNIQUE("team_id","email_id","delivery_id","message_hash")
);
--> statement-breakpoint
ALTER TABLE "domains" ADD COLUMN "bounce_copies_to" text;--> statement-breakpoint
ALTER TABLE "domains" ADD COLUMN "reply_copies_to" text;--> statement-breakpoint
ALTER TABLE "teams" ADD COLUMN "bounce_copies_to" text;--> statement-breakpoint
ALTER TABLE "teams" ADD COLUMN "reply_copies_to" text;--> statement-breakpoint
ALTER TABLE "return_copies" ADD CONSTRAINT "return_copies_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "return_copies_team_idx" ON "return_copies" USING btree ("team_id","id");--> statement-breakpoint
CREATE INDEX "return_copies_due_idx" ON "return_copies" USING btree ("due_at") WHERE "return_copies"."status" in ('queued', 'sending');