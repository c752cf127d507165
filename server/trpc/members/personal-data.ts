import { z } from "zod";
import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { readAddress } from "#server/services/erasures/address";
import { exportAddress } from "#server/services/erasures/export";
import { listErasures, presentErasure, requestErasure } from "#server/services/erasures/request";
import { inTeam, router } from "../init";
import { strictInput, TeamInput } from "../strict";
import { fileResponse, handleTeamFile } from "../team-file";
import { rejectUnstorableText } from "../unstorable-text";

const addressCharsMax = 1_000;

/** What is stored of a recipient, for owners and admins. */
export const personalDataRouter = router({
  /** The erasures with their progress, newest first. */
  erasures: inTeam("people:write")
    .input(TeamInput)
    .query(async ({ ctx: { service } }) => (await listErasures(service)).map(presentErasure)),
  erase: inTeam("people:write")
    .input(strictInput({ address: z.string().trim().min(1).max(addressCharsMax), suppresses: z.boolean() }))
    .mutation(async ({ ctx: { service }, input: { address, suppresses } }) => {
      const erasure = await requestErasure(service, { address, suppresses });
      return presentErasure(erasure);
    }),
});

/** What is stored of an address, as lines of JSON. */
export const answerAddressExport = (
  deps: ConsoleDeps,
  { cookies, team }: { cookies: Cookies; team: string },
  address: string,
): Promise<Response> =>
  handleTeamFile(deps, { cookies, team, permission: "people:write" }, async (ctx) => {
    rejectUnstorableText(address);
    return fileResponse(deps, exportAddress(ctx, readAddress(address)), {
      filename: "personal-data.ndjson",
      contentType: "application/x-ndjson; charset=utf-8",
    });
  });
