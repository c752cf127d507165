CREATE TABLE "retention" (
	"team_id" uuid PRIMARY KEY NOT NULL,
	"bodies_days" integer,
	"emails_days" integer,
	"bodies_to" uuid,
	"emails_to" uuid,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL,
	"lease_token" uuid,
	CONSTRAINT "retention_days" CHECK ("retention"."bodies_days" >= 1 and "retention"."emails_days" >= 1)
);
--> statement-breakpoint
ALTER TABLE "retention" ADD CONSTRAINT "retention_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "retention_due_idx" ON "retention" USING btree ("next_at");