import { SkeletonTable } from "../_ui/skeleton";
import { WebhooksHeading } from "./heading";

/** The list's frame while it is fetched: every part where it will be. */
export default function WebhooksLoading() {
  return (
    <>
      <WebhooksHeading actions={<div className="h-10" />} />
      <SkeletonTable rows={4} />
    </>
  );
}
