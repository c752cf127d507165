import { z } from "zod";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/console-deps";
import { attachmentDisposition } from "#server/disposition";
import { AppError } from "#server/errors";
import { exportEmails } from "#server/services/emails/export";
import { nameOfFile } from "#server/services/emails/file-links";
import { getFile, readFile } from "#server/services/emails/files";
import { readSource } from "#server/services/emails/source";
import { FILTER, filterOf } from "./email-input";
import { refuseUnkeepable } from "./kept-text";
import { fileResponse, inTeamDoor } from "./team-door";

type Wanted = { cookies: Cookies; team: string };

/** What a stranger wrote does nothing even where a browser opens it in place of keeping it. */
const INERT = "sandbox; default-src 'none'";

function asFile(response: Response, filename: string): Response {
  response.headers.set("content-disposition", attachmentDisposition(filename));
  response.headers.set("content-security-policy", INERT);
  return response;
}

/** A mail as a file, the way it would be sent: RFC 5322, to be opened by a mail program. */
export const answerSource = (deps: ConsoleDeps, { cookies, team }: Wanted, id: string): Promise<Response> =>
  inTeamDoor(deps, { cookies, team, right: "emails:read" }, async (ctx) => {
    const { bytes } = await readSource(ctx, id);
    const name = { filename: "mail.eml", contentType: "message/rfc822" };
    return asFile(fileResponse(deps, once(bytes), name), `${id}.eml`);
  });

/** A file of a mail, always to be kept and never to be shown: HTML or SVG in it is nobody's page. */
export const answerFile = (
  deps: ConsoleDeps,
  { cookies, team }: Wanted,
  place: { emailId: string; id: string },
): Promise<Response> =>
  inTeamDoor(deps, { cookies, team, right: "emails:read" }, async (ctx) => {
    const file = await getFile(ctx, place.emailId, place.id);
    const name = { filename: "file", contentType: "application/octet-stream" };
    return asFile(fileResponse(deps, readFile(ctx, file), name), nameOfFile(file));
  });

const Filter = z.strictObject(FILTER);

/** The mails that the list's filters find, as CSV. `query` is the list's own, as the page's address has it. */
export const answerEmailExport = (
  deps: ConsoleDeps,
  { cookies, team }: Wanted,
  query: Record<string, string>,
): Promise<Response> =>
  inTeamDoor(deps, { cookies, team, right: "emails:read" }, async (ctx) => {
    refuseUnkeepable(query);
    const read = Filter.safeParse(query);
    if (!read.success)
      throw new AppError("invalid", `The filters will not do: ${read.error.issues[0]?.path.join(".")}`);
    const now = ctx.clock();
    // Fixed here, so that a long reading does not run after the mail that comes meanwhile.
    const filter = { until: now, ...filterOf(read.data, now) };
    return fileResponse(deps, exportEmails(ctx, filter), {
      filename: `emails-${now.toISOString().slice(0, 10)}.csv`,
      contentType: "text/csv; charset=utf-8; header=present",
    });
  });

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
