CREATE TABLE "api_key_domains" (
	"team_id" uuid NOT NULL,
	"api_key_id" uuid NOT NULL,
	"domain_id" uuid NOT NULL,
	CONSTRAINT "api_key_domains_api_key_id_domain_id_pk" PRIMARY KEY("api_key_id","domain_id")
);
--> statement-breakpoint
CREATE TABLE "api_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"token_id" text NOT NULL,
	"secret_hash" "bytea" NOT NULL,
	"scopes" text[] NOT NULL,
	"all_domains" boolean DEFAULT false NOT NULL,
	"limits" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"expires_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	"rotated_from" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "api_keys_team_id_key" UNIQUE("team_id","id")
);
--> statement-breakpoint
CREATE TABLE "api_requests" (
	"team_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"api_key_id" uuid NOT NULL,
	"method" text NOT NULL,
	"path" text NOT NULL,
	"status" integer NOT NULL,
	"user_agent" text,
	"request_body" jsonb,
	"response_body" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "api_requests_team_id_id_pk" PRIMARY KEY("team_id","id")
);
--> statement-breakpoint
CREATE TABLE "attachments" (
	"team_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	"position" smallint NOT NULL,
	"filename" text,
	"content_type" text NOT NULL,
	"content_id" text,
	"size_bytes" integer NOT NULL,
	"content" "bytea" NOT NULL,
	CONSTRAINT "attachments_team_id_email_id_id_pk" PRIMARY KEY("team_id","email_id","id")
);
--> statement-breakpoint
CREATE TABLE "deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	"position" smallint NOT NULL,
	"kind" text NOT NULL,
	"address" text NOT NULL,
	"domain" text NOT NULL,
	"status" text NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"lapses" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"wait_rule" text,
	"stage" text DEFAULT 'idle' NOT NULL,
	"lease_token" uuid,
	"leased_until" timestamp with time zone,
	"last_code" integer,
	"last_enhanced" text,
	"last_text" text,
	"last_host" text,
	"last_reason" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "domains" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"status" text DEFAULT 'not_started' NOT NULL,
	"declared_verified_at" timestamp with time zone,
	"dkim_selector" text,
	"dkim_private_key" text,
	"dkim_public_key" text,
	"return_path_label" text DEFAULT 'send' NOT NULL,
	"ownership_token" text,
	"region" text DEFAULT 'us-east-1' NOT NULL,
	"tls" text DEFAULT 'opportunistic' NOT NULL,
	"open_tracking" boolean DEFAULT false NOT NULL,
	"click_tracking" boolean DEFAULT false NOT NULL,
	"tracking_subdomain" text,
	"sending" boolean DEFAULT true NOT NULL,
	"receiving" boolean DEFAULT false NOT NULL,
	"checks" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"last_checked_at" timestamp with time zone,
	"next_check_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "domains_team_name_key" UNIQUE("team_id","name"),
	CONSTRAINT "domains_team_id_key" UNIQUE("team_id","id")
);
--> statement-breakpoint
CREATE TABLE "captured_messages" (
	"team_id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	"raw" "bytea" NOT NULL,
	"captured_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "captured_messages_team_id_email_id_pk" PRIMARY KEY("team_id","email_id")
);
--> statement-breakpoint
CREATE TABLE "email_bodies" (
	"team_id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	"html" text,
	"text" text,
	CONSTRAINT "email_bodies_team_id_email_id_pk" PRIMARY KEY("team_id","email_id")
);
--> statement-breakpoint
CREATE TABLE "emails" (
	"id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	"api_key_id" uuid,
	"sender" text NOT NULL,
	"sender_address" text NOT NULL,
	"sender_domain" text NOT NULL,
	"to" jsonb NOT NULL,
	"cc" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"bcc" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"reply_to" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"subject" text NOT NULL,
	"tags" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"headers" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"template_id" uuid,
	"template_version_id" uuid,
	"message_id" text NOT NULL,
	"scheduled_at" timestamp with time zone,
	"status" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "emails_team_id_id_pk" PRIMARY KEY("team_id","id")
);
--> statement-breakpoint
CREATE TABLE "email_events" (
	"id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	"email_id" uuid NOT NULL,
	"delivery_id" uuid,
	"type" text NOT NULL,
	"recipient" text,
	"data" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "email_events_team_id_email_id_id_pk" PRIMARY KEY("team_id","email_id","id")
);
--> statement-breakpoint
CREATE TABLE "idempotency_keys" (
	"team_id" uuid NOT NULL,
	"route" text NOT NULL,
	"key" text NOT NULL,
	"fingerprint" "bytea" NOT NULL,
	"status" integer NOT NULL,
	"answer" jsonb NOT NULL,
	"expires_at" timestamp with time zone DEFAULT now() + interval '24 hours' NOT NULL,
	CONSTRAINT "idempotency_keys_team_id_route_key_pk" PRIMARY KEY("team_id","route","key")
);
--> statement-breakpoint
CREATE TABLE "suppressions" (
	"team_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"address" text NOT NULL,
	"origin" text NOT NULL,
	"source_email_id" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "suppressions_team_id_id_pk" PRIMARY KEY("team_id","id"),
	CONSTRAINT "suppressions_team_address_key" UNIQUE("team_id","address")
);
--> statement-breakpoint
CREATE TABLE "memberships" (
	"team_id" uuid NOT NULL,
	"user_id" uuid NOT NULL,
	"role" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "memberships_team_id_user_id_pk" PRIMARY KEY("team_id","user_id")
);
--> statement-breakpoint
CREATE TABLE "sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"user_agent" text,
	"address" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_seen_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"revoked_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "teams" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"unknown_policy" text DEFAULT 'retry' NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"name" text,
	"password_hash" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "users_email_lower" CHECK ("users"."email" = lower("users"."email"))
);
--> statement-breakpoint
CREATE TABLE "template_versions" (
	"id" uuid NOT NULL,
	"team_id" uuid NOT NULL,
	"template_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"subject" text,
	"html" text NOT NULL,
	"text" text,
	"sender" text,
	"reply_to" text[],
	"variables" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "template_versions_team_id_id_pk" PRIMARY KEY("team_id","id"),
	CONSTRAINT "template_versions_number_key" UNIQUE("team_id","template_id","number")
);
--> statement-breakpoint
CREATE TABLE "templates" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"alias" text,
	"current_version_id" uuid NOT NULL,
	"published_version_id" uuid,
	"published_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "templates_team_id_key" UNIQUE("team_id","id")
);
--> statement-breakpoint
CREATE TABLE "webhook_attempts" (
	"team_id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"number" integer NOT NULL,
	"status_code" integer,
	"response" text,
	"fault" text,
	"duration_ms" integer NOT NULL,
	"sent_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhook_attempts_team_id_delivery_id_id_pk" PRIMARY KEY("team_id","delivery_id","id")
);
--> statement-breakpoint
CREATE TABLE "webhook_deliveries" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"webhook_id" uuid NOT NULL,
	"type" text NOT NULL,
	"email_id" uuid,
	"event_id" uuid,
	"payload" text,
	"status" text DEFAULT 'pending' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"lease_token" uuid,
	"leased_until" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhooks" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"url" text NOT NULL,
	"events" text[] NOT NULL,
	"status" text DEFAULT 'enabled' NOT NULL,
	"disabled_reason" text,
	"secret" text NOT NULL,
	"previous_secret" text,
	"previous_until" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "webhooks_team_id_key" UNIQUE("team_id","id")
);
--> statement-breakpoint
CREATE TABLE "workers" (
	"id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"pid" integer NOT NULL,
	"transport" text NOT NULL,
	"started_at" timestamp with time zone DEFAULT now() NOT NULL,
	"beat_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "api_key_domains" ADD CONSTRAINT "api_key_domains_team_id_api_key_id_api_keys_team_id_id_fk" FOREIGN KEY ("team_id","api_key_id") REFERENCES "public"."api_keys"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_key_domains" ADD CONSTRAINT "api_key_domains_team_id_domain_id_domains_team_id_id_fk" FOREIGN KEY ("team_id","domain_id") REFERENCES "public"."domains"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "domains" ADD CONSTRAINT "domains_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "captured_messages" ADD CONSTRAINT "captured_messages_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "email_bodies" ADD CONSTRAINT "email_bodies_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "email_events" ADD CONSTRAINT "email_events_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "template_versions" ADD CONSTRAINT "template_versions_team_id_template_id_templates_team_id_id_fk" FOREIGN KEY ("team_id","template_id") REFERENCES "public"."templates"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "templates" ADD CONSTRAINT "templates_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_id_webhook_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."webhook_deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_team_id_webhook_id_webhooks_team_id_id_fk" FOREIGN KEY ("team_id","webhook_id") REFERENCES "public"."webhooks"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_key_domains_domain_idx" ON "api_key_domains" USING btree ("team_id","domain_id");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_secret_hash_key" ON "api_keys" USING btree ("secret_hash");--> statement-breakpoint
CREATE INDEX "deliveries_email_idx" ON "deliveries" USING btree ("team_id","email_id","position");--> statement-breakpoint
CREATE INDEX "deliveries_address_idx" ON "deliveries" USING btree ("team_id","address","email_id");--> statement-breakpoint
CREATE INDEX "deliveries_due_idx" ON "deliveries" USING btree ("due_at","id") WHERE "deliveries"."status" in ('queued', 'scheduled');--> statement-breakpoint
CREATE INDEX "deliveries_lease_idx" ON "deliveries" USING btree ("leased_until") WHERE "deliveries"."status" = 'sending';--> statement-breakpoint
CREATE UNIQUE INDEX "domains_name_key" ON "domains" USING btree ("name") WHERE "domains"."name" <> 'posthorn.test';--> statement-breakpoint
CREATE INDEX "emails_team_status_idx" ON "emails" USING btree ("team_id","status","id");--> statement-breakpoint
CREATE INDEX "emails_tags_idx" ON "emails" USING gin ("tags" jsonb_path_ops);--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry_idx" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "memberships_user_idx" ON "memberships" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_user_idx" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree ("email");--> statement-breakpoint
CREATE UNIQUE INDEX "templates_team_alias_key" ON "templates" USING btree ("team_id","alias") WHERE "templates"."alias" is not null;--> statement-breakpoint
CREATE INDEX "webhook_deliveries_list_idx" ON "webhook_deliveries" USING btree ("team_id","webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries" USING btree ("webhook_id","due_at","id") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_lease_idx" ON "webhook_deliveries" USING btree ("leased_until") WHERE "webhook_deliveries"."status" = 'attempting';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_email_idx" ON "webhook_deliveries" USING btree ("team_id","email_id") WHERE "webhook_deliveries"."email_id" is not null;