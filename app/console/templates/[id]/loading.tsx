import { Loading, Skeleton } from "../../_ui/list/skeleton";
import { PageHeading } from "../../_ui/page/page-heading";
import { cardStyle } from "../../_ui/styles";

/** The loading state, with the layout of the editor. */
export default function TemplateLoading() {
  return (
    <>
      <PageHeading
        title={<Skeleton className="h-6 w-56" />}
        back={{ href: "/console/templates", label: "Templates" }}
        actions={<div className="h-10" />}
      />
      <Loading className="grid gap-5 xl:grid-cols-2">
        <div className={`${cardStyle} h-[45.1875rem]`} />
        <div className={`${cardStyle} h-[45.1875rem] max-xl:hidden`} />
      </Loading>
    </>
  );
}
