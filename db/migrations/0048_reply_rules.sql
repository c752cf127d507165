CREATE TABLE "reply_rules" (
	"name" text PRIMARY KEY NOT NULL,
	"pattern" text NOT NULL,
	"destination" text,
	"class" text NOT NULL,
	"action" text NOT NULL,
	"expires_at" timestamp with time zone,
	"updated_at" timestamp with time zone DEFAULT now() NOT NULL
);
