CREATE TABLE "dkim_keys" (
	"team_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"domain_id" uuid NOT NULL,
	"algorithm" text NOT NULL,
	"selector" text NOT NULL,
	"private_key" text NOT NULL,
	"public_key" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"signs_from" timestamp with time zone,
	"signs_until" timestamp with time zone,
	"kept_until" timestamp with time zone,
	CONSTRAINT "dkim_keys_team_id_id_pk" PRIMARY KEY("team_id","id"),
	CONSTRAINT "dkim_keys_selector_key" UNIQUE("domain_id","selector")
);
--> statement-breakpoint
ALTER TABLE "emails" ADD COLUMN "list_unsubscribe" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "suppressions" ADD COLUMN "lists_only" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "dkim_keys" ADD CONSTRAINT "dkim_keys_team_id_domain_id_domains_team_id_id_fk" FOREIGN KEY ("team_id","domain_id") REFERENCES "public"."domains"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "dkim_keys_domain_idx" ON "dkim_keys" USING btree ("team_id","domain_id");--> statement-breakpoint
-- A key keeps the id under which it was sealed.
INSERT INTO "dkim_keys" ("team_id", "id", "domain_id", "algorithm", "selector", "private_key", "public_key", "created_at", "signs_from")
  SELECT "team_id", "id", "id", 'rsa', "dkim_selector", "dkim_private_key", "dkim_public_key", "created_at", "created_at"
  FROM "domains" WHERE "dkim_selector" IS NOT NULL AND "dkim_private_key" IS NOT NULL AND "dkim_public_key" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "domains" DROP COLUMN "dkim_selector";--> statement-breakpoint
ALTER TABLE "domains" DROP COLUMN "dkim_private_key";--> statement-breakpoint
ALTER TABLE "domains" DROP COLUMN "dkim_public_key";