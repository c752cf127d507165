CREATE TABLE "sign_in_tokens" (
	"id" uuid PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"user_id" uuid,
	"secret_hash" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"spent_at" timestamp with time zone,
	CONSTRAINT "sign_in_tokens_user" CHECK (("sign_in_tokens"."user_id" is null) = ("sign_in_tokens"."purpose" = 'first_user'))
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
ALTER TABLE "sign_in_tokens" ADD CONSTRAINT "sign_in_tokens_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "sign_in_tokens_secret_key" ON "sign_in_tokens" USING btree ("secret_hash");--> statement-breakpoint
CREATE INDEX "sign_in_tokens_user_idx" ON "sign_in_tokens" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "system_mails_due_idx" ON "system_mails" USING btree ("due_at") WHERE "system_mails"."status" in ('queued', 'sending');--> statement-breakpoint
CREATE INDEX "system_mails_recipient_idx" ON "system_mails" USING btree ("recipient");