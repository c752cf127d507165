import { PageHeading } from "../../_ui/page-heading";
import { SkeletonCard, SkeletonTable } from "../../_ui/skeleton";

/** The page's frame while the endpoint is fetched. */
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
