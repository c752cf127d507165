import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { attachmentDisposition } from "#server/platform/http/disposition";
import { exportEmails } from "#server/services/emails/read/export";
import { fileNameOf, getFile, readFile } from "#server/services/emails/read/files";
import { getSource } from "#server/services/emails/read/source";
import { fileResponse, handleTeamFile, readFilters } from "../team-file";
import { FILTER, filterOf } from "./input";

type Wanted = { cookies: Cookies; team: string };

/** Untrusted content stays inert even if a browser opens it instead of saving it. */
const INERT = "sandbox; default-src 'none'";

function asFile(response: Response, filename: string): Response {
  response.headers.set("content-disposition", attachmentDisposition(filename));
  response.headers.set("content-security-policy", INERT);
  return response;
}

/** An email as an RFC 5322 file, as it would be sent, for mail clients. */
export const answerSource = (deps: ConsoleDeps, { cookies, team }: Wanted, id: string): Promise<Response> =>
  handleTeamFile(deps, { cookies, team, permission: "emails:read" }, async (ctx) => {
    const { bytes } = await getSource(ctx, id);
    const name = { filename: "mail.eml", contentType: "message/rfc822" };
    return asFile(fileResponse(deps, once(bytes), name), `${id}.eml`);
  });

/** A file of an email, always as a download: HTML or SVG in it must never render as a page. */
export const answerFile = (
  deps: ConsoleDeps,
  { cookies, team }: Wanted,
  place: { emailId: string; id: string },
): Promise<Response> =>
  handleTeamFile(deps, { cookies, team, permission: "emails:read" }, async (ctx) => {
    const file = await getFile(ctx, place.emailId, place.id);
    const name = { filename: "file", contentType: "application/octet-stream" };
    return asFile(fileResponse(deps, readFile(ctx, file), name), fileNameOf(file));
  });

/** The emails that match the list filters, as CSV. `query` is the query of the list page. */
export const answerEmailExport = (
  deps: ConsoleDeps,
  { cookies, team }: Wanted,
  query: Record<string, string>,
): Promise<Response> =>
  handleTeamFile(deps, { cookies, team, permission: "emails:read" }, async (ctx) => {
    const filters = readFilters(FILTER, query);
    const now = ctx.clock();
    // A fixed end, so a long export does not include emails accepted meanwhile.
    const filter = { until: now, ...filterOf(filters, now) };
    return fileResponse(deps, exportEmails(ctx, filter), {
      filename: `emails-${now.toISOString().slice(0, 10)}.csv`,
      contentType: "text/csv; charset=utf-8; header=present",
    });
  });

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
