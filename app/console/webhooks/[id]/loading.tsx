import { SkeletonCard, SkeletonTable } from "../../_ui/list/skeleton";
import { PageHeading } from "../../_ui/page/page-heading";

/** Skeleton of the page while the endpoint loads. */
export default function WebhookLoading() {
  return (
    <>
      <PageHeading title="Webhook" back={{ href: "/console/webhooks", label: "Webhooks" }} />
      <div className="flex flex-col gap-6">
        <SkeletonCard lines={5} />
        <SkeletonTable rows={5} />
      </div>
    </>
  );
}
