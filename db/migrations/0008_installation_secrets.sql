CREATE TABLE "installation_secrets" (
	"id" text PRIMARY KEY NOT NULL,
	"check_value" text NOT NULL,
	"active_from" timestamp with time zone,
	"resealed_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "workers" ADD COLUMN "secret_ids" text[];