-- A partitioned index cannot be built concurrently. So it begins without those of the existing partitions, which the next two
-- migrations build and attach. Partitions that are added meanwhile have theirs at once.
CREATE INDEX "deliveries_recipient_idx" ON ONLY "deliveries" USING btree ("team_id",lower("address"),"email_id");
