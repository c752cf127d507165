import { defuseCell } from "#server/shared/text/csv-cell";
import type { ImportLine } from "#server/trpc/suppressions/files";
import type { Fault } from "../_ui/fault";

/** The progress of an import: bytes uploaded, then addresses written. */
export type Progress = { step: "sending" | "writing"; done: number; of: number };
type Imported = Extract<ImportLine, { done: unknown }>["done"];
export type ImportResult = { ok: true; imported: Imported } | { ok: false; fault: Fault };

const LOST: Fault = {
  message:
    "The connection was lost, and the addresses may not have been added. Check the list before you try again.",
  code: null,
  requestId: null,
};

/**
 * Uploads a file and reports the progress. Uses `XMLHttpRequest`, because `fetch` reports no upload progress.
 * `signal` aborts the upload. Until the last line of the response arrives, either no address or all addresses
 * are written.
 */
export function uploadFile(
  url: string,
  file: File,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<ImportResult> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    let readChars = 0;
    const readLines = (): ImportResult | null => {
      const lineEnd = request.responseText.lastIndexOf("\n") + 1;
      const lines = request.responseText.slice(readChars, lineEnd).split("\n").filter(Boolean);
      readChars = lineEnd;
      for (const line of lines) {
        const message = JSON.parse(line) as ImportLine;
        if ("written" in message) onProgress({ step: "writing", done: message.written, of: message.of });
        else if ("done" in message) return { ok: true, imported: message.done };
        else return { ok: false, fault: faultOf(message) };
      }
      return null;
    };
    request.upload.onprogress = ({ loaded, total }) =>
      onProgress({ step: "sending", done: loaded, of: total });
    request.onprogress = () => {
      if (request.status !== 200) return;
      const result = readLines();
      if (result) resolve(result);
    };
    request.onload = () =>
      resolve(
        request.status === 200
          ? (readLines() ?? { ok: false, fault: LOST })
          : parseRejection(request.responseText),
      );
    request.onerror = () => resolve({ ok: false, fault: LOST });
    signal.addEventListener("abort", () => request.abort());
    request.onabort = () => resolve({ ok: false, fault: { ...LOST, message: "Upload canceled." } });
    request.open("POST", url);
    request.setRequestHeader("content-type", "text/csv");
    request.send(file);
  });
}

type Rejection = Extract<ImportLine, { error: unknown }>;

const faultOf = ({ error }: Rejection): Fault => ({ message: error.message, ...error.data });

function parseRejection(text: string): ImportResult {
  try {
    return { ok: false, fault: faultOf(JSON.parse(text) as Rejection) };
  } catch {
    return { ok: false, fault: LOST };
  }
}

const cell = (text: string): string => `"${defuseCell(text).replaceAll('"', '""')}"`;

/** The rejected lines of an import as a CSV file with line numbers and reasons. */
export function rejectedLinesFile(faults: readonly { line: number; message: string }[]): Blob {
  const lines = [["line", "reason"], ...faults.map(({ line, message }) => [String(line), message])];
  return new Blob([lines.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("")], {
    type: "text/csv;charset=utf-8",
  });
}
