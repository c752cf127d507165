import { SkeletonTable } from "../_ui/list/skeleton";
import { WebhooksHeading } from "./heading";

/** Skeleton of the page while the list loads, with the same layout. */
export default function WebhooksLoading() {
  return (
    <>
      <WebhooksHeading actions={<div className="h-10" />} />
      <SkeletonTable rows={4} />
    </>
  );
}
