CREATE TABLE "smtp_url_relays" (
	"id" text PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"paused_until" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"last_fault" text,
	"last_fault_at" timestamp with time zone
);
