import { PageHeading } from "../../_ui/page-heading";
import { Loading, Skeleton } from "../../_ui/skeleton";
import { cardStyle } from "../../_ui/styles";

/** The editor's frame while the template is fetched. */
export default function TemplateLoading() {
  return (
    <>
      <PageHeading
        title={<Skeleton className="h-6 w-56" />}
        back={{ href: "/console/templates", label: "Templates" }}
        actions={<div className="h-10" />}
      />
      <Loading className="grid gap-5 xl:grid-cols-2">
        <div className={`${cardStyle} h-[44rem]`} />
        <div className={`${cardStyle} h-[38rem] max-xl:hidden`} />
      </Loading>
    </>
  );
}
