import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/auth/deps";
import { AppError } from "#server/platform/errors";
import { previewDraft } from "#server/services/templates/preview";
import { getTemplate } from "#server/services/templates/read";
import type { VariableValues } from "#server/services/templates/render";
import { TemplateValues } from "#server/services/templates/template-values";
import { parseJson } from "#server/shared/text/parse-json";
import { documentHeaders } from "../emails/message-body";
import { handleTeamFile } from "../team-file";
import { rejectUnstorableText } from "../unstorable-text";

const valuesCharsMax = 20_000;

/**
 * Renders the saved template with these values as an inert document that may only load images over https. The
 * live preview is inside the page and may not load images. `values` is JSON.
 */
export const answerTemplateBody = (
  deps: ConsoleDeps,
  cookies: Cookies,
  wanted: { team: string; id: string; values: string },
): Promise<Response> =>
  handleTeamFile(deps, { cookies, team: wanted.team, permission: "templates:read" }, async (ctx) => {
    rejectUnstorableText(wanted);
    const { version } = await getTemplate(ctx, wanted.id);
    const { html } = await previewDraft(ctx, version, readValues(wanted.values), false);
    return new Response(html ?? "", {
      headers: { ...documentHeaders(true), "content-type": "text/html; charset=utf-8" },
    });
  });

function readValues(text: string): VariableValues {
  const read = TemplateValues.safeParse(text.length > valuesCharsMax ? null : parseJson(text));
  if (!read.success) throw new AppError("invalid", "The values must be a JSON object of names and values.");
  return read.data;
}
