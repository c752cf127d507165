import { SkeletonTable } from "../../_ui/skeleton";
import { MembersHeading } from "./heading";

export default function MembersLoading() {
  return (
    <>
      <MembersHeading actions={<div className="h-10" />} />
      <SkeletonTable rows={4} />
    </>
  );
}
