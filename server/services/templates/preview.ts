import type { Ctx } from "#server/deps";
import { type FilledVersion, fillVersion } from "./fill-version";
import { getTemplate, type Template } from "./read";
import type { VariableValues } from "./render";
import { getVersion } from "./versions";

export type Preview = FilledVersion & { template: Template };

/**
 * Renders an email with the given version of a template, or with the one that the editor shows. Does not send
 * it.
 */
export async function previewTemplate(
  ctx: Ctx,
  idOrAlias: string,
  input: { variables: VariableValues; version: string | null },
): Promise<Preview> {
  const template =
    input.version === null
      ? await getTemplate(ctx, idOrAlias)
      : await getVersion(ctx, idOrAlias, input.version);
  return { template, ...fillVersion(template.version, input.variables, "variables") };
}
