import { SkeletonCard, SkeletonTable } from "../../../_ui/list/skeleton";
import { PageHeading } from "../../../_ui/page/page-heading";

/** The loading state, with the layout of the page. */
export default function VersionsLoading() {
  return (
    <>
      <VersionsHeading id="" name="" />
      <div className="grid gap-5 xl:grid-cols-[22rem_minmax(0,1fr)]">
        <SkeletonTable rows={4} />
        <SkeletonCard lines={8} />
      </div>
    </>
  );
}

/** The heading of the page, with a link back to the editor. */
export function VersionsHeading({ id, name }: { id: string; name: string }) {
  return (
    <PageHeading
      title={name ? `Versions of ${name}` : "Versions"}
      description="All versions of the template. Published versions never change."
      back={
        id
          ? { href: `/console/templates/${id}`, label: "Back to editor" }
          : { href: "/console/templates", label: "Templates" }
      }
    />
  );
}
