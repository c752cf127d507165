import { z } from "zod";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { AppError } from "#server/platform/errors";
import { formatForeignOrigin, isBodyWithin, isFromOwnPage } from "#server/platform/http/own-page";
import { parseErasedAddress } from "#server/services/erasures/address";
import { exportAddress } from "#server/services/erasures/export";
import { listErasures, presentErasure, requestErasure } from "#server/services/erasures/request";
import { inTeam, router } from "../init";
import { fileResponse, handleTeamFile } from "../team-file";
import { rejectUnstorableText } from "../unstorable-text";

const addressCharsMax = 1_000;
const formMaxBytes = 16 * 1024;

/** What is stored for a recipient, for owners and admins. */
export const personalDataRouter = router({
  /** The erasures with their progress, newest first. */
  erasures: inTeam("people:write").query(async ({ ctx: { service } }) =>
    (await listErasures(service)).map(presentErasure),
  ),
  erase: inTeam("people:write", {
    address: z.string().trim().min(1).max(addressCharsMax),
    suppresses: z.boolean(),
  }).mutation(async ({ ctx: { service }, input: { address, suppresses } }) => {
    const erasure = await requestErasure(service, { address, suppresses });
    return presentErasure(erasure);
  }),
});

/**
 * What is stored for an address, as lines of JSON. One of our pages sends the address as a form, because
 * proxies and browsers record the URL of a request.
 */
export const answerAddressExport = (
  deps: ConsoleDeps,
  request: Request,
  cookies: Cookies,
  team: string,
): Promise<Response> =>
  handleTeamFile(deps, { cookies, team, permission: "people:write" }, async (ctx) => {
    const { headers } = request;
    if (!isFromOwnPage(deps.url, headers))
      throw new AppError("forbidden", formatForeignOrigin(deps.url, headers));
    if (!isBodyWithin(formMaxBytes, headers)) throw new AppError("too_large", "The address is too long.");
    const address = new URLSearchParams(await request.text()).get("address") ?? "";
    rejectUnstorableText(address);
    return fileResponse(deps, exportAddress(ctx, parseErasedAddress(address)), {
      filename: "personal-data.ndjson",
      contentType: "application/x-ndjson; charset=utf-8",
    });
  });
