CREATE TABLE "destination_hosts" (
	"host" text PRIMARY KEY NOT NULL,
	"destination" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "destination_states" (
	"source" text NOT NULL,
	"destination" text NOT NULL,
	"connections" integer NOT NULL,
	"per_minute" integer,
	"accepted" bigint DEFAULT 0 NOT NULL,
	"objections" integer DEFAULT 0 NOT NULL,
	"reason" text,
	"objected_at" timestamp with time zone,
	"blocked_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "destination_states_source_destination_pk" PRIMARY KEY("source","destination")
);
--> statement-breakpoint
ALTER TABLE "queue" ADD COLUMN "destination" text;
