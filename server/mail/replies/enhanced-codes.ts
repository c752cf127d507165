import type { Reply } from "../outcome";
import { BASIC_CODES, ENHANCED_CODES } from "./codes";

/** Meaning of the first digit of an enhanced code (RFC 3463 section 2). */
const SEVERITIES: Readonly<Record<string, string>> = {
  "2": "Success",
  "4": "Temporary failure: a later attempt may succeed",
  "5": "Permanent failure: retrying will not help",
};

/** Codes that mean less with a 4: servers use 4.7.1 for greylisting, where nothing is forbidden. */
const TEMPORARY: Readonly<Record<string, string>> = {
  "7.1": "The receiving server does not accept this message now",
};

/**
 * Explains a code in two sentences: the cause, and whether the failure is temporary or permanent. An unknown
 * detail is explained by its subject. Null for an unknown code.
 */
export function explainCode({ code, enhanced }: Pick<Reply, "code" | "enhanced">): string | null {
  const [digit = "", subject = "", detail = ""] = enhanced?.split(".") ?? [];
  const name = `${subject}.${detail}`;
  const temporary = digit === "4" ? TEMPORARY[name] : undefined;
  const meaning = temporary ?? ENHANCED_CODES[name]?.[0] ?? ENHANCED_CODES[`${subject}.0`]?.[0];
  const severity = SEVERITIES[digit];
  if (meaning && severity) return `${meaning}. ${severity}.`;
  const basic = BASIC_CODES[code ?? 0]?.[0];
  if (!basic) return null;
  return `${basic}. ${SEVERITIES[String(code).slice(0, 1)] ?? ""}.`;
}
