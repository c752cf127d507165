import { z } from "zod";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/console-deps";
import { AppError } from "#server/errors";
import { isBodyWithin, isFromOwnPage, sayForeign } from "#server/own-page";
import {
  exportSuppressions,
  type Imported,
  importSuppressions,
} from "#server/services/suppressions/transfer";
import { refuseUnkeepable } from "./kept-text";
import { SUPPRESSION_FILTER } from "./suppressions";
import { FILE_HEADERS, fileResponse, inTeamDoor, refusal, type TeamCall } from "./team-door";

/** A hundred thousand of the longest addresses, with a column or two beside them. */
const fileMaxBytes = 48 * 1024 * 1024;

/** One line of the answer to an import: how far it is, or what it came to. */
export type ImportLine =
  | { written: number; of: number }
  | { done: Imported }
  | { error: { message: string; data: { code: string; requestId: string } } };

const Filter = z.strictObject(SUPPRESSION_FILTER);

/** The team's list as CSV, as far as the list's filters find it. `query` is theirs, as the page's address has it. */
export const answerExport = (
  deps: ConsoleDeps,
  { cookies, team }: Pick<TeamCall, "cookies" | "team">,
  query: Record<string, string>,
): Promise<Response> =>
  inTeamDoor(deps, { cookies, team, right: "suppressions:read" }, async (ctx) => {
    refuseUnkeepable(query);
    const read = Filter.safeParse(query);
    if (!read.success)
      throw new AppError("invalid", `The filters will not do: ${read.error.issues[0]?.path.join(".")}`);
    const { search, origin } = read.data;
    return fileResponse(deps, exportSuppressions(ctx, { prefix: search, origin }), {
      filename: "suppressions.csv",
      contentType: "text/csv; charset=utf-8; header=present",
    });
  });

/**
 * Takes a CSV file that a page of ours sends as it is, and answers with lines of JSON (`ImportLine`) while it is written.
 * Who may not, and what is no such file, is refused before anything is read. All of it is committed or nothing, also where
 * nobody reads the answer to its end.
 */
export async function answerImport(
  deps: ConsoleDeps,
  request: Request,
  cookies: Cookies,
  team: string,
): Promise<Response> {
  return inTeamDoor(deps, { cookies, team, right: "suppressions:write" }, async (ctx) => {
    if (!isFromOwnPage(deps.url, request.headers))
      throw new AppError("forbidden", sayForeign(deps.url, request.headers));
    const type = request.headers.get("content-type")?.split(";", 1)[0]?.trim().toLowerCase();
    if (type !== "text/csv") throw new AppError("wrong_content_type", "Send the file as text/csv.");
    if (!isBodyWithin(fileMaxBytes, request.headers))
      throw new AppError(
        "too_large",
        `The file has more than ${fileMaxBytes / 2 ** 20} MB. Cut it into several.`,
      );
    const { body } = request;
    if (!body) throw new AppError("invalid", "The file is empty.");

    const utf8 = new TextEncoder();
    let isRead = true;
    const lines = new ReadableStream<Uint8Array>({
      async start(controller) {
        const say = (line: ImportLine) => {
          if (isRead) controller.enqueue(utf8.encode(`${JSON.stringify(line)}\n`));
        };
        try {
          const done = await importSuppressions(ctx, body, (written, of) => say({ written, of }));
          say({ done });
        } catch (error) {
          say(await refusal(deps, error, ctx.requestId).json());
        }
        if (isRead) controller.close();
      },
      cancel() {
        isRead = false;
      },
    });
    return new Response(lines, {
      headers: { ...FILE_HEADERS, "content-type": "application/x-ndjson; charset=utf-8" },
    });
  });
}
