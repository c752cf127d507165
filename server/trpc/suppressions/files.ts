import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { AppError } from "#server/platform/errors";
import { formatForeignOrigin, isBodyWithin, isFromOwnPage } from "#server/platform/http/own-page";
import { bodyParts } from "#server/platform/limits/body-parts";
import {
  exportSuppressions,
  type Imported,
  importSuppressions,
} from "#server/services/suppressions/transfer";
import {
  errorResponse,
  FILE_HEADERS,
  fileResponse,
  handleTeamFile,
  readFilters,
  type TeamCall,
} from "../team-file";
import { SUPPRESSION_FILTER } from "./suppressions";

/** Enough for 100,000 addresses of maximum length, with one or two other columns. */
const fileMaxBytes = 48 * 1024 * 1024;

/** One line of the response to an import: the progress, or the result. */
export type ImportLine =
  | { written: number; of: number }
  | { done: Imported }
  | { error: { message: string; data: { code: string; requestId: string } } };

/**
 * The team's suppression list as CSV, with the filters of the list page. `query` is the query of that page.
 */
export const answerExport = (
  deps: ConsoleDeps,
  { cookies, team }: Pick<TeamCall, "cookies" | "team">,
  query: Record<string, string>,
): Promise<Response> =>
  handleTeamFile(deps, { cookies, team, permission: "suppressions:read" }, async (ctx) => {
    const { search, origin } = readFilters(SUPPRESSION_FILTER, query);
    return fileResponse(deps, exportSuppressions(ctx, { prefix: search, origin }), {
      filename: "suppressions.csv",
      contentType: "text/csv; charset=utf-8; header=present",
    });
  });

/**
 * Imports a CSV file sent by one of our pages, and responds with lines of JSON (`ImportLine`) as it
 * progresses. Authorization, type and size are checked before the body is read. The import is atomic, and
 * completes even if the client stops reading the response.
 */
export async function answerImport(
  deps: ConsoleDeps,
  request: Request,
  cookies: Cookies,
  team: string,
): Promise<Response> {
  return handleTeamFile(deps, { cookies, team, permission: "suppressions:write" }, async (ctx) => {
    if (!isFromOwnPage(deps.url, request.headers))
      throw new AppError("forbidden", formatForeignOrigin(deps.url, request.headers));
    const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
    if (type !== "text/csv") throw new AppError("wrong_content_type", "Send the file as text/csv.");
    const maxBytes = Math.min(fileMaxBytes, deps.bodyMaxBytes);
    if (!isBodyWithin(maxBytes, request.headers))
      throw new AppError(
        "too_large",
        `The file has more than ${maxBytes / 2 ** 20} MB. Split it into several files.`,
      );
    const { body } = request;
    if (!body) throw new AppError("invalid", "The file is empty.");

    const utf8 = new TextEncoder();
    let isOpen = true;
    const lines = new ReadableStream<Uint8Array>({
      async start(controller) {
        const writeLine = (line: ImportLine) => {
          if (isOpen) controller.enqueue(utf8.encode(`${JSON.stringify(line)}\n`));
        };
        const claim = deps.bodies.open(`team:${ctx.teamId}`);
        try {
          claim.expect(Number(request.headers.get("content-length")));
          const parts = bodyParts(body, claim);
          const done = await importSuppressions(ctx, parts, (written, of) => writeLine({ written, of }));
          writeLine({ done });
        } catch (error) {
          writeLine(await (await errorResponse(deps, error, ctx.requestId)).json());
        } finally {
          claim.release();
        }
        if (isOpen) controller.close();
      },
      cancel() {
        isOpen = false;
      },
    });
    return new Response(lines, {
      headers: { ...FILE_HEADERS, "content-type": "application/x-ndjson; charset=utf-8" },
    });
  });
}
