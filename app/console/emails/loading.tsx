import { ListHeading, SkeletonRows } from "./list-frame";

/** The list's frame while it is fetched: every part where it will be. */
export default function EmailsLoading() {
  return (
    <>
      <ListHeading />
      <div className="mb-4 h-10" />
      <SkeletonRows />
    </>
  );
}
