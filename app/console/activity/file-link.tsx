import { Download } from "lucide-react";
import { buttonStyle } from "../_ui/styles";

/** Downloads all entries that match the filters as CSV, not only the current page. */
export const FileLink = ({ path, query }: { path: string; query: Record<string, string> }) => (
  <a
    href={`${path}?${new URLSearchParams(query)}`}
    download
    className={`${buttonStyle.plain} h-10 md:ml-auto`}
  >
    <Download className="size-4" /> Export CSV
  </a>
);
