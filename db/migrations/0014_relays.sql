CREATE TABLE "relays" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid,
	"domain_id" uuid,
	"name" text NOT NULL,
	"position" integer DEFAULT 1 NOT NULL,
	"url" text NOT NULL,
	"host" text NOT NULL,
	"dkim" boolean DEFAULT true NOT NULL,
	"provider" text,
	"callback_secret" text,
	"callback_topic" text,
	"paused_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_fault" text,
	"last_fault_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "relays_name_key" UNIQUE NULLS NOT DISTINCT("team_id","name"),
	CONSTRAINT "relays_domain_of_team" CHECK ("relays"."domain_id" is null or "relays"."team_id" is not null)
);
--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "relay_id" uuid;--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "provider_id" text;--> statement-breakpoint
ALTER TABLE "relays" ADD CONSTRAINT "relays_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relays" ADD CONSTRAINT "relays_team_id_domain_id_domains_team_id_id_fk" FOREIGN KEY ("team_id","domain_id") REFERENCES "public"."domains"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "deliveries_provider_idx" ON "deliveries" USING btree ("relay_id","provider_id") WHERE "deliveries"."provider_id" is not null;