import { Download, Paperclip } from "lucide-react";
import type { FileView } from "#server/trpc/emails/views";
import { buttonStyle } from "../../_ui/styles";

/** The attachments of the email, for download only. The console never displays their content. */
export function MessageFiles(props: { teamId: string; emailId: string; files: FileView[] }) {
  const { teamId, emailId, files } = props;
  return (
    <ul className="divide-y divide-line">
      {files.map(({ id, filename, content_type, content_id, size }) => (
        <li key={id} className="flex items-center gap-3 px-4 py-3">
          <Paperclip className="size-4 shrink-0 text-soft" aria-hidden="true" />
          <div className="min-w-0 grow">
            <p className="wrap-anywhere font-medium">{filename ?? "Unnamed file"}</p>
            <p className="wrap-anywhere text-soft text-xs">
              {formatBytes(size)} · {content_type}
              {content_id ? ` · inline as cid:${content_id}` : ""}
            </p>
          </div>
          <a
            href={`/console/emails/${encodeURIComponent(emailId)}/files/${encodeURIComponent(id)}?team=${encodeURIComponent(teamId)}`}
            className={`${buttonStyle.quiet} h-8`}
          >
            <Download className="size-4" aria-hidden="true" />
            <span className="max-md:sr-only">Download</span>
            <span className="sr-only">{filename ?? "unnamed file"}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

const UNITS = ["bytes", "KB", "MB"] as const;

function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, bytes < 1_000 ? 0 : Math.floor(Math.log10(bytes) / 3));
  const value = bytes / 1_000 ** power;
  return `${power === 0 ? value : value.toFixed(1)} ${UNITS[power]}`;
}
