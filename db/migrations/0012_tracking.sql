ALTER TABLE "emails" ADD COLUMN "tracks_opens" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "emails" ADD COLUMN "tracks_clicks" boolean DEFAULT false NOT NULL;