import { AppError } from "#server/platform/errors";
import type { ImportSource } from "./providers";
import type { DocumentSource, Provider } from "./providers/provider";
import { openFile } from "./read-file";
import type { Problem } from "./report";

/**
 * Everything that the documents of a source describe. A document of another kind is a problem, with the line on which
 * it begins. AppError if the file is not JSON, or the provider's API is not called.
 */
export async function readDocuments<T>(
  { label }: Provider,
  documents: DocumentSource<T>,
  source: ImportSource,
  options: { domain: string | null; what: string; addProblem: (problem: Problem) => void },
): Promise<T[]> {
  const found: T[] = [];
  const { what, addProblem } = options;
  if ("call" in source) {
    if (documents.fetch === null)
      throw new AppError("invalid", `Import the ${what} of ${label} from a file.`);
    for await (const document of documents.fetch(source.call, options.domain))
      found.push(...(documents.read(document) ?? []));
    return found;
  }
  const file = await openFile(source.bytes);
  if (file.kind === "csv")
    throw new AppError(
      "invalid",
      `The file is not JSON. Save the response of ${label}'s API that has the ${what}.`,
    );
  for await (const document of file.documents) {
    const { line } = document;
    const described = "fault" in document ? null : documents.read(document.value);
    if (described !== null) found.push(...described);
    else {
      const reason = "fault" in document ? document.fault : `This document has no ${what} of ${label}.`;
      addProblem({ line, name: null, reason });
    }
  }
  return found;
}
