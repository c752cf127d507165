CREATE TABLE "alert_calls" (
	"id" uuid PRIMARY KEY NOT NULL,
	"payload" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_notices" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"alert_id" uuid NOT NULL,
	"event" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alert_rounds" (
	"id" integer PRIMARY KEY NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "alerts" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid,
	"kind" text NOT NULL,
	"subject" text NOT NULL,
	"name" text NOT NULL,
	"message" text NOT NULL,
	"first_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"cleared_at" timestamp with time zone,
	"opened_at" timestamp with time zone,
	"resolved_at" timestamp with time zone,
	"notified_at" timestamp with time zone,
	"is_announced" boolean DEFAULT false NOT NULL,
	CONSTRAINT "alerts_subject_key" UNIQUE NULLS NOT DISTINCT("team_id","kind","subject")
);
--> statement-breakpoint
CREATE TABLE "usage_hours" (
	"team_id" uuid NOT NULL,
	"hour" timestamp with time zone NOT NULL,
	"domain" text NOT NULL,
	"sent" integer NOT NULL,
	"delivered" integer NOT NULL,
	"bounced" integer NOT NULL,
	"complained" integer NOT NULL,
	CONSTRAINT "usage_hours_team_id_hour_domain_pk" PRIMARY KEY("team_id","hour","domain")
);
--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "has_alert_emails" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "alert_notices" ADD CONSTRAINT "alert_notices_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alert_notices" ADD CONSTRAINT "alert_notices_alert_id_alerts_id_fk" FOREIGN KEY ("alert_id") REFERENCES "public"."alerts"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "alerts" ADD CONSTRAINT "alerts_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "alert_calls_due_idx" ON "alert_calls" USING btree ("due_at");--> statement-breakpoint
CREATE INDEX "alert_notices_user_idx" ON "alert_notices" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "alert_notices_alert_idx" ON "alert_notices" USING btree ("alert_id");--> statement-breakpoint
CREATE INDEX "usage_hours_age_idx" ON "usage_hours" USING btree ("hour");