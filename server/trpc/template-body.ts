import type { Cookies } from "#server/auth/cookies";
import type { ConsoleDeps } from "#server/console-deps";
import { AppError } from "#server/errors";
import { TemplateValues } from "#server/services/emails/message-input";
import { previewDraft } from "#server/services/templates/draft-preview";
import { getTemplate } from "#server/services/templates/read";
import type { VariableValues } from "#server/services/templates/render";
import { refuseUnkeepable } from "./kept-text";
import { documentHeaders } from "./message-body";
import { inTeamDoor } from "./team-door";

const valuesCharsMax = 20_000;

/**
 * What is saved of a template, filled in with these values, as a document that can do nothing but fetch pictures by https:
 * the live preview, which lies in the page itself, may not even do that. `values` is JSON.
 */
export const answerTemplateBody = (
  deps: ConsoleDeps,
  cookies: Cookies,
  wanted: { team: string; id: string; values: string },
): Promise<Response> =>
  inTeamDoor(deps, { cookies, team: wanted.team, right: "templates:read" }, async (ctx) => {
    refuseUnkeepable(wanted);
    const { version } = await getTemplate(ctx, wanted.id);
    const { html } = previewDraft(version, readValues(wanted.values), false);
    return new Response(html ?? "", {
      headers: { ...documentHeaders(true), "content-type": "text/html; charset=utf-8" },
    });
  });

function readValues(text: string): VariableValues {
  const read = TemplateValues.safeParse(text.length > valuesCharsMax ? null : parseJson(text));
  if (!read.success)
    throw new AppError("invalid", "The values must be an object of names and values, as JSON.");
  return read.data;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
