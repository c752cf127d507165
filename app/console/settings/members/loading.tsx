import { SkeletonTable } from "../../_ui/list/skeleton";
import { MembersHeading } from "./heading";

export default function MembersLoading() {
  return (
    <>
      <MembersHeading actions={<div className="h-10" />} />
      <SkeletonTable rows={4} />
    </>
  );
}
