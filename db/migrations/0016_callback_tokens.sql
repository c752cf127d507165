CREATE TABLE "callback_tokens" (
	"relay_id" uuid NOT NULL,
	"token" "bytea" NOT NULL,
	"body" "bytea" NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "callback_tokens_relay_id_token_pk" PRIMARY KEY("relay_id","token")
);
--> statement-breakpoint
ALTER TABLE "callback_tokens" ADD CONSTRAINT "callback_tokens_relay_id_relays_id_fk" FOREIGN KEY ("relay_id") REFERENCES "public"."relays"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "callback_tokens_expiry_idx" ON "callback_tokens" USING btree ("expires_at");