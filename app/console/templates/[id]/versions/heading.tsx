import { PageHeading } from "../../../_ui/page-heading";

/** The head of the page, and the way back to the editor. */
export function VersionsHeading({ id, name }: { id: string; name: string }) {
  return (
    <PageHeading
      title={name ? `Versions of ${name}` : "Versions"}
      description="Each publishing keeps what was there. A version that was published never changes again."
      back={
        id
          ? { href: `/console/templates/${id}`, label: "Back to the editor" }
          : { href: "/console/templates", label: "Templates" }
      }
    />
  );
}
