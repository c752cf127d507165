import { AppError } from "#server/platform/errors";
import type { ImportSource } from "./providers";
import type { DocumentSource, Provider } from "./providers/provider";
import { openFile } from "./read-file";
import type { Problem } from "./report";

/**
 * Everything that the documents of a source describe. A document of another kind is a problem, with its name,
 * and in a file the line on which it begins. AppError if the file is not JSON, or the provider's API is not
 * called.
 */
export async function readDocuments<T>(
  { label }: Provider,
  documents: DocumentSource<T>,
  source: ImportSource,
  options: { domain: string | null; what: string; addProblem: (problem: Problem) => void },
): Promise<T[]> {
  const found: T[] = [];
  const { what, addProblem } = options;
  const reason = `This document has no ${what} of ${label}.`;
  if ("call" in source) {
    if (documents.fetch === null)
      throw new AppError("invalid", `Import the ${what} of ${label} from a file.`);
    for await (const document of documents.fetch(source.call, options.domain)) {
      const described = documents.read(document);
      if (described !== null) found.push(...described);
      else addProblem({ name: nameOf(document), reason });
    }
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
    else if ("fault" in document) addProblem({ line, name: null, reason: document.fault });
    else addProblem({ line, name: nameOf(document.value), reason });
  }
  return found;
}

const NAMES = ["name", "Name", "domain", "alias", "Alias", "id", "ID"];
const nameCharsMax = 200;

/** What a document of an unknown form, or the object in it, calls itself; null if neither has a name. */
function nameOf(document: unknown, levels = 2): string | null {
  if (typeof document !== "object" || document === null) return null;
  const values = new Map<string, unknown>(Object.entries(document));
  const isName = (value: unknown) => typeof value === "string" || typeof value === "number";
  const name = NAMES.map((key) => values.get(key)).find(isName);
  if (name !== undefined) return String(name).slice(0, nameCharsMax);
  const inner = [...values.values()].find((value) => typeof value === "object" && value !== null);
  return levels > 1 ? nameOf(inner, levels - 1) : null;
}
