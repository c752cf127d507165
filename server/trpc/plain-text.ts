import { z } from "zod";

/** Text that the database can keep. */
export const plainText = z
  .string()
  .refine((text) => !/\0|\p{Surrogate}/u.test(text), "must hold neither NUL nor half of a surrogate pair");
