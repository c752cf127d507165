import { ListLoading } from "../_ui/list/skeleton";

/** The heading of the list, also shown while the list loads. */
export const HEADING = {
  title: "Templates",
  description: "Reusable email content. Send a template by its alias and pass the values of its variables.",
};

export default function TemplatesLoading() {
  return <ListLoading heading={HEADING} filterBar="h-11 md:h-10" />;
}
