CREATE TABLE "queue_pauses" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid,
	"domain" text,
	"reason" text NOT NULL,
	"actor" text NOT NULL,
	"actor_name" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"lifted_at" timestamp with time zone,
	"lifted_by" text,
	"lifted_by_name" text,
	"released_at" timestamp with time zone,
	CONSTRAINT "queue_pauses_domain_of_team" CHECK ("queue_pauses"."domain" is null or "queue_pauses"."team_id" is not null)
);
--> statement-breakpoint
ALTER TABLE "queue_pauses" ADD CONSTRAINT "queue_pauses_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "queue_pauses_active_key" ON "queue_pauses" USING btree (coalesce("team_id", '00000000-0000-0000-0000-000000000000'),coalesce("domain", '')) WHERE "queue_pauses"."lifted_at" is null;