import { PageHeading } from "../../../_ui/page/page-heading";

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
