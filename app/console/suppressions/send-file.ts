import type { ImportLine } from "#server/trpc/suppression-files";
import type { Fault } from "../_ui/fault";

/** How far an import is: bytes on their way, then addresses written. */
export type Progress = { step: "sending" | "writing"; done: number; of: number };
export type Imported = Extract<ImportLine, { done: unknown }>["done"];
export type Ending = { ok: true; imported: Imported } | { ok: false; fault: Fault };

const LOST: Fault = {
  message: "The connection broke off. Nothing may have been added: look at the list before you try again.",
  code: null,
  requestId: null,
};

/**
 * Sends a file and hears how it is read. `fetch` tells nothing of what was sent so far, so the older way is taken. `signal`
 * gives it up: before the last line came, nothing or all of it is written.
 */
export function sendFile(
  url: string,
  file: File,
  onProgress: (progress: Progress) => void,
  signal: AbortSignal,
): Promise<Ending> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    let read = 0;
    const take = (): Ending | null => {
      const end = request.responseText.lastIndexOf("\n") + 1;
      const lines = request.responseText.slice(read, end).split("\n").filter(Boolean);
      read = end;
      for (const line of lines) {
        const said = JSON.parse(line) as ImportLine;
        if ("written" in said) onProgress({ step: "writing", done: said.written, of: said.of });
        else if ("done" in said) return { ok: true, imported: said.done };
        else return { ok: false, fault: faultOf(said) };
      }
      return null;
    };
    request.upload.onprogress = ({ loaded, total }) =>
      onProgress({ step: "sending", done: loaded, of: total });
    request.onprogress = () => {
      if (request.status !== 200) return;
      const ending = take();
      if (ending) resolve(ending);
    };
    request.onload = () =>
      resolve(
        request.status === 200 ? (take() ?? { ok: false, fault: LOST }) : refused(request.responseText),
      );
    request.onerror = () => resolve({ ok: false, fault: LOST });
    signal.addEventListener("abort", () => request.abort());
    request.onabort = () => resolve({ ok: false, fault: { ...LOST, message: "Given up." } });
    request.open("POST", url);
    request.setRequestHeader("content-type", "text/csv");
    request.send(file);
  });
}

type Refusal = Extract<ImportLine, { error: unknown }>;

const faultOf = ({ error }: Refusal): Fault => ({ message: error.message, ...error.data });

function refused(text: string): Ending {
  try {
    return { ok: false, fault: faultOf(JSON.parse(text) as Refusal) };
  } catch {
    return { ok: false, fault: LOST };
  }
}
