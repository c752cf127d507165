import { Download } from "lucide-react";
import { buttonStyle } from "../_ui/styles";

/** Downloads all entries that match the filters as CSV, not only the current page. */
export function FileLink({ path, query }: { path: string; query: Record<string, string> }) {
  const { after: _, before: __, ...filters } = query;
  return (
    <a
      href={`${path}?${new URLSearchParams(filters).toString()}`}
      download
      className={`${buttonStyle.plain} h-10 md:ml-auto`}
    >
      <Download className="size-4" aria-hidden="true" /> Export CSV
    </a>
  );
}
