-- The place of an event in the feed: the number of the transaction that wrote it. Those below the oldest transaction that is
-- still open are settled, so a reader who stays below misses nothing that is committed later. STABLE and one SELECT each, so
-- that they are written into the statements that use them, and these are planned anew when the offset changes.
CREATE FUNCTION "event_offset"() RETURNS bigint LANGUAGE sql STABLE AS $$ SELECT 0::bigint $$;
--> statement-breakpoint
CREATE FUNCTION "event_position"() RETURNS bigint LANGUAGE sql STABLE AS
  $$ SELECT pg_current_xact_id()::text::bigint + event_offset() $$;
--> statement-breakpoint
-- The oldest open transaction of the cluster may belong to another database. It writes no events here, and the timeouts of
-- this database do not apply to it, so it is skipped. One whose database is unknown, such as a prepared one, counts as ours.
CREATE FUNCTION "event_horizon"() RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (
      SELECT min("x"."xact"::text::bigint) FROM pg_snapshot_xip(pg_current_snapshot()) AS "x"("xact")
      WHERE NOT EXISTS (
        SELECT FROM pg_locks "l"
        JOIN pg_stat_activity "a" ON "a"."pid" = "l"."pid"
        WHERE "l"."locktype" = 'transactionid' AND "l"."transactionid" = "x"."xact"::xid AND "l"."mode" = 'ExclusiveLock'
          AND "l"."granted" AND "a"."datname" <> current_database()
      )
    ),
    pg_snapshot_xmax(pg_current_snapshot())::text::bigint
  ) + event_offset()
$$;
--> statement-breakpoint
-- UUIDv7 (RFC 9562, with the fraction of the millisecond in rand_a): ids of the outbox sort by the time they were made.
CREATE FUNCTION "uuid_v7"() RETURNS uuid LANGUAGE sql VOLATILE AS $$
  SELECT (lpad(to_hex(floor(t.ms)::bigint), 12, '0') || '7' || lpad(to_hex(floor((t.ms - floor(t.ms)) * 4096)::int), 3, '0')
          || substr(gen_random_uuid()::text, 20))::uuid
  FROM (SELECT extract(epoch FROM clock_timestamp()) * 1000 AS ms) AS t
$$;
--> statement-breakpoint
-- What a domain's warm-up allows on a day: null before its start, and from the day on that would allow the target.
CREATE FUNCTION "warm_up_allows"("starts" date, "first" integer, "growth" integer, "target" integer, "on_day" date) RETURNS integer
LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN "on_day" >= "starts" AND ("n" < "target" OR "target" IS NULL) THEN "n" END
  FROM (SELECT round(exp(least(20, ln("first"::float8) + ("on_day" - "starts") * ln(1 + "growth" / 100.0::float8))))::int AS "n") AS "w"
