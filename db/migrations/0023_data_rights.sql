CREATE TABLE "erasure_keys" (
	"id" smallint PRIMARY KEY DEFAULT 1 NOT NULL,
	"key" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "erasure_keys_single" CHECK ("erasure_keys"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE "erasures" (
	"team_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"address" text,
	"address_hash" text NOT NULL,
	"suppresses" boolean NOT NULL,
	"status" text DEFAULT 'requested' NOT NULL,
	"actor" text NOT NULL,
	"actor_id" uuid,
	"request_id" text NOT NULL,
	"pass" integer DEFAULT 1 NOT NULL,
	"pass_started_at" timestamp with time zone,
	"floor" uuid,
	"place" text DEFAULT 'recipients' NOT NULL,
	"after" text,
	"waiting" integer DEFAULT 0 NOT NULL,
	"waiting_ids" uuid[] DEFAULT '{}' NOT NULL,
	"first_waiting" uuid,
	"waiting_keys" integer DEFAULT 0 NOT NULL,
	"fault" text,
	"halvings" smallint DEFAULT 0 NOT NULL,
	"counts" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL,
	"lease_token" uuid,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"done_at" timestamp with time zone,
	CONSTRAINT "erasures_team_id_id_pk" PRIMARY KEY("team_id","id"),
	CONSTRAINT "erasures_done" CHECK (("erasures"."status" = 'done') = ("erasures"."address" is null))
);
--> statement-breakpoint
CREATE TABLE "team_deletions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"team_name" text NOT NULL,
	"actor" text NOT NULL,
	"actor_name" text,
	"requested_at" timestamp with time zone DEFAULT now() NOT NULL,
	"deletes_at" timestamp with time zone NOT NULL,
	"canceled_at" timestamp with time zone,
	"canceled_by_name" text,
	"started_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	"counts" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"next_at" timestamp with time zone DEFAULT now() NOT NULL,
	"lease_token" uuid,
	"fault" text
);
--> statement-breakpoint
ALTER TABLE "erasures" ADD CONSTRAINT "erasures_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "erasures_due_idx" ON "erasures" USING btree ("next_at") WHERE "erasures"."status" <> 'done';--> statement-breakpoint
CREATE UNIQUE INDEX "erasures_open_key" ON "erasures" USING btree ("team_id","address_hash") WHERE "erasures"."status" <> 'done';--> statement-breakpoint
CREATE UNIQUE INDEX "team_deletions_open_key" ON "team_deletions" USING btree ("team_id") WHERE "team_deletions"."canceled_at" is null;--> statement-breakpoint
CREATE INDEX "team_deletions_due_idx" ON "team_deletions" USING btree ("deletes_at") WHERE "team_deletions"."canceled_at" is null and "team_deletions"."ended_at" is null;
--> statement-breakpoint
-- The keys of a team are rejected while its deletion is requested, so web processes must look them up again.
CREATE TRIGGER "team_deletions_announced" AFTER INSERT OR DELETE OR UPDATE OF "canceled_at" ON "team_deletions"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_changes"();
