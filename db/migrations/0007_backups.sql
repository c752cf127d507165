CREATE TABLE "backups" (
	"id" uuid PRIMARY KEY NOT NULL,
	"is_scheduled" boolean NOT NULL,
	"status" text NOT NULL,
	"location" text NOT NULL,
	"name" text,
	"size_bytes" bigint,
	"has_secret" boolean,
	"fault" text,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"beat_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "restores" (
	"id" uuid PRIMARY KEY NOT NULL,
	"taken_at" timestamp with time zone NOT NULL,
	"release" text NOT NULL,
	"held" integer NOT NULL,
	"restored_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE INDEX "backups_age_idx" ON "backups" USING btree ("started_at");