$$;
--> statement-breakpoint
CREATE TABLE "account_events" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"subject" text,
	"address" text,
	"user_agent" text,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "accounts" (
	"provider" text NOT NULL,
	"provider_account_id" text NOT NULL,
	"user_id" uuid NOT NULL,
	"email" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "accounts_provider_provider_account_id_pk" PRIMARY KEY("provider","provider_account_id")
);
--> statement-breakpoint
CREATE TABLE "passkey_challenges" (
	"challenge" text PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"user_id" uuid,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "passkeys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"credential_id" text NOT NULL,
	"public_key" "bytea" NOT NULL,
	"counter" bigint NOT NULL,
	"transports" text[] DEFAULT '{}' NOT NULL,
	"is_synced" boolean NOT NULL,
	"name" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"last_used_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "recovery_codes" (
	"id" uuid PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"code_hash" "bytea" NOT NULL,
	"used_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "second_steps" (
	"token_hash" "bytea" PRIMARY KEY NOT NULL,
	"user_id" uuid NOT NULL,
	"way" text NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "totp_factors" (
	"user_id" uuid PRIMARY KEY NOT NULL,
	"secret" text NOT NULL,
	"confirmed_at" timestamp with time zone,
	"last_step" bigint DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
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
	"rejection_reason" text,
	"rejection_detail" text,
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
CREATE TABLE "audit_log" (
	"team_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"actor" text NOT NULL,
	"actor_id" uuid,
	"actor_name" text,
	"action" text NOT NULL,
	"subject_id" text,
	"subject_name" text,
	"detail" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"request_id" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "audit_log_team_id_id_pk" PRIMARY KEY("team_id","id")
);
--> statement-breakpoint
CREATE TABLE "callback_tokens" (
	"relay_id" uuid NOT NULL,
	"token" "bytea" NOT NULL,
	"body" "bytea" NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "callback_tokens_relay_id_token_pk" PRIMARY KEY("relay_id","token")
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
	"priority" smallint DEFAULT 1 NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"lapses" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"wait_rule" text,
	"stage" text DEFAULT 'idle' NOT NULL,
	"counted_on" date,
	"lease_token" uuid,
	"leased_until" timestamp with time zone,
	"last_code" integer,
	"last_enhanced" text,
	"last_text" text,
	"last_host" text,
	"last_reason" text,
	"relay_id" uuid,
	"provider_id" text,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "destination_limits" (
	"domain" text PRIMARY KEY NOT NULL,
	"connections_max" integer,
	"per_minute" integer,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "destination_limits_connections" CHECK ("destination_limits"."connections_max" > 0),
	CONSTRAINT "destination_limits_per_minute" CHECK ("destination_limits"."per_minute" > 0),
	CONSTRAINT "destination_limits_limit" CHECK (num_nonnulls("destination_limits"."connections_max", "destination_limits"."per_minute") > 0)
);
--> statement-breakpoint
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
	CONSTRAINT "dkim_keys_selector_key" UNIQUE("team_id","domain_id","selector")
);
--> statement-breakpoint
CREATE TABLE "domains" (
	"id" uuid PRIMARY KEY NOT NULL,
	"team_id" uuid NOT NULL,
	"name" text NOT NULL,
	"status" text DEFAULT 'not_started' NOT NULL,
	"declared_verified_at" timestamp with time zone,
	"return_path_label" text DEFAULT 'send' NOT NULL,
	"ownership_token" text,
	"region" text DEFAULT 'us-east-1' NOT NULL,
	"tls" text DEFAULT 'opportunistic' NOT NULL,
	"open_tracking" boolean DEFAULT false NOT NULL,
	"click_tracking" boolean DEFAULT false NOT NULL,
	"tracking_subdomain" text,
	"sending" boolean DEFAULT true NOT NULL,
	"receiving" boolean DEFAULT false NOT NULL,
	"daily_cap" integer,
	"warm_up_from" date,
	"warm_up_first" integer,
	"warm_up_growth" integer,
	"warm_up_target" integer,
	"checks" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"last_checked_at" timestamp with time zone,
	"next_check_at" timestamp with time zone,
	"failing_since" timestamp with time zone,
	"failed_checks" integer DEFAULT 0 NOT NULL,
	"expires_at" timestamp with time zone,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "domains_team_name_key" UNIQUE("team_id","name"),
	CONSTRAINT "domains_team_id_key" UNIQUE("team_id","id"),
	CONSTRAINT "domains_warm_up_whole" CHECK (num_nulls("domains"."warm_up_from", "domains"."warm_up_first", "domains"."warm_up_growth") in (0, 3)),
	CONSTRAINT "domains_verified_stays" CHECK ("domains"."status" <> 'verified' or "domains"."expires_at" is null)
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
	"made_text" text,
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
	"priority" text DEFAULT 'normal' NOT NULL,
	"list_unsubscribe" boolean DEFAULT false NOT NULL,
	"tracks_opens" boolean DEFAULT false NOT NULL,
	"tracks_clicks" boolean DEFAULT false NOT NULL,
	"template_id" uuid,
	"template_version_id" uuid,
	"message_id" text NOT NULL,
	"scheduled_at" timestamp with time zone,
	"status" text NOT NULL,
	"engagement" text,
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
	"position" bigint DEFAULT event_position() NOT NULL,
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
CREATE TABLE "invitations" (
	"team_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"email" text NOT NULL,
	"role" text NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"mailed_token_hash" "bytea",
	"invited_by" uuid,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"linked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"accepted_at" timestamp with time zone,
	"accepted_by" uuid,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "invitations_team_id_id_pk" PRIMARY KEY("team_id","id"),
	CONSTRAINT "invitations_email_lower" CHECK ("invitations"."email" = lower("invitations"."email"))
);
--> statement-breakpoint
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
CREATE TABLE "sending_days" (
	"team_id" uuid NOT NULL,
	"domain" text NOT NULL,
	"day" date NOT NULL,
	"handed_over" integer DEFAULT 0 NOT NULL,
	"held_over" boolean DEFAULT false NOT NULL,
	CONSTRAINT "sending_days_team_id_domain_day_pk" PRIMARY KEY("team_id","domain","day")
);
--> statement-breakpoint
CREATE TABLE "sign_in_counters" (
	"counter" "bytea" PRIMARY KEY NOT NULL,
	"minute" bigint NOT NULL,
	"count" integer NOT NULL,
	"previous" integer NOT NULL
);
--> statement-breakpoint
CREATE TABLE "sign_in_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"user_id" uuid,
	"secret_hash" "bytea" NOT NULL,
	"is_mailed" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"spent_at" timestamp with time zone,
	CONSTRAINT "sign_in_tokens_user" CHECK (("sign_in_tokens"."user_id" is null) = ("sign_in_tokens"."purpose" = 'first_user'))
);
--> statement-breakpoint
CREATE TABLE "suppressions" (
	"team_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"address" text NOT NULL,
	"origin" text NOT NULL,
	"source_email_id" uuid,
	"lists_only" boolean DEFAULT false NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "suppressions_team_id_id_pk" PRIMARY KEY("team_id","id"),
	CONSTRAINT "suppressions_team_address_key" UNIQUE("team_id","address")
);
--> statement-breakpoint
CREATE TABLE "system_mails" (
	"id" uuid PRIMARY KEY NOT NULL,
	"kind" text NOT NULL,
	"recipient" text NOT NULL,
	"details" text,
	"status" text DEFAULT 'queued' NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"due_at" timestamp with time zone DEFAULT now() NOT NULL,
	"lease_token" uuid,
	"expires_at" timestamp with time zone NOT NULL,
	"last_reply" text,
	"message_id" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone
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
	"daily_cap" integer,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "users" (
	"id" uuid PRIMARY KEY NOT NULL,
	"email" text NOT NULL,
	"name" text,
	"password_hash" text,
	"address_verified_at" timestamp with time zone,
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
	"revision" integer DEFAULT 1 NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "templates_team_id_key" UNIQUE("team_id","id")
);
--> statement-breakpoint
CREATE TABLE "usage_days" (
	"team_id" uuid NOT NULL,
	"day" date NOT NULL,
	"api_key_id" uuid,
	"domain" text NOT NULL,
	"accepted" integer NOT NULL,
	"sent" integer NOT NULL,
	"delivered" integer NOT NULL,
	"bounced" integer NOT NULL,
	"complained" integer NOT NULL,
	"failed" integer NOT NULL,
	"suppressed" integer NOT NULL,
	"unknown" integer NOT NULL,
	"first_position" bigint NOT NULL,
	CONSTRAINT "usage_days_key" UNIQUE NULLS NOT DISTINCT("team_id","day","api_key_id","domain")
);
--> statement-breakpoint
CREATE TABLE "usage_progress" (
	"team_id" uuid PRIMARY KEY NOT NULL,
	"position" bigint NOT NULL,
	"event_id" uuid NOT NULL
);
--> statement-breakpoint
CREATE TABLE "webhook_attempts" (
	"team_id" uuid NOT NULL,
	"delivery_id" uuid NOT NULL,
	"id" uuid NOT NULL,
	"number" integer NOT NULL,
	"url" text NOT NULL,
	"headers" jsonb NOT NULL,
	"status_code" integer,
	"response" text,
	"fault" text,
	"duration_ms" integer NOT NULL,
	"sent_at" timestamp with time zone DEFAULT now() NOT NULL,
	"next_attempt_at" timestamp with time zone,
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
	"data" jsonb,
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
	"failures" integer DEFAULT 0 NOT NULL,
	"paused_until" timestamp with time zone,
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
ALTER TABLE "account_events" ADD CONSTRAINT "account_events_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "accounts" ADD CONSTRAINT "accounts_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkey_challenges" ADD CONSTRAINT "passkey_challenges_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "passkeys" ADD CONSTRAINT "passkeys_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "second_steps" ADD CONSTRAINT "second_steps_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "totp_factors" ADD CONSTRAINT "totp_factors_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_key_domains" ADD CONSTRAINT "api_key_domains_team_id_api_key_id_api_keys_team_id_id_fk" FOREIGN KEY ("team_id","api_key_id") REFERENCES "public"."api_keys"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_key_domains" ADD CONSTRAINT "api_key_domains_team_id_domain_id_domains_team_id_id_fk" FOREIGN KEY ("team_id","domain_id") REFERENCES "public"."domains"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "attachments" ADD CONSTRAINT "attachments_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "audit_log" ADD CONSTRAINT "audit_log_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "callback_tokens" ADD CONSTRAINT "callback_tokens_relay_id_relays_id_fk" FOREIGN KEY ("relay_id") REFERENCES "public"."relays"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "dkim_keys" ADD CONSTRAINT "dkim_keys_team_id_domain_id_domains_team_id_id_fk" FOREIGN KEY ("team_id","domain_id") REFERENCES "public"."domains"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "domains" ADD CONSTRAINT "domains_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "captured_messages" ADD CONSTRAINT "captured_messages_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "email_bodies" ADD CONSTRAINT "email_bodies_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "email_events" ADD CONSTRAINT "email_events_team_id_email_id_emails_team_id_id_fk" FOREIGN KEY ("team_id","email_id") REFERENCES "public"."emails"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_invited_by_users_id_fk" FOREIGN KEY ("invited_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "invitations" ADD CONSTRAINT "invitations_accepted_by_users_id_fk" FOREIGN KEY ("accepted_by") REFERENCES "public"."users"("id") ON DELETE set null ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relays" ADD CONSTRAINT "relays_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "relays" ADD CONSTRAINT "relays_team_id_domain_id_domains_team_id_id_fk" FOREIGN KEY ("team_id","domain_id") REFERENCES "public"."domains"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "retention" ADD CONSTRAINT "retention_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sign_in_tokens" ADD CONSTRAINT "sign_in_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "memberships" ADD CONSTRAINT "memberships_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "template_versions" ADD CONSTRAINT "template_versions_team_id_template_id_templates_team_id_id_fk" FOREIGN KEY ("team_id","template_id") REFERENCES "public"."templates"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "templates" ADD CONSTRAINT "templates_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_delivery_id_webhook_deliveries_id_fk" FOREIGN KEY ("delivery_id") REFERENCES "public"."webhook_deliveries"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_team_id_webhook_id_webhooks_team_id_id_fk" FOREIGN KEY ("team_id","webhook_id") REFERENCES "public"."webhooks"("team_id","id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "webhooks" ADD CONSTRAINT "webhooks_team_id_teams_id_fk" FOREIGN KEY ("team_id") REFERENCES "public"."teams"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "account_events_user_idx" ON "account_events" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "account_events_age_idx" ON "account_events" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "accounts_user_provider_key" ON "accounts" USING btree ("user_id","provider");--> statement-breakpoint
CREATE UNIQUE INDEX "passkeys_credential_key" ON "passkeys" USING btree ("credential_id");--> statement-breakpoint
CREATE INDEX "passkeys_user_idx" ON "passkeys" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "recovery_codes_user_idx" ON "recovery_codes" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "api_key_domains_domain_idx" ON "api_key_domains" USING btree ("team_id","domain_id");--> statement-breakpoint
CREATE UNIQUE INDEX "api_keys_secret_hash_key" ON "api_keys" USING btree ("secret_hash");--> statement-breakpoint
CREATE INDEX "api_requests_created_idx" ON "api_requests" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "api_requests_refused_idx" ON "api_requests" USING btree ("team_id","api_key_id","created_at") WHERE "api_requests"."status" in (401, 403, 429);--> statement-breakpoint
CREATE INDEX "audit_log_actor_idx" ON "audit_log" USING btree ("team_id","actor_id","id");--> statement-breakpoint
CREATE INDEX "audit_log_action_idx" ON "audit_log" USING btree ("team_id","action","id");--> statement-breakpoint
CREATE INDEX "callback_tokens_expiry_idx" ON "callback_tokens" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "deliveries_email_idx" ON "deliveries" USING btree ("team_id","email_id","position");--> statement-breakpoint
CREATE INDEX "deliveries_address_idx" ON "deliveries" USING btree ("team_id","address","email_id");--> statement-breakpoint
CREATE INDEX "deliveries_priority_idx" ON "deliveries" USING btree ("team_id","priority","due_at","id") WHERE "deliveries"."status" in ('queued', 'scheduled') and "deliveries"."lapses" < 3;--> statement-breakpoint
CREATE INDEX "deliveries_held_over_idx" ON "deliveries" USING btree ("team_id","wait_rule","due_at","id") WHERE "deliveries"."status" = 'queued' and "deliveries"."wait_rule" in ('daily_cap', 'warm_up', 'team_daily_cap');--> statement-breakpoint
CREATE INDEX "deliveries_parked_idx" ON "deliveries" USING btree ("id") WHERE "deliveries"."status" = 'queued' and "deliveries"."wait_rule" = 'no_transport' and "deliveries"."due_at" = 'infinity';--> statement-breakpoint
CREATE INDEX "deliveries_lease_idx" ON "deliveries" USING btree ("leased_until") WHERE "deliveries"."status" = 'sending';--> statement-breakpoint
CREATE INDEX "deliveries_provider_idx" ON "deliveries" USING btree ("relay_id","provider_id") WHERE "deliveries"."provider_id" is not null;--> statement-breakpoint
CREATE INDEX "deliveries_suspect_idx" ON "deliveries" USING btree ("due_at","id") WHERE "deliveries"."status" = 'queued' and "deliveries"."lapses" >= 3;--> statement-breakpoint
CREATE UNIQUE INDEX "domains_verified_name_key" ON "domains" USING btree ("name") WHERE "domains"."status" = 'verified' and "domains"."name" <> 'backstamp.test';--> statement-breakpoint
CREATE INDEX "domains_expiry_idx" ON "domains" USING btree ("expires_at") WHERE "domains"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "domains_next_check_idx" ON "domains" USING btree ("next_check_at") WHERE "domains"."next_check_at" is not null;--> statement-breakpoint
CREATE INDEX "emails_team_status_idx" ON "emails" USING btree ("team_id","status","id");--> statement-breakpoint
CREATE INDEX "emails_team_template_idx" ON "emails" USING btree ("team_id","template_id","id") WHERE "emails"."template_id" is not null;--> statement-breakpoint
CREATE INDEX "emails_tags_idx" ON "emails" USING gin ("tags" jsonb_path_ops);--> statement-breakpoint
CREATE INDEX "email_events_feed_idx" ON "email_events" USING btree ("team_id","position","id");--> statement-breakpoint
CREATE INDEX "idempotency_keys_expiry_idx" ON "idempotency_keys" USING btree ("expires_at");--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_token_key" ON "invitations" USING btree ("token_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_mailed_token_key" ON "invitations" USING btree ("mailed_token_hash");--> statement-breakpoint
CREATE UNIQUE INDEX "invitations_open_key" ON "invitations" USING btree ("team_id","email") WHERE "invitations"."accepted_at" is null and "invitations"."revoked_at" is null;--> statement-breakpoint
CREATE INDEX "invitations_inviter_idx" ON "invitations" USING btree ("team_id","invited_by");--> statement-breakpoint
CREATE INDEX "retention_due_idx" ON "retention" USING btree ("next_at");--> statement-breakpoint
CREATE INDEX "sending_days_held_over_idx" ON "sending_days" USING btree ("day") WHERE "sending_days"."held_over";--> statement-breakpoint
CREATE INDEX "sign_in_counters_minute_idx" ON "sign_in_counters" USING btree ("minute");--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_tokens_secret_key" ON "sign_in_tokens" USING btree ("secret_hash");--> statement-breakpoint
CREATE INDEX "sign_in_tokens_user_idx" ON "sign_in_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "suppressions_team_prefix_idx" ON "suppressions" USING btree ("team_id","address" text_pattern_ops,"origin");--> statement-breakpoint
CREATE INDEX "suppressions_team_origin_idx" ON "suppressions" USING btree ("team_id","origin","id");--> statement-breakpoint
CREATE INDEX "system_mails_due_idx" ON "system_mails" USING btree ("due_at") WHERE "system_mails"."status" in ('queued', 'sending');--> statement-breakpoint
CREATE INDEX "system_mails_recipient_idx" ON "system_mails" USING btree ("recipient");--> statement-breakpoint
CREATE INDEX "memberships_user_idx" ON "memberships" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_user_idx" ON "sessions" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "sessions_age_idx" ON "sessions" USING btree ("created_at");--> statement-breakpoint
CREATE UNIQUE INDEX "users_email_key" ON "users" USING btree ("email");--> statement-breakpoint
CREATE UNIQUE INDEX "templates_team_alias_key" ON "templates" USING btree ("team_id","alias") WHERE "templates"."alias" is not null;--> statement-breakpoint
CREATE INDEX "webhook_attempts_delivery_idx" ON "webhook_attempts" USING btree ("delivery_id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_list_idx" ON "webhook_deliveries" USING btree ("team_id","webhook_id","id");--> statement-breakpoint
CREATE INDEX "webhook_deliveries_due_idx" ON "webhook_deliveries" USING btree ("webhook_id","due_at","id") WHERE "webhook_deliveries"."status" = 'pending';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_attempting_idx" ON "webhook_deliveries" USING btree ("webhook_id","leased_until") WHERE "webhook_deliveries"."status" = 'attempting';--> statement-breakpoint
CREATE INDEX "webhook_deliveries_email_idx" ON "webhook_deliveries" USING btree ("team_id","email_id") WHERE "webhook_deliveries"."email_id" is not null;
--> statement-breakpoint
-- The outbox: whatever writes events also writes, in the same transaction, a row for each endpoint that asked for them.
-- A trigger, because events are written by several statements and none of them may forget it.
-- The endpoints are locked against being deleted before their rows are written: one that is just deleted gets none. Else its
-- deletion would refuse the mail, or the result, whose event it wanted to hear of.
CREATE FUNCTION "announce_email_events"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "webhook_deliveries" ("id", "team_id", "webhook_id", "type", "email_id", "event_id")
  SELECT uuid_v7(), "s"."team_id", "s"."webhook_id", "s"."type", "s"."email_id", "s"."id"
  FROM (
    SELECT "e"."team_id", "w"."id" AS "webhook_id", "e"."type", "e"."email_id", "e"."id"
    FROM "new_events" "e"
    JOIN "webhooks" "w" ON "w"."team_id" = "e"."team_id" AND "w"."status" = 'enabled' AND "e"."type" = ANY("w"."events")
    ORDER BY "e"."id"
    FOR KEY SHARE OF "w"
  ) AS "s";
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "email_events_announced" AFTER INSERT ON "email_events"
  REFERENCING NEW TABLE AS "new_events" FOR EACH STATEMENT EXECUTE FUNCTION "announce_email_events"();
--> statement-breakpoint
-- A cluster into which a dump is restored counts its transactions from the start, so events of the dump lie ahead of all that
-- it writes. Then new positions begin above them; far above, because readers may hold places that were given after the dump.
CREATE FUNCTION "continue_event_feed"() RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  last bigint;
  is_ahead boolean;
BEGIN
  FOR attempt IN 1..2 LOOP
    SELECT max("p"."position"), coalesce(max("p"."position") >= pg_snapshot_xmax(pg_current_snapshot())::text::bigint + event_offset(), false)
    INTO last, is_ahead
    FROM "teams" "t"
    CROSS JOIN LATERAL (
      SELECT "e"."position" FROM "email_events" "e" WHERE "e"."team_id" = "t"."id" ORDER BY "e"."position" DESC, "e"."id" DESC LIMIT 1
    ) AS "p";
    IF NOT is_ahead THEN
      RETURN false;
    END IF;
    -- Checked again while the lock blocks writes, because another session may have raised the offset in the meantime.
    LOCK TABLE "email_events" IN SHARE ROW EXCLUSIVE MODE;
  END LOOP;
  EXECUTE format('CREATE OR REPLACE FUNCTION event_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$ SELECT %s::bigint $body$', last + 4294967296);
  RETURN true;
END $$;
--> statement-breakpoint
-- Web processes cache keys with their domains, and look them up again after this notification. Triggers, because a key is changed
-- by several statements, some of them cascades. An update of last_used_at alone, which each use of a key may write, sends none.
CREATE FUNCTION "announce_key_changes"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('backstamp_keys', '');
  RETURN NULL;
END $$;
--> statement-breakpoint
CREATE TRIGGER "api_keys_announced" AFTER DELETE OR UPDATE OF "scopes", "all_domains", "limits", "expires_at", "revoked_at" ON "api_keys"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_changes"();
--> statement-breakpoint
CREATE TRIGGER "api_key_domains_announced" AFTER INSERT OR DELETE ON "api_key_domains"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_changes"();
--> statement-breakpoint
CREATE TRIGGER "domains_announced" AFTER INSERT OR DELETE OR UPDATE OF "name", "status", "sending", "open_tracking", "click_tracking" ON "domains"
  FOR EACH STATEMENT EXECUTE FUNCTION "announce_key_changes"();
--> statement-breakpoint
-- A delivery is written four times in a row. With room left on its page the version that only says "handed over" stays
-- there, and no index has to hear of it.
ALTER TABLE "deliveries" SET (fillfactor = 40);
